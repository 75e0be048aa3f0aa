/** What a reflex is written against. Reflex carries the code; these are its types. */

/** A reflex: the default export of a module. */
export interface Reflex {
  /** The same name as in `reflex.json`. */
  name: string;
  /** Called before a tool runs. The first reflex of the chain that does not pass decides. */
  onToolCall?(ctx: ToolCallContext): Decision | Promise<Decision>;
  /** Called after a tool ran. It cannot change what happened. */
  onToolResult?(ctx: ToolResultContext): void | Promise<void>;
}

/** The coding agent that calls; there are more than these. */
export type Agent =
  | "claude" | "cursor" | "gemini" | "copilot" | "windsurf" | "opencode" | "codex" | (string & {});

/** A tool call before it runs. What the manifest's `reads` does not name is not there. */
export interface ToolCallContext {
  event: "onToolCall";
  agent: Agent;
  /** The same word for every agent: `Bash`, `Edit`, `Write`, `Read`, …; the agent's own for what has none. */
  tool: string;
  /** The command, where the tool is a shell. */
  command?: string;
  /** Files that the call would touch: absolute, links followed; for a command those of its effects. */
  paths: string[];
  cwd: string;
  /** What the agent sent, untouched. */
  raw: unknown;
  /** `with` of this reflex's entry in `.reflex/config.json`. */
  options?: Record<string, any>;
  /** What Reflex knows of the call. Absent where the manifest's `reads` does not name `reflex`. */
  reflex: ReflexView;
}

/** A tool call after it ran. */
export interface ToolResultContext extends Omit<ToolCallContext, "event"> {
  event: "onToolResult";
}

/** What a reflex says about a call. */
export type Decision =
  | { action: "pass" }
  | { action: "deny"; reason: string }
  | { action: "ask"; reason: string }
  | { action: "modify"; args: Record<string, unknown>; reason?: string };

/** No opinion: the next reflex is asked. */
export declare function pass(): Decision;
/** The call does not run; the agent reads the reason. */
export declare function deny(reason: string): Decision;
/** A person decides. */
export declare function ask(reason: string): Decision;
/** Another call in its place: `command`, `file_path`, `content`, …, merged over the call and judged again. */
export declare function modify(args: Record<string, unknown>, reason?: string): Decision;
/** The reflex itself; for completion. */
export declare function defineReflex(reflex: Reflex): Reflex;

/** One command of a line. */
export interface ParsedCommand {
  /** Its words without quotes, redirections as words of their own. */
  argv: string[];
  /** As it is written. */
  raw: string;
}

/** The commands of a line, split at `&&`, `||`, `;`, `|`, `&` and line ends. */
export declare function parseCommand(command: string): ParsedCommand[];
/** Whether the whole line or one of its commands fits a pattern, in which `*` is any text. */
export declare function commandMatches(command: string, globs: string | string[]): boolean;
/** A pattern of paths as a regular expression over paths relative to the folder. */
export declare function pathGlobToRegExp(glob: string): RegExp;
/** Whether a file below `cwd` fits one of the patterns; what lies outside never does. */
export declare function pathMatchesGlob(file: string, globs: string | string[], cwd: string): boolean;
/** Asks reflexes in their order; the first that does not pass decides. */
export declare function runToolCall(reflexes: Reflex[], ctx: ToolCallContext): Promise<Decision>;
/** Tells reflexes of a result. */
export declare function runToolResult(reflexes: Reflex[], ctx: ToolResultContext): Promise<void>;

/** What Reflex knows of a call: read once, for all reflexes. */
export interface ReflexView {
  /** The root of the project. */
  workspace: string;
  home: string;
  session: string;
  /** The role of a subagent. */
  role?: string;
  /** The task that a person declared. */
  task?: string;
  /** The agent's permission mode, in its own word. */
  mode?: string;
  /** When the call was made, by the clock of this machine, in UTC: `2026-11-21T22:30:00.000Z`. */
  time: string;
  /** What the call does; several for a patch or a batch. */
  actions: ActionView[];
  /** Every command that would run, those behind wrappers, in substitutions, scripts and decoded texts included. */
  commands: CommandView[];
  /** What would happen to which targets. */
  effects: EffectView[];
  /** The repository in which the call happens; nothing where there is none or it cannot be read. */
  git?: GitView;
  /** The last calls of this session, oldest first, at most 50. */
  history: PastCall[];
  /** The worst that Reflex itself found so far. */
  risk: "none" | "low" | "medium" | "high" | "critical";
  /** How the call ended; only after it. */
  outcome?: { output: string; exitCode?: number; failed: boolean };
}

/** One thing that a tool call does. */
export interface ActionView {
  kind:
    | "shell" | "read" | "write" | "edit" | "delete" | "search" | "fetch" | "mcp" | "prompt" | "spawn" | "skill"
    | "input" | "other";
  /** The file, absolute; for `read`, `write`, `edit`, `delete`, `search`. */
  path?: string;
  /** The new content of a `write`, the text that comes in with an `edit`, the command of a `shell`, else the text. */
  text?: string;
}

/** A command that would run. */
export interface CommandView {
  /** The program's file name; empty if it is not known. */
  name: string;
  /** All its words, the program's first, quotes and known variables resolved. A part that is not known is `…`. */
  argv: string[];
  /** Whether every word is known. */
  known: boolean;
  /** The subcommands: `["push"]`, `["remote", "add"]`. */
  subcommands: string[];
  /** The folder it runs in, if that is known. */
  cwd?: string;
  /** Variables set for it alone: `HUSKY=0 git commit`. */
  env: Record<string, string>;
  /** Where: `here`, another host, a container. */
  site: string;
}

/** Something that would happen. The kinds are listed in the manual: `delete`, `overwrite`, `push-force`, … */
export interface EffectView {
  kind: string;
  targets: TargetView[];
  /** How: `recursive`, `force`, … */
  flags: string[];
  /** An operand that says how: the mode of `chmod`, the value of a variable that is set. */
  argument?: string;
  /** Its place in `commands`, where a command does it. */
  command?: number;
  site: string;
}

/** What an effect touches. */
export interface TargetView {
  /** As it is written, known variables resolved. */
  text: string;
  /** The absolute path, where it is one and is known. */
  path?: string;
  /** Whether that lies in the project. */
  inside: boolean;
  /** Whether something is there already; nothing if that is not known. */
  exists?: boolean;
}

/** A git repository. */
export interface GitView {
  root: string;
  /** The branch that is checked out; nothing if none is. */
  branch?: string;
  /** Branches that nobody may overwrite. */
  protected: string[];
  /** Tracked files with changes, relative to the root; at most 100. */
  dirty: string[];
  /** Files that git does not track and does not ignore; at most 100. */
  untracked: string[];
}

/** An earlier call of the session. */
export interface PastCall {
  /** Its command or path, without secrets, shortened. */
  text: string;
  /** What it was for. */
  deed: "look" | "change" | "run" | "opaque";
  /** Files that it changed. */
  changes: string[];
  /** It was refused. */
  refused: boolean;
  /** Whether it failed; nothing if that is not known. */
  failed?: boolean;
}

/** The events on which a rule is evaluated. */
export type ReflexEvent =
  | 'bash_command'
  | 'file_write'
  | 'file_edit'
  | 'file_delete'
  | 'prompt_submit'
  | 'session_start'
  | 'session_stop'
  | 'tool_call'
  | 'post_tool'
  | 'any';
/** `core` rules cannot be disabled. */
export type RuleTier = 'core' | 'recommended' | 'custom';
export type RuleCategory = 'safety' | 'quality' | 'style' | 'cognitive';
export type RuleAction = 'block' | 'ask' | 'warn' | 'log' | 'modify';
export type RuleSeverity = 'critical' | 'high' | 'medium' | 'low' | 'info';
export type ConditionOp =
  | 'matches'
  | 'not_matches'
  | 'contains'
  | 'not_contains'
  | 'equals'
  | 'not_equals'
  | 'starts_with'
  | 'not_starts_with'
  | 'ends_with'
  | 'not_ends_with'
  | 'regex'
  | 'not_regex'
  | 'in'
  | 'not_in'
  | 'under_path'
  | 'not_under_path'
  | 'greater_than'
  | 'less_than'
  | 'at_least'
  | 'at_most';

/** A comparison of a field with a pattern. `{{name}}` in the pattern is a variable of the engine. */
export interface FieldCondition {
  field: string;
  op: ConditionOp;
  pattern: string | string[];
  case_insensitive?: boolean;
}

/** A comparison, or one of the conditions that `@fozikio/reflex` does not have. */
export type ReflexCondition =
  | FieldCondition
  | { matches_command: string | string[] }
  | { effect: string | string[]; outside_workspace?: boolean }
  | { all: ReflexCondition[] }
  | { any: ReflexCondition[] }
  | { not: ReflexCondition };

export interface RuleOverride {
  allow_disable: boolean;
  allow_downgrade: boolean;
}

/** A rule as {@link loadRuleFile} returns it. {@link RuleEngine.addRule} fills in the defaults of missing keys. */
export interface ReflexRule {
  /** Unique name. */
  name: string;
  version: number | string;
  tier: RuleTier;
  category: RuleCategory | (string & {});
  description: string;
  events: ReflexEvent[];
  /** All must hold. A rule without conditions never fires. */
  conditions: ReflexCondition[];
  action: RuleAction;
  severity: RuleSeverity;
  /** `{{field}}` is a field of the event, or a variable. */
  message: string;
  override: RuleOverride;
  enabled: boolean;
}

/** An event to evaluate. Further fields can be compared by rules. */
export interface ReflexEventData {
  event: ReflexEvent;
  tool_name?: string;
  file_path?: string;
  command?: string;
  content?: string;
  prompt?: string;
  [key: string]: unknown;
}

/** A rule that fired. */
export interface EvaluationResult {
  /** The name of the rule. */
  rule: string;
  triggered: boolean;
  action: RuleAction;
  severity: RuleSeverity;
  message: string;
  /** Each condition as `field op pattern`. */
  matched_conditions: string[];
}

export interface ReflexConfig {
  allowed_roots?: string[];
  variables?: Record<string, string | string[]>;
  /** Names of rules that are loaded with `enabled: false`; `core` rules stay enabled. */
  disabled_rules?: string[];
  /** Further folders of rules. */
  rule_dirs?: string[];
}

/** Thrown by all functions. */
export interface ReflexError extends Error {
  code: 'ERR_INVALID_RULE' | 'ERR_INVALID_ARGUMENT' | 'ERR_NO_BUILD';
  /** The invalid file. */
  file?: string;
  /** Line in the file, from 1. */
  line?: number;
}

/**
 * Evaluates rules on events.
 *
 * @example
 * const engine = new RuleEngine({ allowed_roots: '/home/user/project' });
 * engine.addRules(CORE_RULES);
 * engine.isAllowed({ event: 'bash_command', command: 'rm -rf /' }); // false
 */
export declare class RuleEngine {
  /** @throws {ReflexError} A value is neither a text nor a list of texts. */
  constructor(variables?: Record<string, string | string[]>);
  /** @throws {ReflexError} The rule is invalid: the engine is unchanged. */
  addRule(rule: Partial<ReflexRule> & { name: string }): void;
  /** Adds all rules or none. @throws {ReflexError} A rule is invalid. */
  addRules(rules: (Partial<ReflexRule> & { name: string })[]): void;
  /** @throws {ReflexError} A rule is invalid with this value: the variable is unchanged. */
  setVariable(key: string, value: string | string[]): void;
  /** Returns the rules that fire, in the order of addition. */
  evaluate(event: ReflexEventData): EvaluationResult[];
  /** Returns the rules that fire with the action `block`. */
  getBlocks(event: ReflexEventData): EvaluationResult[];
  /** Returns whether no rule blocks. */
  isAllowed(event: ReflexEventData): boolean;
}

/** The rules of the core tier. */
export declare const CORE_RULES: ReflexRule[];

/** Loads the one rule of a file. @throws {ReflexError} The file cannot be read or is invalid. */
export declare function loadRuleFile(path: string): Promise<ReflexRule>;

/**
 * Loads the rules of all `.yaml` and `.yml` files below a folder.
 *
 * @throws {ReflexError} A file is invalid. `@fozikio/reflex` throws the parser's error instead.
 */
export declare function loadRuleDirectory(dir: string, config?: ReflexConfig): Promise<ReflexRule[]>;

/** A call or another event of an agent, in the universal form of `reflex hook` and `reflex eval`. */
export interface UniversalEvent {
  /** `pre-command`, `pre-write`, `pre-tool`, `post-tool`, `prompt-submit`, … or `sequence` with `steps`. */
  event: string;
  /** Echoed in the verdict. */
  id?: string | number;
  /** Name of the tool, if `event` is `pre-tool` or `post-tool`. */
  tool?: string;
  command?: string;
  files?: string[];
  content?: string;
  output?: string;
  prompt?: string;
  /** Working folder, `/repo` by default. */
  cwd?: string;
  /** Root of the project, `cwd` by default. */
  workspace?: string;
  home?: string;
  /** Facts that the hook would look up on the machine. A fact that is not given is unknown. */
  facts?: {
    git?: { branch?: string; dirty?: string[]; untracked?: string[]; ignored?: string[]; protected?: string[]; unpushed?: number; stashes?: number };
    files?: Record<string, string>;
    missing?: string[];
    env?: Record<string, string>;
    symlinks?: Record<string, string>;
    [fact: string]: unknown;
  };
  [field: string]: unknown;
}

/** Something that a detector found. */
export interface Finding {
  /** `rm/home-or-root`, `guard/files`, … */
  id: string;
  detector: string;
  category: string;
  severity: RuleSeverity;
  /** From 0 to 1. */
  confidence: number;
  message: string;
  /** What to do instead; empty if unknown. */
  remedy: string;
  [field: string]: unknown;
}

export interface Verdict {
  schema: 'reflex/verdict-v1';
  decision: 'allow' | 'warn' | 'require_approval' | 'block';
  risk: string;
  /** From 0 to 1. */
  confidence: number;
  /** Texts for the agent and the person, the most important first. */
  reasons: string[];
  findings: Finding[];
  advice: string[];
  /** Fields to replace in the call, or null. */
  rewrite: Record<string, string> | null;
  /** Whether everything that the call would lose could be backed up first, as the hook does. */
  undo?: true;
  /** The reason for which the event could not be read; `decision` is `block`. */
  error?: string;
  id?: string | number;
}

/**
 * Returns the verdict of `reflex eval` on an event. No file is read.
 *
 * @example
 * judge({ event: 'pre-command', command: 'rm -rf ~' }).decision; // 'block'
 *
 * @param options.mode The policy, `balanced` by default.
 * @param options.home Home folder of an event that names none, `/home/user` by default.
 * @throws {ReflexError} The mode is unknown. An event that cannot be read is blocked instead.
 */
export declare function judge(event: UniversalEvent, options?: { mode?: string; home?: string }): Verdict;

/** A command that a shell text would run. Wrappers such as `sudo` are commands of their own. */
export interface ParsedCommand {
  /** File name of the program; empty if unknown. */
  name: string;
  /** All words after expansion. */
  words: string[];
  /** Byte offsets in the text. */
  start: number;
  end: number;
}

/** An effect that a command would have. */
export interface ParsedEffect {
  /** `delete`, `overwrite`, `push-force`, … */
  kind: string;
  /** Absolute paths, or other objects as written. */
  targets: string[];
  /** Index into `commands`. */
  command: number | null;
}

/** Parses a shell text. Nothing is run and no file is read. `cwd` is `/` by default. */
export declare function parse(
  command: string,
  options?: { cwd?: string },
): { commands: ParsedCommand[]; effects: ParsedEffect[]; gaps: { start: number; end: number }[] };

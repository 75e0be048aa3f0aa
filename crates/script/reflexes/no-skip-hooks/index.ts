// The checks of a repository run before a commit and a push; an agent does not step around them.
import { defineReflex, deny, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const HOOKED = ["commit", "push", "merge", "rebase", "am", "cherry-pick", "revert", "pull"];
/** Variables that switch hooks off, with the values that do. */
const SWITCHES: Record<string, RegExp> = {
  HUSKY: /^0$/, HUSKY_SKIP_HOOKS: /^(1|true)$/, HUSKY_SKIP_INSTALL: /^(1|true)$/, LEFTHOOK: /^(0|false)$/, LEFTHOOK_EXCLUDE: /./,
  SKIP: /./, SKIP_HOOKS: /./, OVERCOMMIT_DISABLE: /./, GIT_CONFIG_PARAMETERS: /hookspath/i, SKIP_SIMPLE_GIT_HOOKS: /^1$/,
};
const CHANGES = ["delete", "move", "truncate", "change-permissions", "overwrite"];

export default defineReflex({
  name: "no-skip-hooks",
  onToolCall(ctx: ToolCallContext) {
    const { commands, effects } = ctx.reflex;
    for (const { name, subcommands, argv } of commands) {
      if (name !== "git") continue;
      const what = subcommands[0] ?? "";
      const at = argv.indexOf(what);
      const before = argv.slice(0, Math.max(at, 0)).some((word) => /core\.hookspath/i.test(word));
      const sets = what === "config" && argv.some((word) => /^core\.hookspath$/i.test(word)) && argv.length > at + 2;
      if (before || (sets && !argv.some((word) => /^(--get.*|get|--list)$/.test(word)))) return refuse("core.hooksPath");
      if (HOOKED.includes(what) && argv.slice(at + 1).some((word, index, words) => skips(what, word, words, index))) {
        return refuse(`git ${what} without its hooks`);
      }
    }
    const commits = commands.some(({ name, subcommands }) => name === "git" && HOOKED.includes(subcommands[0] ?? ""));
    for (const effect of effects) {
      const variable = effect.kind === "set-variable" ? effect.targets[0]?.text : undefined;
      const off = variable !== undefined && SWITCHES[variable]?.test(effect.argument ?? "");
      if (off && (commits || variable !== "SKIP")) return refuse(`${variable}=${effect.argument}`);
      const hook = CHANGES.includes(effect.kind) && effect.targets.find(({ path }) => isHook(path, effect.kind));
      if (hook) return refuse(`a change of ${hook.path}`);
    }
    return pass();
  },
});

function refuse(what: string) {
  return deny(`This steps around the repository's checks (${what}). Let them run, and mend what they find.`);
}

/** `--no-verify`, shortened as git allows; `-n` where it means that. */
function skips(what: string, word: string, words: string[], at: number): boolean {
  const end = words.indexOf("--");
  if (end >= 0 && at > end) return false;
  if (/^-(m|F|C|c|t)$/.test(words[at - 1] ?? "")) return false;
  if (word.length >= 9 && "--no-verify".startsWith(word)) return true;
  return what === "commit" && /^-[aeiopqsvz]*n/.test(word);
}

function isHook(path: string | undefined, kind: string): boolean {
  if (path === undefined) return false;
  const own = /\/\.git\/hooks(\/(pre|commit|prepare|post)[a-z-]*)?$/.test(path);
  // A hook of the project may be edited like any other file, but not taken away.
  return own || (kind !== "overwrite" && /\/(\.husky|\.githooks)(\/[a-z-]+)?$/.test(path));
}

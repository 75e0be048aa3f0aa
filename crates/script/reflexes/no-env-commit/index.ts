// A file with passwords does not get into a commit.
import { defineReflex, deny, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const HARMLESS = /\.(example|sample|template|dist|defaults?|test)$/i;

export default defineReflex({
  name: "no-env-commit",
  onToolCall(ctx: ToolCallContext) {
    const harmless: string[] = ctx.options?.allow ?? [];
    const isEnv = (path: string) => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      return /^\.env(rc|\..+)?$/.test(name) && !HARMLESS.test(name) && !harmless.includes(name);
    };
    for (const { name, subcommands, argv } of ctx.reflex.commands) {
      const what = subcommands[0];
      if (name !== "git" || !["add", "stage", "commit", "update-index"].includes(what)) continue;
      const words = argv.slice(argv.indexOf(what) + 1).filter((word) => word !== "");
      const named = words.filter((word) => !word.startsWith("-")).find((word) => what !== "commit" && mayMean(word, isEnv));
      if (named) return deny(`${named} would be committed with its passwords. Put it into .gitignore; commit an example instead.`);
      const found = widely(what, words, ctx.reflex.git).find(isEnv);
      if (found) return deny(`${found} would be committed as well. Put it into .gitignore, or add files by name.`);
    }
    return pass();
  },
});

/** Whether the word names such a file, or is a pattern that would find one. */
function mayMean(word: string, isEnv: (path: string) => boolean): boolean {
  const name = word.slice(word.lastIndexOf("/") + 1);
  return isEnv(name) || (/[*?[]/.test(name) && /^\.(\*|e|\?)/.test(name));
}

/** The files that a command takes without naming them. */
function widely(what: string, words: string[], git?: { dirty: string[]; untracked: string[] }): string[] {
  if (!git) return [];
  const has = (letter: string, long: string) =>
    words.some((word) => word === long || new RegExp(`^-[a-zA-Z]*${letter}`).test(word) && !word.startsWith("--"));
  if (what === "commit") return has("a", "--all") ? git.dirty : [];
  const all = has("A", "--all") || words.some((word) => /^(\.|\*|:\/|\.\/|:)$/.test(word));
  return all ? [...git.dirty, ...git.untracked] : has("u", "--update") ? git.dirty : [];
}

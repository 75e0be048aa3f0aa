// Work happens on a branch of its own; what is shared is changed by a merge request.
import { defineReflex, deny, pass, pathMatchesGlob } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const COMMITS = ["commit", "merge", "rebase", "cherry-pick", "revert", "am", "reset"];
/** With these a command only looks or gives up. */
const HARMLESS = ["--dry-run", "--abort", "--quit", "--help", "-h"];

export default defineReflex({
  name: "branch-protect",
  onToolCall(ctx: ToolCallContext) {
    const git = ctx.reflex.git;
    const patterns: string[] = ctx.options?.branches ?? ["main", "master", "release/**", ...(git?.protected ?? [])];
    const isProtected = (branch: string | undefined) =>
      branch !== undefined && patterns.length > 0 && pathMatchesGlob(`/${branch}`, patterns, "/");
    let branch = git?.branch;
    for (const { name, subcommands, argv } of ctx.reflex.commands) {
      const what = subcommands[0];
      if (name !== "git" || what === undefined) continue;
      const words = argv.slice(argv.indexOf(what) + 1);
      if (words.some((word) => HARMLESS.includes(word))) continue;
      // The line may leave the branch before it commits.
      branch = switched(what, words) ?? branch;
      if (COMMITS.includes(what) && isProtected(branch) && !(what === "reset" && !words.some(isRevision))) {
        return deny(`${branch} is protected. Make a branch first: git switch -c TOPIC`);
      }
      const pushed = what === "push" ? pushes(words, branch).find(isProtected) : undefined;
      if (pushed !== undefined) return deny(`${pushed} is protected. Push a branch of your own and open a merge request.`);
    }
    return pass();
  },
});

/** The branch on which the rest of the line works. */
function switched(what: string, words: string[]): string | undefined {
  const operands = words.filter((word) => !word.startsWith("-"));
  if (what === "switch") return operands[0];
  const makes = what === "checkout" && words.some((word) => /^-[bB]$/.test(word) || word === "--orphan");
  return makes ? operands[0] : what === "checkout" && operands.length === 1 && !words.includes("--") ? operands[0] : undefined;
}

/** Whether `git reset` is told to move the branch. */
function isRevision(word: string): boolean {
  return /^(--hard|--soft|--merge|--keep)$/.test(word) || /[~^]|^HEAD|^[0-9a-f]{7,40}$|^origin\//.test(word);
}

/** The remote branches that a push names, else the one that is checked out. */
function pushes(words: string[], branch: string | undefined): (string | undefined)[] {
  const operands = words.filter((word) => !word.startsWith("-"));
  if (words.some((word) => /^--(tags|delete)$|^-d$/.test(word)) && operands.length <= 1) return [];
  if (operands.length <= 1) return [branch];
  return operands.slice(1).map((refspec) => {
    const to = refspec.replace(/^\+/, "").split(":").pop() ?? "";
    return to === "HEAD" ? branch : to.replace(/^refs\/heads\//, "");
  });
}

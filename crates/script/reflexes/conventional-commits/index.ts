// The first line of a commit message says of which kind the change is.
import { defineReflex, deny, pass } from "@agentreflex/core";
import { commitMessage } from "@agentreflex/core/git";
import type { ToolCallContext } from "@agentreflex/core";

const TYPES = ["feat", "fix", "docs", "style", "refactor", "perf", "test", "build", "ci", "chore", "revert"];
/** What git writes itself. */
const GIT = /^(Merge |Revert "|fixup! |squash! |amend! )/;

export default defineReflex({
  name: "conventional-commits",
  onToolCall(ctx: ToolCallContext) {
    const types: string[] = ctx.options?.types ?? TYPES;
    const longest: number = ctx.options?.length ?? 0;
    for (const command of ctx.reflex.commands) {
      const message = commitMessage(command);
      if (message === undefined) continue;
      const subject = message.split("\n")[0];
      // What is put in at run time is not known.
      if (subject.includes("…") || GIT.test(subject)) continue;
      const [, type] = /^([a-z]+)(?:\([^()\s][^()]*\))?!?: \S/.exec(subject) ?? [];
      if (type === undefined || !types.includes(type)) {
        return deny(`"${subject}" is not \`type(scope): subject\`. Types: ${types.join(", ")}.`);
      }
      if (longest > 0 && subject.length > longest) {
        return deny(`The first line has ${subject.length} characters; at most ${longest} are wanted.`);
      }
    }
    return pass();
  },
});

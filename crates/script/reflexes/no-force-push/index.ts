// A forced push replaces a branch as others have it. By effect, so `+refspec`, `-C dir`, wrappers and scripts count too.
import { defineReflex, deny, pass, pathMatchesGlob } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

export default defineReflex({
  name: "no-force-push",
  onToolCall(ctx: ToolCallContext) {
    const only: string[] | undefined = ctx.options?.branches;
    const lease = ctx.options?.lease === false ? ["push-with-lease"] : [];
    const kinds = ["push-force", ...lease];
    for (const effect of ctx.reflex.effects.filter((effect) => kinds.includes(effect.kind))) {
      const named = effect.targets.map((target) => target.text);
      // A push that names no branch pushes the one that is checked out; if that is not known it may be any.
      const branches = named.map((name) => (name === "the current branch" ? ctx.reflex.git?.branch : name));
      const isMeant = (name: string | undefined) => !only || name === undefined || fits(name, only);
      if (named.length > 0 && !branches.some(isMeant)) continue;
      const what = named.filter((_, at) => isMeant(branches[at])).join(", ") || "a branch";
      return deny(`A forced push of ${what} erases commits that others have. Use git push --force-with-lease, or merge.`);
    }
    return pass();
  },
});

function fits(branch: string, patterns: string[]): boolean {
  return pathMatchesGlob(`/${branch}`, patterns, "/");
}

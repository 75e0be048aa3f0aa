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
      const branches = effect.targets.map((target) => target.text);
      // A push that names no branch may mean any.
      const meant = only && branches.length > 0 ? branches.filter((name) => fits(name, only)) : branches;
      if (!only || branches.length === 0 || meant.length > 0) {
        const what = meant.length > 0 ? ` of ${meant.join(", ")}` : "";
        return deny(`A forced push${what} erases commits that others have. Use git push --force-with-lease, or merge.`);
      }
    }
    return pass();
  },
});

function fits(branch: string, patterns: string[]): boolean {
  return pathMatchesGlob(`/${branch}`, patterns, "/");
}

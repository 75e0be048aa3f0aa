// What changes files stays inside the project.
import { defineReflex, deny, pass, pathMatchesGlob } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const CHANGES = [
  "overwrite", "append", "edit", "truncate", "delete", "move", "link", "change-permissions", "change-owner",
];

export default defineReflex({
  name: "stay-in-repo",
  onToolCall(ctx: ToolCallContext) {
    const allowed: string[] = ctx.options?.allow ?? ["/tmp/**", "/var/tmp/**"];
    // Patterns are written from the root; the function compares below a folder.
    const patterns = allowed.map((pattern) => pattern.replace(/^~\//, `${ctx.reflex.home}/`).replace(/^\//, ""));
    for (const effect of ctx.reflex.effects) {
      if (!CHANGES.includes(effect.kind) || effect.site !== "here") continue;
      const outside = effect.targets.find(
        ({ path, inside }) =>
          path !== undefined && !inside && !path.startsWith("/dev/") && !pathMatchesGlob(path, patterns, "/"),
      );
      if (outside) return deny(`${outside.path} lies outside of the project ${ctx.reflex.workspace}.`);
    }
    return pass();
  },
});

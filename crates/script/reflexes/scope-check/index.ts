// A task that is about some files changes only those.
import { defineReflex, deny, pass, pathMatchesGlob } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const CHANGES = ["overwrite", "append", "edit", "truncate", "delete", "move", "link"];

export default defineReflex({
  name: "scope-check",
  onToolCall(ctx: ToolCallContext) {
    const given: string | string[] | undefined = ctx.options?.allow;
    if (given === undefined) return pass();
    const allowed = typeof given === "string" ? [given] : given;
    const scope = allowed.length > 0 ? allowed.join(", ") : "nothing";
    for (const effect of ctx.reflex.effects) {
      if (!CHANGES.includes(effect.kind) || effect.site !== "here") continue;
      for (const { path, text, inside } of effect.targets) {
        if (path === undefined) return deny(`Which file \`${text}\` is cannot be told; the scope is ${scope}.`);
        const aside = path.startsWith("/dev/") || (path.startsWith("/tmp/") && !inside);
        if (!aside && !pathMatchesGlob(path, allowed, ctx.reflex.workspace)) {
          return deny(`${path} is out of scope; this task may change ${scope}.`);
        }
      }
    }
    return pass();
  },
});

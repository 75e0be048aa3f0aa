// A file is copied before an agent changes it, so that what git has not seen can be had again.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { defineReflex, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const CHANGES = ["overwrite", "append", "edit", "truncate", "delete", "move"];

export default defineReflex({
  name: "recover",
  onToolCall(ctx: ToolCallContext) {
    const { effects, workspace, home, time } = ctx.reflex;
    const most: number = ctx.options?.bytes ?? 1024 * 1024;
    const changed = effects.filter((effect) => CHANGES.includes(effect.kind) && effect.site === "here");
    const targets = changed.flatMap((effect) => effect.targets).filter((target) => target.inside && target.exists !== false);
    const files = new Set(targets.flatMap((target) => (target.path === undefined ? [] : [target.path])));
    const folder = `${home}/.reflex/recover/${workspace.replace(/[^A-Za-z0-9.-]+/g, "_")}`;
    for (const file of [...files].slice(0, 50)) {
      try {
        if (!existsSync(file)) continue;
        const bytes = readFileSync(file);
        if (bytes.length > most) continue;
        mkdirSync(folder, { recursive: true });
        const name = file.slice(workspace.length + 1).replace(/\//g, "__");
        writeFileSync(`${folder}/${time.slice(0, 19).replace(/[:T]/g, "-")}-${name}`, bytes);
      } catch (error) {
        // A folder, a link out of the project: there is nothing to copy, and the call is not its fault.
        console.warn(`not copied: ${file}: ${error}`);
      }
    }
    return pass();
  },
});

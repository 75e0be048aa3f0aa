// Deleting a folder with all that lies in it, where that folder holds everything: the root, a home, the project, the system.
import { defineReflex, deny, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const SYSTEM = ["usr", "etc", "bin", "sbin", "var", "lib", "lib64", "opt", "boot", "sys", "proc", "dev", "root", "home", "Users"];

export default defineReflex({
  name: "no-rm-rf",
  onToolCall(ctx: ToolCallContext) {
    const { effects, workspace, home } = ctx.reflex;
    const temporary = ["/tmp", "/var/tmp", "/private/tmp", "/var/folders"];
    for (const effect of effects) {
      if (effect.kind !== "delete" || !effect.flags.includes("recursive") || effect.site !== "here") continue;
      for (const { path } of effect.targets) {
        if (path === undefined || temporary.some((folder) => path !== folder && holds(folder, path))) continue;
        const what = everythingIn(path, workspace, home);
        if (what) return deny(`This would delete ${what} (${path}). Name the folder that is meant.`);
      }
    }
    return pass();
  },
});

/** What a folder holds that nobody means to lose. */
function everythingIn(path: string, workspace: string, home: string): string | undefined {
  if (path === "/") return "the whole system";
  if (holds(path, workspace)) return "the whole project";
  if (holds(path, home)) return "the whole home folder";
  const own = holds(home, path) || holds(workspace, path);
  return SYSTEM.includes(path.split("/")[1]) && !own ? "what the system or others need" : undefined;
}

/** Whether the folder is this path or lies above it. */
function holds(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

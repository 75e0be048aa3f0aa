// Code that was just fetched is run unread. By effect: pipes, `$(curl …)`, `<(curl …)`, files fetched and then run.
import { defineReflex, deny, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

export default defineReflex({
  name: "no-curl-bash",
  onToolCall(ctx: ToolCallContext) {
    const hosts: string[] = ctx.options?.hosts ?? [];
    const run = ctx.reflex.effects.filter((effect) => effect.kind === "run-fetched");
    for (const effect of run) {
      const sources = effect.targets.map((target) => target.text);
      const trusted = sources.length > 0 && sources.every((source) => hosts.includes(host(source)));
      if (!trusted) {
        const from = sources.length > 0 ? ` from ${sources.join(", ")}` : "";
        return deny(`Code${from} would run unread. Save it to a file, read it, then ask the person to run it.`);
      }
    }
    return pass();
  },
});

/** The host of an https address; any other source has none that could be trusted. */
function host(source: string): string {
  return /^https:\/\/([^/?#@:\s]+)(?::443)?(?:[/?#]|$)/.exec(source)?.[1].toLowerCase() ?? "";
}

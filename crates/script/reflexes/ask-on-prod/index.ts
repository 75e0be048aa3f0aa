// What changes something that others use waits for a person: deployments, releases, resources of a cloud.
import { ask, commandMatches, defineReflex, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const KINDS: Record<string, string> = {
  deploy: "puts a version live",
  publish: "publishes for everybody",
  "destroy-remote": "destroys something outside of this machine",
  "change-remote": "changes something outside of this machine",
};

export default defineReflex({
  name: "ask-on-prod",
  onToolCall(ctx: ToolCallContext) {
    const kinds: string[] = ctx.options?.effects ?? Object.keys(KINDS);
    const effect = ctx.reflex.effects.find((effect) => kinds.includes(effect.kind));
    if (effect) {
      const targets = effect.targets.map((target) => target.text).filter((text) => text !== "");
      const what = KINDS[effect.kind] ?? `is a ${effect.kind}`;
      return ask(`This ${what}${targets.length > 0 ? ` (${targets.join(", ")})` : ""}.`);
    }
    const commands: string[] = ctx.options?.commands ?? ["* --prod", "* --prod *", "* --production", "* --production *"];
    // The words as they would run, so that quotes and wrappers hide nothing.
    const lines = ctx.reflex.commands.map((command) => command.argv.join(" "));
    const line = lines.find((line) => commandMatches(line, commands));
    return line ? ask(`This looks like production: ${line}`) : pass();
  },
});

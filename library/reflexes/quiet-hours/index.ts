// At some hours nobody is there to mend what goes wrong.
import { ask, commandMatches, defineReflex, deny, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const EFFECTS = ["deploy", "publish", "destroy-remote", "destroy-database", "push-force", "delete-remote-ref"];
const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

export default defineReflex({
  name: "quiet-hours",
  onToolCall(ctx: ToolCallContext) {
    const { from = "20:00", to = "07:00", days = ["saturday", "sunday"], effects = EFFECTS, commands = [] } = ctx.options ?? {};
    const [date, clock] = [ctx.reflex.time.slice(0, 10), ctx.reflex.time.slice(11, 16)];
    const day = DAYS[new Date(`${date}T12:00:00Z`).getUTCDay()];
    const wholeDay = (days as string[]).some((name) => name.toLowerCase() === day);
    if (!wholeDay && !between(clock, from, to)) return pass();
    const effect = ctx.reflex.effects.find((effect) => effects.includes(effect.kind));
    const lines = ctx.reflex.commands.map((command) => command.argv.join(" "));
    const what = effect?.kind ?? (commands.length > 0 ? lines.find((line) => commandMatches(line, commands)) : undefined);
    if (what === undefined) return pass();
    const reason = `It is ${day} ${clock}: \`${what}\` waits until people are there (quiet ${wholeDay ? "all day" : `${from} to ${to}`}).`;
    return ctx.options?.decision === "deny" ? deny(reason) : ask(reason);
  },
});

/** Whether a time of the day lies in a span that may go over midnight. */
function between(time: string, from: string, to: string): boolean {
  return from <= to ? time >= from && time < to : time >= from || time < to;
}

// At some hours nobody is there to mend what goes wrong.
import { ask, commandMatches, defineReflex, deny, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const EFFECTS = ["deploy", "publish", "destroy-remote", "destroy-database", "push-force", "delete-remote-ref"];
const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

export default defineReflex({
  name: "quiet-hours",
  onToolCall(ctx: ToolCallContext) {
    const { from = "20:00", to = "07:00", days = ["saturday", "sunday"], effects = EFFECTS, commands = [] } = ctx.options ?? {};
    const [day, clock] = local(new Date(ctx.reflex.time), ctx.options?.zone);
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

/** The day and the time of the day: of the zone that is named, else of this machine. */
function local(time: Date, zone: string | undefined): [string, string] {
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone ?? "") ?? [];
  const offset = sign ? Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) : -time.getTimezoneOffset();
  const there = new Date(time.getTime() + offset * 60_000);
  return [DAYS[there.getUTCDay()], there.toISOString().slice(11, 16)];
}

/** Whether a time of the day lies in a span that may go over midnight. */
function between(time: string, from: string, to: string): boolean {
  return from <= to ? time >= from && time < to : time >= from || time < to;
}

// Every commit names the ticket for which it was made.
import { defineReflex, deny, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

export default defineReflex({
  name: "ticket-in-commit",
  onToolCall(ctx: ToolCallContext) {
    const pattern = new RegExp(ctx.options?.pattern ?? "\\b[A-Z][A-Z0-9]+-\\d+\\b|(^|\\s)#\\d+\\b");
    for (const command of ctx.reflex.commands) {
      const message = messageOf(command);
      if (message === undefined || message.includes("…") || /^(Merge |fixup! |squash! |amend! )/.test(message)) continue;
      if (pattern.test(message)) continue;
      const ticket = pattern.exec(ctx.reflex.git?.branch ?? "")?.[0].trim();
      return deny(`The message names no ticket.${ticket ? ` The branch is about ${ticket}: add that.` : " Ask the person which one it is."}`);
    }
    return pass();
  },
});

/** The message that a `git commit` is given on its command line. */
function messageOf(command: { name: string; subcommands: string[]; argv: string[] }): string | undefined {
  if (command.name !== "git" || command.subcommands[0] !== "commit") return undefined;
  const words = command.argv.slice(command.argv.indexOf("commit") + 1);
  const parts: string[] = [];
  for (let at = 0; at < words.length && words[at] !== "--"; at++) {
    const word = words[at];
    const short = /^-[aeinopqsvz]*m/.exec(word);
    const long = /^--m(?:e(?:s(?:s(?:a(?:ge?)?)?)?)?)?(=|$)/.exec(word);
    if (long) parts.push(long[1] === "=" ? word.slice(long[0].length) : words[++at] ?? "");
    else if (short) parts.push(word.slice(short[0].length) || (words[++at] ?? ""));
  }
  return parts.length > 0 ? parts.join("\n\n").trimStart() : undefined;
}

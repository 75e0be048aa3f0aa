// Every commit names the ticket for which it was made.
import { defineReflex, deny, pass } from "@agentreflex/core";
import { commitMessage } from "@agentreflex/core/git";
import type { ToolCallContext } from "@agentreflex/core";

export default defineReflex({
  name: "ticket-in-commit",
  onToolCall(ctx: ToolCallContext) {
    const pattern = new RegExp(ctx.options?.pattern ?? "\\b[A-Z][A-Z0-9]+-\\d+\\b|(^|\\s)#\\d+\\b");
    for (const command of ctx.reflex.commands) {
      const message = commitMessage(command);
      if (message === undefined || message.includes("…") || /^(Merge |fixup! |squash! |amend! )/.test(message)) continue;
      if (pattern.test(message)) continue;
      const ticket = pattern.exec(ctx.reflex.git?.branch ?? "")?.[0].trim();
      return deny(`The message names no ticket.${ticket ? ` The branch is about ${ticket}: add that.` : " Ask the person which one it is."}`);
    }
    return pass();
  },
});

// A recursive grep reads what git ignores and what is binary; rg does not, and is faster.
import { defineReflex, deny, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const GREPS = ["grep", "egrep", "fgrep", "rgrep", "ggrep"];

export default defineReflex({
  name: "prefer-rg",
  onToolCall(ctx: ToolCallContext) {
    for (const { name, argv, site } of ctx.reflex.commands) {
      if (!GREPS.includes(name) || site !== "here" || !isRecursive(name, argv)) continue;
      return deny("Use rg: it searches folders by itself and leaves out what git ignores. `rg PATTERN PATH`, with -l for names only.");
    }
    return pass();
  },
});

function isRecursive(name: string, argv: string[]): boolean {
  if (name === "rgrep") return true;
  const end = argv.indexOf("--");
  const words = argv.slice(1, end < 0 ? undefined : end);
  return words.some((word, at) => {
    // What stands behind an option with a value is that value.
    const isValue = /^-[^-]*[ABCDdefm]$/.test(words[at - 1] ?? "");
    return !isValue && (/^-[^-ABCDdefm]*[rR]/.test(word) || /^--(recursive|dereference-recursive)$/.test(word));
  });
}

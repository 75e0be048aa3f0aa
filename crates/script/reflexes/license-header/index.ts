// A new source file says under which licence it is.
import { defineReflex, deny, modify, pass, pathMatchesGlob } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const STYLES: [RegExp, string, string][] = [
  [/\.(rs|ts|tsx|mts|cts|js|jsx|mjs|cjs|go|java|kt|kts|swift|c|h|cc|cpp|hpp|cs|scala|dart|zig|php)$/, "// ", ""],
  [/\.(py|rb|sh|bash|pl|r|jl|ex|exs)$/i, "# ", ""],
  [/\.(sql|lua|hs|elm)$/, "-- ", ""],
  [/\.(css|scss)$/, "/* ", " */"],
];
const LICENSED = /SPDX-License-Identifier:|Copyright\b|\(c\) \d{4}|Licensed under/i;

export default defineReflex({
  name: "license-header",
  onToolCall(ctx: ToolCallContext) {
    const { actions, effects, workspace } = ctx.reflex;
    const header: string | undefined = ctx.options?.header;
    const skipped: string[] = ctx.options?.except ?? ["**/vendor/**", "**/third_party/**", "**/node_modules/**", "**/dist/**"];
    for (const action of actions) {
      const style = STYLES.find(([names]) => names.test(action.path ?? ""));
      if (action.kind !== "write" || !style || action.path === undefined) continue;
      const exists = effects.flatMap((effect) => effect.targets).find((target) => target.path === action.path)?.exists;
      const aside = skipped.length > 0 && pathMatchesGlob(action.path, skipped, workspace);
      // What was there before is not this call's to mend.
      if (exists === true || aside) continue;
      const text = action.text ?? "";
      const top = text.split("\n").slice(0, 15).join("\n");
      if (header === undefined ? LICENSED.test(top) : header.split("\n").every((line) => top.includes(line.trim()))) continue;
      if (header === undefined || actions.length > 1) {
        return deny(`${action.path} needs a licence header${header === undefined ? "" : `: ${header}`}`);
      }
      const content = withHeader(text, header, style);
      return modify({ content }, `${action.path} needs a licence header. Write it so: ${content.slice(0, 200)}`);
    }
    return pass();
  },
});

/** Below a first line that has to stay the first. */
function withHeader(text: string, header: string, [, before, after]: [RegExp, string, string]): string {
  const comment = header.split("\n").map((line) => `${before}${line}`.trimEnd() + after).join("\n");
  const first = /^(#!|<\?php|\/\/ @ts-|# -\*-)[^\n]*\n/.exec(text)?.[0] ?? "";
  return `${first}${comment}\n\n${text.slice(first.length)}`;
}

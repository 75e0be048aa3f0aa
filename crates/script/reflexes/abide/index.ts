// The project's own rules, one file that everybody can read: `.reflex/abide.yaml`.
import { readFileSync } from "node:fs";
import { ask, commandMatches, defineReflex, deny, pass, pathMatchesGlob } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

interface Rule {
  description?: string;
  action?: string;
  tool?: string | string[];
  command?: string | string[];
  effect?: string | string[];
  path?: string | string[];
  pathOutsideProject?: boolean;
}

const CHANGES = ["overwrite", "append", "edit", "truncate", "delete", "move", "link"];
const DEFAULTS: Rule[] = [
  { description: "A forced push erases commits that others have.", action: "deny", effect: "push-force" },
  { description: "What is pushed is seen by others.", action: "ask", command: "git push*" },
  { description: "Work stays inside the project.", action: "deny", pathOutsideProject: true },
];
const KEYS = ["description", "action", "tool", "command", "effect", "path", "pathOutsideProject"];

export default defineReflex({
  name: "abide",
  onToolCall(ctx: ToolCallContext) {
    for (const rule of rulesOf(ctx)) {
      if (!applies(rule, ctx)) continue;
      const reason = rule.description ?? "A rule of this project forbids this.";
      return rule.action === "ask" ? ask(reason) : deny(reason);
    }
    return pass();
  },
});

function rulesOf(ctx: ToolCallContext): Rule[] {
  const given: Rule[] | undefined = ctx.options?.rules;
  const rules = given ?? written(`${ctx.reflex.workspace}/.reflex/abide.yaml`) ?? DEFAULTS;
  for (const rule of rules) {
    const unknown = Object.keys(rule).find((key) => !KEYS.includes(key));
    // A rule that is not understood is not left out in silence.
    if (unknown !== undefined) throw new Error(`unknown key \`${unknown}\`; there are ${KEYS.join(", ")}`);
    if (rule.action !== "deny" && rule.action !== "ask") throw new Error(`\`action\` is neither deny nor ask: ${rule.action}`);
  }
  return rules;
}

/** The rules of the file; nothing where there is none. One that cannot be read is none that is left out in silence. */
function written(file: string): Rule[] | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error: any) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
  return parse(text);
}

/** Whether every condition of the rule holds; one without conditions never applies. */
function applies(rule: Rule, ctx: ToolCallContext): boolean {
  const { effects, commands, workspace } = ctx.reflex;
  const list = (value: string | string[]) => (Array.isArray(value) ? value : [value]);
  const changed = effects.filter((effect) => CHANGES.includes(effect.kind)).flatMap((effect) => effect.targets);
  const conditions: boolean[] = [];
  if (rule.tool !== undefined) conditions.push(list(rule.tool).includes(ctx.tool));
  if (rule.command !== undefined) {
    const globs = list(rule.command);
    conditions.push(commands.some((command) => commandMatches(command.argv.join(" "), globs)));
  }
  if (rule.effect !== undefined) conditions.push(effects.some((effect) => list(rule.effect ?? []).includes(effect.kind)));
  if (rule.path !== undefined) {
    const globs = list(rule.path);
    conditions.push(changed.some(({ path }) => path !== undefined && pathMatchesGlob(path, globs, workspace)));
  }
  if (rule.pathOutsideProject === true) {
    conditions.push(changed.some(({ path, inside }) => path !== undefined && !inside && !/^\/(dev|tmp)\//.test(path)));
  }
  return conditions.length > 0 && conditions.every((holds) => holds);
}

/** As much YAML as the file takes: `rules:`, a list of maps, whose values are texts, flags or lists of texts. */
function parse(text: string): Rule[] {
  const rules: Record<string, unknown>[] = [];
  let list: unknown[] | undefined;
  text.split("\n").forEach((line, index) => {
    const bare = line.replace(/(^|\s)#.*$/, "").trimEnd();
    if (bare.trim() === "" || bare === "---" || /^rules:\s*(\[\])?$/.test(bare)) return;
    const [, indent, dash, key, value] = /^(\s*)(- )?\s*(?:([A-Za-z]+):(?:\s+(.*))?)?$/.exec(bare) ?? [];
    const item = /^\s+- +(.*)$/.exec(bare)?.[1];
    if (key !== undefined && (dash !== undefined || indent !== "")) {
      if (dash !== undefined) rules.push({});
      const rule = rules[rules.length - 1];
      if (!rule) throw new Error(`abide.yaml:${index + 1}: a rule begins with \`-\``);
      list = value === undefined || value === "" ? [] : undefined;
      rule[key] = list ?? scalar(value);
    } else if (item !== undefined && list) {
      list.push(scalar(item));
    } else {
      throw new Error(`abide.yaml:${index + 1}: this is not understood: ${bare.trim()}`);
    }
  });
  return rules;
}

function scalar(text: string): unknown {
  const bare = text.trim();
  const inner = /^\[(.*)\]$/.exec(bare)?.[1];
  if (inner !== undefined) return (inner.match(/"[^"]*"|'[^']*'|[^,]+/g) ?? []).map((part) => scalar(part)).filter((part) => part !== "");
  const quoted = /^"([^"]*)"$|^'([^']*)'$/.exec(bare);
  if (quoted) return quoted[1] ?? quoted[2];
  return bare === "true" ? true : bare === "false" ? false : bare;
}

import { useEffect, useState } from "preact/hooks";
import * as api from "./api";

interface Rule {
  id: string;
  category: string;
  severity: string;
  tier: string;
  /** What the policy in force does about it: `deny`, `ask`, `warn` or `note`. */
  usually: string;
  message: string;
  remedy: string;
  at: string;
}

const ACTIONS: [string, string][] = [
  ["deny", "block"],
  ["ask", "ask"],
  ["warn", "warn"],
  ["note", "only noted"],
];

/** What a call would fill in, as an example. */
const EXAMPLES: Record<string, string> = {
  targets: "./data",
  lost: "src/cart.ts",
  program: "npm",
  argument: "--all",
  there: " on prod.example",
  dump: "pg_dump shop > shop.sql",
  subject: "shop",
  operands: "./data",
  name: "shop",
  mend: "git fsck",
};

/** Targets of rules that are not about files, by the beginning of their ids. */
const TARGETS: [RegExp, string][] = [
  [/^git\/(push|.*branch|.*tag)/, "feature"],
  [/^(database|prisma|sql)\//, "the table users"],
  [/^(aws|gcloud|azure|heroku|vercel|kubectl|helm|terraform|container|service)\//, "shop"],
  [/^(package|publish|install)\//, "left-pad"],
  [/^(send|fetch|tunnel|host)\//, "files.example"],
];

const filled = (rule: Rule, text: string): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const own = name === "targets" ? TARGETS.find(([id]) => id.test(rule.id))?.[1] : undefined;
    return own ?? EXAMPLES[name] ?? whole;
  });

const word = (action: string): string => ACTIONS.find(([name]) => name === action)?.[1] ?? action;

/** Every rule in force in the folder that the server was started in. */
export function Rules() {
  const [rules, setRules] = useState<Rule[] | undefined>();
  const [words, setWords] = useState("");
  const [action, setAction] = useState("");
  const [category, setCategory] = useState("");
  const [problem, setProblem] = useState("");
  useEffect(() => {
    api.rules().then(
      (found) => setRules(found["rules"] as Rule[]),
      (error: Error) => setProblem(error.message),
    );
  }, []);
  const wanted = words.toLowerCase().split(/\s+/);
  const fitting = (rules ?? []).filter((rule) => {
    const text = `${rule.id} ${rule.category} ${rule.severity} ${rule.tier} ${rule.message}`.toLowerCase();
    const isChosen = (action === "" || rule.usually === action) && (category === "" || rule.category === category);
    return isChosen && wanted.every((one) => text.includes(one));
  });
  const categories = [...new Set((rules ?? []).map((rule) => rule.category))].sort();
  return (
    <section aria-busy={rules === undefined}>
      <h1>Rules</h1>
      <form role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          Words of a name or message, core, critical
          <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        </label>
        <div class="filters">
          <label>
            Action
            <select value={action} onChange={(event) => setAction(event.currentTarget.value)}>
              <option value="">any</option>
              {ACTIONS.map(([name, title]) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <label>
            Category
            <select value={category} onChange={(event) => setCategory(event.currentTarget.value)}>
              <option value="">any</option>
              {categories.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        </div>
      </form>
      <p role="alert" class="problem">
        {problem}
      </p>
      {rules !== undefined && fitting.length === 0 ? (
        <p class="empty">No rule fits. Shorter words find more; the filters narrow what they find.</p>
      ) : (
        <p class="facts">{fitting.length} rules; names in a message are examples</p>
      )}
      <ul class="rules">
        {fitting.map((rule) => (
          <li key={rule.id}>
            <span class={`mark ${rule.usually}`}>{word(rule.usually)}</span> <code>{rule.id}</code>{" "}
            <small>
              {rule.severity}
              {rule.tier === "core" ? ", core" : ""}
            </small>
            <br />
            {filled(rule, rule.message)} {filled(rule, rule.remedy ?? "")}
            <br />
            <small>{rule.at}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}

import { useEffect, useState } from "preact/hooks";
import * as api from "./api";

interface Rule {
  id: string;
  category: string;
  severity: string;
  tier: string;
  message: string;
  remedy: string;
  at: string;
}

/** Every rule in force in the folder that the server was started in. */
export function Rules() {
  const [rules, setRules] = useState<Rule[] | undefined>();
  const [words, setWords] = useState("");
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
    return wanted.every((word) => text.includes(word));
  });
  return (
    <section aria-busy={rules === undefined}>
      <h1>Rules</h1>
      <form role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          Words of its name or message, <code>core</code>, <code>critical</code>
          <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
        </label>
      </form>
      <p role="alert" class="problem">
        {problem}
      </p>
      <p class="facts">{fitting.length} rules</p>
      <ul class="rules">
        {fitting.map((rule) => (
          <li key={rule.id}>
            <code>{rule.id}</code> <span class={`mark ${rule.severity}`}>{rule.severity}</span>{" "}
            {rule.tier === "core" ? <span class="mark">core</span> : null}
            <br />
            {rule.message} {rule.remedy}
            <br />
            <small>{rule.at}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}

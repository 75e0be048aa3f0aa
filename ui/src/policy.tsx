import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import type { Json } from "./api";

interface Layer {
  layer: string;
  folder: string;
  why_tight: string | null;
  problems: string[];
  keys: { key: string; at: string; value: unknown; standing: string }[];
}

interface Change {
  before: string;
  after: string;
  call: string;
  cwd: string;
  count: number;
}

const EXAMPLE = "allow:\n  - argv: [git, push, --force, origin, topic]\n    reason: my own branch\n";

/** The policy in force, the source of each key, and the decisions that another policy would have changed. */
export function Policy() {
  const [found, setFound] = useState<Json | undefined>();
  const [outcome, setOutcome] = useState<Json | undefined>();
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    api.policy().then(setFound, (error: Error) => setProblem(error.message));
  }, []);
  const layers = (found?.["layers"] ?? []) as Layer[];
  const test = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      const data = new FormData(event.currentTarget as HTMLFormElement);
      setOutcome(await api.backtest(String(data.get("policy") ?? "")));
      setProblem("");
    } catch (error) {
      setOutcome(undefined);
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <section aria-busy={found === undefined}>
      <h1>
        Policy <small>{String(found?.["policy"] ?? "")}</small>
      </h1>
      {found !== undefined && layers.length === 0 ? <p>Nobody has written one: what ships is in force.</p> : null}
      {layers.map((layer) => (
        <article key={layer.folder} class="agent">
          <h2>{layer.layer}</h2>
          <p class="facts">{layer.folder}</p>
          {layer.why_tight === null ? null : <p class="note">It only tightens: {layer.why_tight}</p>}
          {layer.problems.map((one) => (
            <p class="problem" key={one}>
              {one}
            </p>
          ))}
          <ul>
            {layer.keys.map((one) => (
              <li key={one.key + one.at}>
                <code>
                  {one.key}: {JSON.stringify(one.value)}
                </code>{" "}
                {one.standing} <small>{one.at}</small>
              </li>
            ))}
          </ul>
        </article>
      ))}
      <h2>Try another policy</h2>
      <form onSubmit={(event) => void test(event)}>
        <label>
          In place of yours; it is judged on the newest 1,000 recorded calls and changes nothing
          <textarea name="policy" rows={6} required spellcheck={false}>
            {EXAMPLE}
          </textarea>
        </label>
        <button class="primary" aria-busy={busy}>
          Judge recorded calls
        </button>
      </form>
      <p role="alert" class="problem">
        {problem}
      </p>
      {outcome === undefined ? null : <Outcome of={outcome} />}
    </section>
  );
}

function Outcome({ of }: { of: Json }) {
  const changes = of["changes"] as Change[];
  const kinds = [...new Set(changes.map((one) => `${one.before} \u2192 ${one.after}`))];
  return (
    <div aria-live="polite">
      <p>
        {String(of["judged"])} calls judged
        {Number(of["left_out"]) > 0 ? `; ${of["left_out"]} are not whole in the log and were left out` : ""}.{" "}
        {changes.length === 0 ? "No decision changes." : null}
      </p>
      {kinds.map((kind) => {
        const rows = changes.filter((one) => `${one.before} \u2192 ${one.after}` === kind);
        return (
          <section key={kind}>
            <h3>
              {rows.reduce((sum, one) => sum + one.count, 0)} {kind}
            </h3>
            <ul>
              {rows.slice(0, 100).map((one) => (
                <li key={one.call + one.cwd}>
                  {one.count} × <code>{one.call.split("\n")[0]}</code> <small>in {one.cwd}</small>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}

import { useState } from "preact/hooks";
import * as api from "./api";
import type { Json } from "./api";

const MODES = ["", "strict", "balanced", "quiet", "observe"];

interface Reply {
  agent: string;
  stdout: string;
  stderr: string;
  exit: number;
}

/** Judges a command without running it. */
export function Try() {
  const [found, setFound] = useState<Json | undefined>();
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const [agent, setAgent] = useState("claude");
  const judge = async (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const field = (name: string) => String(data.get(name) ?? "");
    setBusy(true);
    try {
      setFound(await api.explain({ command: field("command"), cwd: field("cwd"), agent, mode: field("mode") }));
      setProblem("");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  const stages = (found?.["stages"] ?? []) as { stage: number; name: string; lines: string[] }[];
  const replies = (found?.["replies"] ?? []) as Reply[];
  const reply = replies.find((one) => one.agent === agent);
  return (
    <section>
      <h1>Try a command</h1>
      <p>It is judged as if an agent called it. It does not run, and no record is written.</p>
      <form onSubmit={(event) => void judge(event)}>
        <label>
          Command, or the payload of a hook
          <textarea
            name="command"
            rows={3}
            required
            placeholder="rm -rf build && npm ci"
            aria-describedby="try-keys"
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey) return;
              event.preventDefault();
              event.currentTarget.form?.requestSubmit();
            }}
          />
          <small id="try-keys">Enter judges it, Shift+Enter begins a new line.</small>
        </label>
        <div class="row">
          <label>
            Folder
            <input name="cwd" placeholder="where reflex ui was started" />
          </label>
          <label>
            Mode
            <select name="mode">
              {MODES.map((mode) => (
                <option key={mode} value={mode}>
                  {mode === "" ? "as in force" : mode}
                </option>
              ))}
            </select>
          </label>
        </div>
        <button class="primary" aria-busy={busy}>
          Judge
        </button>
      </form>
      <p role="alert" class="problem">
        {problem}
      </p>
      {found === undefined ? null : (
        <div aria-live="polite">
          <h2>
            <span class={`mark ${String(found["decision"])}`}>{String(found["decision"])}</span>{" "}
            {String((found["reasons"] as string[] | undefined)?.[0] ?? "")}
          </h2>
          <ol class="stages">
            {stages.map((stage) => (
              <li key={stage.stage} value={stage.stage}>
                <b>{stage.name}</b>
                {stage.lines.length === 0 ? null : <pre tabIndex={0}>{stage.lines.join("\n")}</pre>}
              </li>
            ))}
          </ol>
          <label>
            What this agent is told
            <select value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
              {replies.map((one) => (
                <option key={one.agent}>{one.agent}</option>
              ))}
            </select>
          </label>
          {reply === undefined ? null : (
            <pre tabIndex={0}>
              {`exit ${reply.exit}\n${reply.stdout === "" ? "" : `stdout ${reply.stdout}\n`}${reply.stderr === "" ? "" : `stderr ${reply.stderr}`}`}
            </pre>
          )}
        </div>
      )}
    </section>
  );
}

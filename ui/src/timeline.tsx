import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import type { Json } from "./api";
import { changes, decision, list, local, subject, text, judged } from "./record";

/** Maximum number of records loaded. */
const MOST = 1000;

/** Milliseconds after which the log is read again. */
const RENEWS = 5000;

/** Records of an agent's session, oldest first. */
interface Session {
  key: string;
  agent: string;
  name: string;
  workspace: string;
  records: Json[];
}

/** The name of who started a run without an agent: `reflex watch`. */
const PERSON = "you";

/** Groups the records by session, most recently active session first. */
function sessions(newestFirst: Json[]): Session[] {
  const found = new Map<string, Session>();
  for (const record of newestFirst) {
    const [agent, name] = [text(record, "agent"), text(record, "session")];
    if (name === "") continue;
    const key = `${agent} ${name}`;
    const known = found.get(key) ?? { key, agent, name, workspace: text(record, "workspace"), records: [] };
    known.records.unshift(record);
    found.set(key, known);
  }
  return [...found.values()];
}

/** Notes on a record: the files that it changed, a loop, a finding after earlier reads, auto-pilot's answer, the command to restore a backup. */
function notes(record: Json): string[] {
  const findings = list(record, "findings");
  const said = findings.some((finding) => text(finding, "detector") === "loopbreaker") ? ["repeats itself"] : [];
  if (findings.some((finding) => text(finding, "id").startsWith("session/"))) said.push("after what the session read");
  if (judged(record) !== "") said.push(`auto-pilot: ${judged(record)}`);
  if (changes(record) !== "") said.push(changes(record));
  const ids = record["kept"];
  if (typeof ids === "string" && ids !== "") said.push(`reflex undo ${ids}`);
  return said;
}

/** Returns whether a record between two records of the same machine is missing from `all`. */
function gap(before: Json | undefined, record: Json, all: Set<unknown>): boolean {
  if (before === undefined || text(before, "host") !== text(record, "host")) return false;
  const [from, to] = [Number(before["seq"]), Number(record["seq"])];
  for (let at = from + 1; at < to && at < from + MOST; at += 1) {
    if (!all.has(at)) return true;
  }
  return false;
}

export function Timeline() {
  const [records, setRecords] = useState<Json[]>([]);
  const [problem, setProblem] = useState("");
  const [chosen, setChosen] = useState("");
  const [busy, setBusy] = useState(true);
  const load = () => {
    api.audit("", MOST).then(
      (found) => {
        setRecords(found.records);
        setProblem("");
        setBusy(false);
      },
      (error: Error) => {
        setProblem(error.message);
        setBusy(false);
      },
    );
  };
  useEffect(() => {
    load();
    const timer = setInterval(() => document.hidden || load(), RENEWS);
    return () => clearInterval(timer);
  }, []);
  const all = sessions(records);
  const shown = all.find((session) => session.key === chosen) ?? all[0];
  const numbers = new Set(records.map((record) => record["seq"]));
  return (
    <section aria-busy={busy}>
      <h1>Timeline</h1>
      <p role="alert" class="problem">
        {problem}
      </p>
      {all.length === 0 && !busy ? (
        <p class="empty">No session is in the log yet. Start an agent: each of its calls appears here within seconds.</p>
      ) : null}
      <div class="split">
        <ol class="calls" aria-label="Sessions">
          {all.map((session) => {
            const last = session.records[session.records.length - 1] ?? {};
            const stopped = session.records.filter((record) => ["block", "ask"].includes(decision(record))).length;
            return (
              <li key={session.key}>
                <button aria-current={session === shown ? "true" : undefined} onClick={() => setChosen(session.key)}>
                  <span>{session.agent || PERSON}</span>
                  <code>{session.workspace.split("/").pop() || session.name}</code>
                  <small>
                    {local(text(last, "time"))}, {session.records.length} records, {stopped} stopped
                  </small>
                </button>
              </li>
            );
          })}
        </ol>
        {shown === undefined ? null : (
          <div>
            <h2>
              {shown.agent || PERSON} in {shown.workspace}
            </h2>
            <ol class="steps">
              {shown.records.map((record, at) => {
                const word = decision(record);
                const role = text(record, "subagent") === "" ? "" : text(record, "role") || "subagent";
                return (
                  <li key={text(record, "id") || String(record["seq"])} class={role === "" ? undefined : "below"}>
                    {gap(shown.records[at - 1], record, numbers) ? <p class="problem">Records are missing here.</p> : null}
                    <time dateTime={text(record, "time")}>{local(text(record, "time"))}</time>{" "}
                    <span class={`mark ${word}`}>{word}</span> {role === "" ? null : <small>{role}</small>}{" "}
                    <code>{subject(record).split("\n")[0]?.slice(0, 200) || text(record, "moment") || "…"}</code>
                    {notes(record).map((note) => (
                      <small key={note} class="left">
                        {" "}
                        {note}
                      </small>
                    ))}
                  </li>
                );
              })}
            </ol>
          </div>
        )}
      </div>
    </section>
  );
}

import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import type { Finding, Json } from "./api";

export const text = (record: Json, key: string): string => (typeof record[key] === "string" ? record[key] : "");
export const list = (record: Json, key: string): Json[] => (Array.isArray(record[key]) ? (record[key] as Json[]) : []);

/** Returns the subject of the record as text. */
export function subject(record: Json): string {
  const actions = list(record, "actions").map((action) =>
    ["command", "path", "url", "tool", "text", "arguments"].map((key) => text(action, key)).find((one) => one !== ""),
  );
  const said = actions.filter((one) => one !== undefined).join("; ");
  return said === "" ? ["what", "call", "reason", "by", "pending"].map((key) => text(record, key)).filter((one) => one !== "").join(", ") : said;
}

/** Formats a time in the local time zone, to the second. */
export function local(time: string): string {
  const at = new Date(time);
  const two = (number: number) => String(number).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** Maximum number of changed files named in one line. */
const NAMED = 3;

/** Returns the files that a watched run changed, in one line; empty for any other record. */
export function changes(record: Json): string {
  if (text(record, "kind") !== "changes") return "";
  const names = (record["names"] ?? {}) as Json;
  const below = `${text(record, "workspace")}/`;
  const of = (word: string) => {
    const count = record[word];
    if (typeof count !== "number" || count === 0) return [];
    const paths = (Array.isArray(names[word]) ? names[word] : []).filter((path) => typeof path === "string");
    const shown = paths.slice(0, NAMED).map((path) => (path.startsWith(below) ? path.slice(below.length) : path));
    return [`${count} ${word}: ${shown.join(", ")}${count > shown.length ? ", …" : ""}`];
  };
  return ["deleted", "replaced", "renamed", "created", "missed"].flatMap(of).join("; ");
}

/** Returns the answer of auto-pilot's model in one line; empty if it was not asked. */
export function judged(record: Json): string {
  const judge = record["judge"];
  if (typeof judge !== "object" || judge === null) return "";
  const of = judge as Json;
  const sure = typeof of["confidence"] === "number" ? `, ${Math.round(of["confidence"] * 100)} % sure` : "";
  const time = typeof of["ms"] === "number" ? `, ${of["ms"]} ms` : "";
  const why = text(of, "reason") || text(of, "why");
  return `${text(of, "outcome")} by ${text(of, "judge")}${sure}${time}${why === "" ? "" : `: ${why}`}`;
}

export function decision(record: Json): string {
  const word = text(record, "decision");
  if (text(record, "kind") !== "call") return text(record, "kind");
  if (word === "deny") return "block";
  return word === "pass" ? ("said" in record ? "warn" : "allow") : word;
}

const CHIPS: [string, string][] = [
  ["All", ""],
  ["Blocked", "kind=call decision=block"],
  ["Asked", "kind=call decision=ask"],
  ["Warned", "kind=call decision=warn"],
  ["Approved", "kind=approval"],
  ["Denied", "kind=denial"],
];

/** Storage key of the searches saved in this browser. */
const KEPT = "reflex searches";

function kept(): string[] {
  try {
    const words: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(words) ? words.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** Downloads the records as JSON lines, in the format of `reflex audit search --json`. */
function save(records: Json[]): void {
  const lines = records.map((record) => `${JSON.stringify(record)}\n`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
  link.download = "reflex-audit.jsonl";
  link.click();
  URL.revokeObjectURL(link.href);
}

export function Records() {
  const [searches, setSearches] = useState(kept);
  const keep = (words: string[]) => {
    setSearches(words);
    try {
      localStorage.setItem(KEPT, JSON.stringify(words));
    } catch {
      // Without storage, the searches last as long as the tab.
    }
  };
  const [asked, setAsked] = useState(() => {
    const id = location.hash.split("/")[2];
    return id === undefined ? "" : decodeURIComponent(id);
  });
  const [records, setRecords] = useState<Json[]>([]);
  const [problem, setProblem] = useState("");
  const [open, setOpen] = useState("");
  const [busy, setBusy] = useState(true);
  useEffect(() => {
    let isMeant = true;
    let late: ReturnType<typeof setTimeout> | undefined;
    setBusy(true);
    const timer = setTimeout(() => {
      api.audit(asked, 200).then(
        (found) => {
          if (!isMeant) return;
          setRecords(found.records);
          setProblem("");
          setBusy(false);
        },
        (error: Error) => {
          if (!isMeant) return;
          // A field that is half typed is no mistake yet.
          late = setTimeout(() => setProblem(error.message), 700);
          setBusy(false);
        },
      );
    }, 150);
    return () => {
      isMeant = false;
      clearTimeout(timer);
      clearTimeout(late);
    };
  }, [asked]);
  return (
    <section aria-busy={busy}>
      <h1>Record</h1>
      <form role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          <span>
            Words, or <code>field=value</code>: <code>agent=codex</code>, <code>decision=block</code>
          </span>
          <input type="search" value={asked} onInput={(event) => setAsked(event.currentTarget.value)} />
        </label>
        <p class="buttons">
          {CHIPS.map(([name, words]) => (
            <button key={name} type="button" class="quiet" aria-pressed={asked === words} onClick={() => setAsked(words)}>
              {name}
            </button>
          ))}
          {searches.map((words) => (
            <button key={words} type="button" class="quiet" aria-pressed={asked === words} onClick={() => setAsked(words)}>
              {words}
            </button>
          ))}
        </p>
        <p class="buttons">
          {asked === "" || CHIPS.some(([, words]) => words === asked) ? null : searches.includes(asked) ? (
            <button type="button" onClick={() => keep(searches.filter((words) => words !== asked))}>
              Forget this search
            </button>
          ) : (
            <button type="button" onClick={() => keep([...searches, asked])}>
              Keep this search
            </button>
          )}
          <button type="button" disabled={records.length === 0} onClick={() => save(records)}>
            Save as a file
          </button>
        </p>
      </form>
      <p role="alert" class="problem">
        {problem}
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Agent</th>
            <th scope="col">Decision</th>
            <th scope="col">What</th>
          </tr>
        </thead>
        <tbody>
          {records.map((record) => {
            const id = text(record, "id") || String(record["seq"]);
            const word = decision(record);
            return [
              <tr key={id}>
                <td>
                  <time dateTime={text(record, "time")}>{local(text(record, "time"))}</time>
                </td>
                <td>{text(record, "agent")}</td>
                <td>
                  <span class={`mark ${word}`}>{word}</span>
                </td>
                <td>
                  <button class="row" aria-expanded={open === id} onClick={() => setOpen(open === id ? "" : id)}>
                    <code>{subject(record).split("\n")[0]?.slice(0, 160) || "…"}</code>
                  </button>
                </td>
              </tr>,
              open === id ? (
                <tr key={`${id} open`}>
                  <td colSpan={4}>
                    <Detail of={record} />
                  </td>
                </tr>
              ) : null,
            ];
          })}
        </tbody>
      </table>
      {records.length === 0 && !busy ? <p class="empty">No record matches. Without words the newest records are listed.</p> : null}
    </section>
  );
}

function Detail({ of }: { of: Json }) {
  const findings = list(of, "findings") as Finding[];
  return (
    <div class="detail">
      <pre class="call" tabIndex={0} aria-label="The call">
        {subject(of)}
      </pre>
      {findings.length === 0 ? null : (
        <ul>
          {findings.map((finding) => (
            <li key={finding.id}>
              <code>{finding.id}</code> {finding.severity} {finding.message}
            </li>
          ))}
        </ul>
      )}
      {judged(of) === "" ? null : <p>Auto-pilot: {judged(of)}</p>}
      <details>
        <summary>The whole record</summary>
        <pre tabIndex={0}>{JSON.stringify(of, null, 2)}</pre>
      </details>
    </div>
  );
}

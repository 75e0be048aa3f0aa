import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import * as api from "./api";
import type { Answer, Call } from "./api";
import {
  age,
  answering,
  beside,
  call,
  chosen,
  clock,
  listed,
  opened,
  session,
  settle,
  showNext,
  soonest,
  tell,
  unlocked,
  view,
  waiting,
} from "./state";

/** The form that is open. */
type Draft = "none" | "allow" | "deny" | "edit" | "help";

/** Milliseconds during which a newly shown call ignores answer keys: they were meant for the previous one. */
const SETTLES = 800;

/** Milliseconds between two keys of a person; what comes faster is pasted or typed blindly. */
const BURST = 40;

/** Minimum time to read an approval, in milliseconds; an earlier confirmation is ignored. */
const READS = 400;

/** Milliseconds after which an answer that is being given extends the wait of its hook again. */
const EXTENDS = 5000;

export function Waiting() {
  const calls = waiting.value.calls;
  const [draft, change] = useState<Draft>("none");
  // The call of an open answer stays in view, as it was when the answer was begun, even if it no longer waits.
  const [held, hold] = useState<Call | undefined>();
  const isAnswer = draft === "allow" || draft === "deny" || draft === "edit";
  const one = isAnswer ? held : call.value;
  const shownSince = useRef(0);
  const setDraft = (next: Draft) => {
    if (next !== "none" && !isAnswer) hold(call.value);
    change(next);
    answering.value = next === "allow" || next === "deny" || next === "edit";
    if (isAnswer && !answering.value) settle();
  };
  const lastKey = useRef(0);
  const [words, setWords] = useState("");
  const [risk, setRisk] = useState("");
  const choose = (id: string | undefined) => {
    if (id === undefined) return;
    chosen.value = id;
    change("none");
    answering.value = false;
  };
  useEffect(() => {
    shownSince.current = Date.now();
  }, [one?.id, one?.exact]);
  useEffect(() => () => void (answering.value = false), []);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (view.value !== "waiting" || event.ctrlKey || event.metaKey || event.altKey) return;
      const inField = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
      const isBurst = event.timeStamp - lastKey.current < BURST;
      lastKey.current = event.timeStamp;
      if (event.key === "Escape") setDraft("none");
      else if (inField) return;
      else if (event.key === "j") choose(beside(1));
      else if (event.key === "k") choose(beside(-1));
      else if (event.key === "?") setDraft("help");
      else if (isBurst || draft !== "none" || Date.now() - shownSince.current < SETTLES) return;
      else if (event.key === "a" && one?.waits === true && one.obstacle === null) setDraft("allow");
      else if (event.key === "d" && one !== undefined) setDraft("deny");
      else if (event.key === "e" && typeof one?.command === "string") setDraft("edit");
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [one, draft]);
  if (!listed.value) return <section aria-busy="true" />;
  const wanted = words.toLowerCase().split(/\s+/);
  const fits = (row: Call) => {
    const text = `${row.id} ${row.agent} ${row.tool} ${row.risk} ${row.workspace} ${row.text} ${row.findings.join(" ")}`;
    return (risk === "" || row.risk === risk) && wanted.every((word) => text.toLowerCase().includes(word));
  };
  const now = calls.filter((row) => row.waits && fits(row));
  const earlier = calls.filter((row) => !row.waits && fits(row));
  return (
    <div class={opened.value ? "split calling opened" : "split calling"}>
      <div class="list">
        <h1 class="narrow">Waiting</h1>
        <section aria-label="Waiting now">
          <h2>Waiting now ({now.length})</h2>
          <Rows of={now} shown={one} choose={choose} />
        </section>
        {calls.some((row) => !row.waits) ? (
          <details class="earlier">
            <summary>Stopped earlier ({earlier.length})</summary>
            <Filter words={words} setWords={setWords} risk={risk} setRisk={setRisk} />
            <Clear />
            <Rows of={earlier} shown={one} choose={choose} />
          </details>
        ) : null}
        {waiting.value.count > calls.length ? <p class="more">and {waiting.value.count - calls.length} more</p> : null}
      </div>
      {one === undefined ? (
        <Nothing />
      ) : (
        <article aria-label={`Call ${one.id}`}>
          <p class="back">
            <a href="#/waiting">← All calls</a>
          </p>
          <Story of={calls.find((row) => row.id === one.id && row.exact === one.exact) ?? one} />
          <Choice of={one} draft={draft} setDraft={setDraft} />
        </article>
      )}
    </div>
  );
}

function Nothing() {
  const count = waiting.value.waiting_now;
  return (
    <section class="empty">
      <h1>{count > 0 ? `${count} wait for you` : "Nothing waits"}</h1>
      <p>
        A call that needs your answer shows up here, and its agent waits while this page is open. What was stopped
        earlier can be approved for its next try: open it in the list.
      </p>
    </section>
  );
}

interface Filtered {
  words: string;
  setWords: (words: string) => void;
  risk: string;
  setRisk: (risk: string) => void;
}

function Filter({ words, setWords, risk, setRisk }: Filtered) {
  return (
    <form role="search" onSubmit={(event) => event.preventDefault()}>
      <label>
        Search by agent, rule or words
        <input type="search" value={words} onInput={(event) => setWords(event.currentTarget.value)} />
      </label>
      <label>
        Risk
        <select value={risk} onChange={(event) => setRisk(event.currentTarget.value)}>
          <option value="">any</option>
          {["critical", "high", "medium", "low"].map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
    </form>
  );
}

function Rows({ of, shown, choose }: { of: Call[]; shown: Call | undefined; choose: (id: string) => void }) {
  return (
    <ul class="calls">
      {of.map((row) => (
        <li key={row.id}>
          <a class="call" href={`#/waiting/${row.id}`} aria-current={row.id === shown?.id} onClick={() => choose(row.id)}>
            <span class={`mark ${row.decision}`}>{row.decision === "deny" ? "block" : row.decision}</span>
            <code>{row.text.split("\n")[0]}</code>
            <small>
              {row.agent} · {age(row.time, clock.value)}
              <Left of={row} />
            </small>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Removes what was stopped earlier from the list, after a second click. */
function Clear() {
  const [isAsked, ask] = useState(false);
  const [problem, setProblem] = useState("");
  if (!unlocked.value) return <p class="facts">A yes lets one run when its agent tries it again.</p>;
  const send = () =>
    api.clear().then(
      (done) => tell(done.said),
      (error: Error) => setProblem(error.message),
    );
  return (
    <p class="buttons">
      {isAsked ? (
        <button class="danger" onClick={() => void send().then(() => ask(false))}>
          Clear them; they stay blocked
        </button>
      ) : (
        <button class="quiet" onClick={() => ask(true)}>
          Clear…
        </button>
      )}
      <span role="alert" class="problem">
        {problem}
      </span>
    </p>
  );
}

/** Remaining time that a hook waits. */
function Left({ of }: { of: Call }) {
  const left = Math.ceil((of.until - clock.value) / 1000);
  return of.waits && left > 0 ? <b class="left"> · its hook waits {left} s more</b> : null;
}

/** The text, with the parts that it was stopped for underlined. */
function Marked({ text, guilty }: { text: string; guilty: string[] }) {
  const spans = guilty
    .map((part) => [text.indexOf(part), part.length] as const)
    .filter(([at, length]) => at >= 0 && length > 0)
    .sort((one, other) => one[0] - other[0]);
  const parts = [];
  let end = 0;
  for (const [at, length] of spans) {
    if (at < end) continue;
    parts.push(text.slice(end, at), <mark key={at}>{text.slice(at, at + length)}</mark>);
    end = at + length;
  }
  return (
    <pre class="call" tabIndex={0} aria-label="The call">
      {parts}
      {text.slice(end)}
    </pre>
  );
}

/** The lines that an edit takes away and adds. */
function Diff({ of }: { of: Call }) {
  const kind = (line: string) => (line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : undefined);
  return (
    <pre class="call" tabIndex={0} aria-label="The call">
      {of.diff.split("\n").map((line, at) => (
        <span key={at} class={kind(line)}>
          {`${line}\n`}
        </span>
      ))}
    </pre>
  );
}

function Story({ of }: { of: Call }) {
  const lists: [string, string[]][] = [
    ["Why it was stopped", of.reasons],
    ["It would", of.effects],
    ["What is kept", of.keeping === null ? [] : [of.keeping]],
    ["Its parts", of.parts.length > 1 ? of.parts : []],
    ["A yes holds only while these stay as they are", of.bound],
    ["Asked for by", of.appeals.map((appeal) => `${appeal.by}, because: ${appeal.because}`)],
  ];
  return (
    <>
      <h1>
        {of.agent} <small>in {of.cwd}</small>
      </h1>
      <p class="facts">
        {of.risk === "" || of.risk === "none" ? null : <span class={`mark ${of.risk}`}>{of.risk} risk</span>}{" "}
        {of.tool === "" ? null : `${of.tool} · `}
        <code>{of.id}</code> · {age(of.time, clock.value)}
        {of.task === "" ? null : ` · task ${of.task}`}
        {of.session === "" ? null : ` · session ${of.session.slice(0, 8)}`}
        {of.core ? " · core rule: once only" : null}
        <Left of={of} />
      </p>
      {of.diff === "" ? <Marked text={of.text} guilty={of.guilty} /> : <Diff of={of} />}
      {lists.map(([title, items]) =>
        items.length === 0 ? null : (
          <section key={title}>
            <h2>{title}</h2>
            <ul>
              {items.map((item) => (
                <li key={item}>{item}</li>
              ))}
            </ul>
          </section>
        ),
      )}
      <p class="facts">
        Rules: {of.findings.join(", ")} · <a href={`#/record/${of.record}`}>its record</a>
      </p>
    </>
  );
}

function Choice({ of, draft, setDraft }: { of: Call; draft: Draft; setDraft: (draft: Draft) => void }) {
  const [problem, setProblem] = useState("");
  useEffect(() => setProblem(""), [draft]);
  const can = typeof session.value === "object" && session.value.answers;
  const isAnswer = can && (draft === "allow" || draft === "deny" || draft === "edit");
  useEffect(() => {
    if (!isAnswer || !of.waits) return undefined;
    const extend = () => void api.extend(of.id).catch(() => undefined);
    extend();
    const timer = setInterval(extend, EXTENDS);
    return () => clearInterval(timer);
  }, [isAnswer, of.id]);
  const send = async (given: Answer, passphrase: string) => {
    try {
      if (!unlocked.value) {
        await api.unlock(passphrase);
        unlocked.value = true;
      }
      tell((await api.answer(given)).said);
      showNext();
      setDraft("none");
    } catch (error) {
      unlocked.value = api.hasKey();
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const back = () => setDraft("none");
  return (
    <section class="choice" aria-label="Your answer">
      <p class="buttons">
        <button
          class={of.waits ? "primary" : "quiet"}
          disabled={!can || of.obstacle !== null}
          onClick={() => setDraft("allow")}
        >
          {of.waits ? "Approve…" : "Approve its next try…"} {of.waits ? <kbd>a</kbd> : null}
        </button>
        <button class="danger" disabled={!can} onClick={() => setDraft("deny")}>
          Deny… <kbd>d</kbd>
        </button>
        <button disabled={!can || of.command === null} onClick={() => setDraft("edit")}>
          Run another command… <kbd>e</kbd>
        </button>
        <button class="quiet" onClick={() => setDraft("help")}>
          Keys <kbd>?</kbd>
        </button>
      </p>
      {of.obstacle === null ? null : <p class="note">It cannot be approved: {of.obstacle}</p>}
      {isAnswer ? <News of={of} /> : null}
      {draft === "allow" && can ? <Allow key={of.exact} of={of} send={send} back={back} /> : null}
      {draft === "deny" && can ? <Deny key={of.exact} of={of} send={send} back={back} /> : null}
      {draft === "edit" && can ? <Edit key={of.exact} of={of} send={send} back={back} /> : null}
      {draft === "help" ? <Help back={back} /> : null}
      <p role="alert" class="problem">
        {problem}
      </p>
    </section>
  );
}

/** What happens while an answer is given: its call, the time that is left, and another call that waits. */
function News({ of }: { of: Call }) {
  const calls = waiting.value.calls;
  const live = calls.find((row) => row.id === of.id && row.exact === of.exact);
  const next = soonest(calls.filter((row) => row.id !== of.id));
  const isOver = live !== undefined && of.waits && !live.waits;
  return (
    <>
      <p class="facts">
        Your answer to <code>{title(of)}</code>
        {live === undefined ? null : <Left of={live} />}
      </p>
      {live === undefined ? <p class="note">This call waits no more: it was answered elsewhere, or came again as another.</p> : null}
      {isOver ? <p class="note">Too late for this try: its hook has ended. Your answer counts at its next try.</p> : null}
      {next === undefined ? null : (
        <p class="note" role="status">
          Waits too: <code>{title(next)}</code>
        </p>
      )}
    </>
  );
}

/** The beginning of a call, for a sentence about it. */
function title(of: Call): string {
  const line = of.text.split("\n")[0] ?? "";
  return line.length > 60 || line.length < of.text.trimEnd().length ? `${line.slice(0, 60)}…` : line;
}

interface Form {
  of: Call;
  send: (given: Answer, passphrase: string) => Promise<void>;
  back: () => void;
}

/** The fields of an answer that name its call, as it was shown. */
const named = (of: Call) => ({ id: of.id, exact: of.exact, until: of.waits ? of.until : 0 });

interface Asked {
  read: (data: FormData) => Answer;
  button: string;
  letter?: string;
  /** Whether the button sends an answer, which takes the passphrase. */
  isSent?: boolean;
  children: preact.ComponentChildren;
}

/** A form that sends the result of `read`. It asks for the passphrase once per tab. */
function Asking(props: Form & Asked) {
  const form = useRef<HTMLFormElement>(null);
  const [busy, setBusy] = useState(false);
  useLayoutEffect(() => {
    // Focus the first field, or else the form. Never a button: a stray Enter must not answer.
    (form.current?.querySelector<HTMLElement>("[data-first], input, textarea") ?? form.current)?.focus();
  }, []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (form.current === null || busy) return;
    const data = new FormData(form.current);
    setBusy(true);
    await props.send(props.read(data), String(data.get("passphrase") ?? ""));
    setBusy(false);
  };
  return (
    <form ref={form} tabIndex={-1} onSubmit={(event) => void submit(event)}>
      {props.children}
      {unlocked.value || props.isSent === false ? null : (
        <label>
          Passphrase for your answer to {title(props.of)}
          <input type="password" name="passphrase" required autocomplete="off" data-first />
        </label>
      )}
      <p class="buttons">
        <button class="primary" aria-busy={busy}>
          {props.button} {props.letter === undefined ? null : <kbd>{props.letter}</kbd>}
        </button>
        <button type="button" class="quiet" onClick={props.back}>
          Not now
        </button>
      </p>
    </form>
  );
}

function Allow({ of, send, back }: Form) {
  const [scope, setScope] = useState("once");
  const [length, setLength] = useState("");
  const [grant, setGrant] = useState("");
  const known = of.scopes.find((one) => one.scope === scope);
  useEffect(() => {
    if (length === "") {
      setGrant(known?.grant ?? known?.problem ?? "");
      return undefined;
    }
    let isMeant = true;
    const given: Answer = { ...named(of), decision: "allow", scope, for: length, reason: "…" };
    api.preview(given).then(
      (said) => isMeant && setGrant(said.grant),
      (error: Error) => isMeant && setGrant(error.message),
    );
    return () => {
      isMeant = false;
    };
  }, [scope, length, of]);
  const read = (data: FormData): Answer => ({
    ...named(of),
    decision: "allow",
    scope,
    for: length,
    reason: String(data.get("reason") ?? ""),
  });
  useEffect(() => {
    const opened = Date.now();
    const press = (event: KeyboardEvent) => {
      const inField = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
      if (inField || event.ctrlKey || event.metaKey || event.altKey) return;
      const isMeant = Date.now() - opened > READS;
      if (event.key === "s") document.getElementById("scope")?.focus();
      else if (event.key === "y" && isMeant && of.waits) document.querySelector<HTMLButtonElement>(".choice form button.primary")?.click();
      // Any other character closes the form, even within a word that contains these two.
      else if (event.key.length === 1 && event.key !== " ") back();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return (
    <Asking of={of} send={send} back={back} read={read} {...(of.waits ? { button: "Let it run", letter: "y" } : { button: "Let its next try run" })}>
      {of.waits ? null : (
        <label>
          No hook waits for it. Its id, {of.id}, to approve its next try
          <input name="id" required pattern={of.id} title={of.id} autocomplete="off" />
        </label>
      )}
      <label>
        For
        <select id="scope" value={scope} onChange={(event) => setScope(event.currentTarget.value)}>
          {of.scopes.map((one) => (
            <option key={one.scope} value={one.scope} disabled={one.problem !== null}>
              {one.scope} ({one.problem ?? one.usual})
            </option>
          ))}
        </select>
      </label>
      {scope === "once" ? null : (
        <>
          <label>
            How long (empty: {known?.usual})
            <input name="for" value={length} placeholder="10m, 2h" onInput={(event) => setLength(event.currentTarget.value)} />
          </label>
          <label>
            Why
            <input name="reason" required maxLength={400} />
          </label>
        </>
      )}
      <p class="grant">{grant}</p>
    </Asking>
  );
}

function Deny({ of, send, back }: Form) {
  const read = (data: FormData): Answer => ({
    ...named(of),
    decision: "deny",
    message: String(data.get("message") ?? ""),
  });
  return (
    <Asking of={of} send={send} back={back} read={read} button="Deny">
      <label>
        Tell the agent (may stay empty)
        <input name="message" maxLength={400} />
      </label>
    </Asking>
  );
}

/** Another command for the agent: its verdict is shown before it is sent. */
function Edit({ of, send, back }: Form) {
  const [verdict, setVerdict] = useState("");
  const read = (data: FormData): Answer => ({
    ...named(of),
    decision: "deny",
    command: String(data.get("command") ?? ""),
  });
  const judge = async (given: Answer) => {
    setVerdict(await api.preview(given).then((said) => said.grant, (error: Error) => `!${error.message}`));
  };
  const isRefused = verdict.startsWith("!");
  const isJudged = verdict !== "" && !isRefused;
  return (
    <Asking
      of={of}
      send={isJudged ? send : judge}
      back={back}
      read={read}
      button={isJudged ? "Deny, and have it run this" : "Judge this command"}
      isSent={isJudged}
    >
      <label>
        The command the agent is told to run; it is judged first
        <textarea name="command" rows={3} required onInput={() => setVerdict("")}>
          {of.command}
        </textarea>
      </label>
      {verdict === "" ? null : (
        <p class={isRefused ? "problem" : "grant"} role="status">
          {verdict.replace(/^!/, "")}
        </p>
      )}
    </Asking>
  );
}

const KEYS: [string, string][] = [
  ["j k", "next and previous call"],
  ["a, then y", "approve a call that waits"],
  ["s", "scope of the approval, once it is open"],
  ["d", "deny, with a word to the agent"],
  ["e", "have another command run in its place"],
  ["Esc", "back"],
];

function Help({ back }: { back: () => void }) {
  return (
    <div class="help">
      <dl>
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button class="quiet" onClick={back}>
        Close
      </button>
    </div>
  );
}

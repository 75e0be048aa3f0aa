import { useEffect } from "preact/hooks";
import * as api from "./api";
import { Agents } from "./agents";
import { Door } from "./door";
import { Policy } from "./policy";
import { Records } from "./record";
import { Rules } from "./rules";
import { ahead, chosen, clock, online, opened, said, session, take, unlocked, view, waiting, type View } from "./state";
import { Timeline } from "./timeline";
import { Try } from "./try";
import { Waiting } from "./waiting";

const VIEWS: [View, string][] = [
  ["waiting", "Waiting"],
  ["timeline", "Timeline"],
  ["record", "Record"],
  ["try", "Try a command"],
  ["rules", "Rules"],
  ["policy", "Policy"],
  ["agents", "Agents"],
];

function route(): void {
  // The address of a restarted server, opened in this tab.
  if (location.hash.startsWith("#code=")) {
    void begin();
    return;
  }
  const [name, id] = location.hash.replace(/^#\/?/, "").split("/");
  view.value = VIEWS.find(([one]) => one === name)?.[0] ?? "waiting";
  opened.value = view.value === "waiting" && id !== undefined && id !== "";
  // The result of an answer belongs to the list.
  if (view.value !== "waiting") said.value = "";
  if (opened.value && id !== undefined) chosen.value = id;
}

/** Logs in with the one-time code after `#`. Removes it from the address first, so that it is not stored. */
async function begin(): Promise<void> {
  const code = /^#code=([a-z0-9]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) {
    history.replaceState(null, "", location.pathname);
    await api.enter({ code }).catch(() => undefined);
  }
  await look();
}

export async function look(): Promise<void> {
  try {
    session.value = await api.session();
  } catch (problem) {
    session.value = "out";
    if (problem instanceof api.Problem && problem.status === 0) online.value = false;
  }
}

export function App() {
  useEffect(() => {
    void begin();
    if (!location.hash.startsWith("#code=")) route();
    addEventListener("hashchange", route);
    const timer = setInterval(() => (clock.value = Date.now() + ahead.value), 1000);
    return () => clearInterval(timer);
  }, []);
  const isIn = typeof session.value === "object";
  useEffect(() => (isIn ? api.follow(take, (yes) => (online.value = yes)) : undefined), [isIn]);
  if (session.value === "unknown") return <main aria-busy="true" />;
  if (session.value === "out") return <Door />;
  const count = waiting.value.waiting_now;
  return (
    <>
      <header>
        <span class="brand">
          <img src="/icon.svg" alt="" width="20" height="20" /> Reflex
        </span>
        <nav aria-label="Views">
          {VIEWS.map(([name, title]) => (
            <a key={name} href={`#/${name}`} aria-current={view.value === name ? "page" : undefined}>
              {title}
              {name === "waiting" && count > 0 ? <b class="count">{count}</b> : null}
            </a>
          ))}
        </nav>
        {unlocked.value ? (
          <button class="quiet" onClick={() => void api.lock().then(() => (unlocked.value = false))}>
            Lock this tab
          </button>
        ) : null}
      </header>
      {online.value ? null : (
        <p class="banner" role="alert">
          Reflex does not answer. Start <code>reflex ui</code> again; nothing that waits is lost.
        </p>
      )}
      {session.value.answers ? null : (
        <p class="banner" role="note">
          {session.value.why}
        </p>
      )}
      <p class="said" role="status">
        {said.value}
      </p>
      <main>
        {view.value === "waiting" ? <Waiting /> : null}
        {view.value === "timeline" ? <Timeline /> : null}
        {view.value === "record" ? <Records /> : null}
        {view.value === "try" ? <Try /> : null}
        {view.value === "rules" ? <Rules /> : null}
        {view.value === "policy" ? <Policy /> : null}
        {view.value === "agents" ? <Agents /> : null}
      </main>
    </>
  );
}

import { useEffect, useState } from "preact/hooks";
import * as api from "./api";
import type { Json } from "./api";
import { local } from "./record";

interface Surface {
  state: string;
  [key: string]: unknown;
}

interface Agent {
  agent: string;
  settings: string;
  state: string;
  problem: string | null;
  lapsed: string | null;
  banner: string | null;
  surfaces: Record<string, Surface | string>;
}

/** Agents, and the surfaces that the guard was observed to cover. */
export function Agents() {
  const [found, setFound] = useState<Json | undefined>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const look = () => api.status().then(setFound, (error: Error) => setProblem(error.message));
    void look();
    const timer = setInterval(() => void look(), 10_000);
    return () => clearInterval(timer);
  }, []);
  const agents = (found?.["agents"] ?? []) as Agent[];
  const alarms = (found?.["alarms"] ?? []) as { time: string; text: string }[];
  const mode = found?.["mode"] as string | null | undefined;
  const off = found?.["off"] as { until: string; by: string; reason: string } | null | undefined;
  return (
    <section aria-busy={found === undefined}>
      <h1>Agents</h1>
      <p role="alert" class="problem">
        {problem}
      </p>
      {mode ? (
        <p class="banner">
          Mode {mode}. <code>reflex mode off</code> ends it.
        </p>
      ) : null}
      {off ? (
        <p class="banner" role="alert">
          The guard is off until {local(off.until)}, by {off.by}: {off.reason}. <code>reflex off --end</code> turns it on.
        </p>
      ) : null}
      {alarms.map((alarm) => (
        <p class="banner" key={alarm.time + alarm.text}>
          {alarm.text}
        </p>
      ))}
      {found !== undefined && agents.length === 0 ? (
        <p class="empty">
          No agent that Reflex knows is installed here. <code>reflex init</code> puts the hook into those that are.
        </p>
      ) : null}
      {agents.map((agent) => (
        <article key={agent.agent} class="agent">
          <h2>
            {agent.agent} <span class={`mark ${agent.problem === null ? "allow" : "block"}`}>{agent.state}</span>
          </h2>
          <p class="facts">{agent.settings}</p>
          {agent.problem === null ? null : <p class="note">{agent.problem}</p>}
          {agent.lapsed === null ? null : <p class="note">{agent.lapsed}</p>}
          <ul class="surfaces">
            {Object.entries(agent.surfaces).map(([name, surface]) => {
              const state = typeof surface === "string" ? surface : surface.state;
              return (
                <li key={name}>
                  <b>{name}</b> <span class={`mark ${state.toLowerCase()}`}>{state}</span>
                </li>
              );
            })}
          </ul>
        </article>
      ))}
    </section>
  );
}

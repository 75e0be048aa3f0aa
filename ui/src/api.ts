// Client for the server's API. Only this module holds the key that this tab answers with.

export interface Scope {
  scope: string;
  usual: string;
  grant: string | null;
  problem: string | null;
}

export interface Call {
  id: string;
  exact: string;
  record: string;
  time: number;
  until: number;
  /** Whether a hook waits for the answer now. */
  waits: boolean;
  decision: string;
  core: boolean;
  tool: string;
  risk: string;
  /** What is kept of the files that the call would lose; null if it would lose none. */
  keeping: string | null;
  /** What an edit would change, line by line; empty for other calls. */
  diff: string;
  agent: string;
  session: string;
  task: string;
  workspace: string;
  cwd: string;
  text: string;
  guilty: string[];
  parts: string[];
  effects: string[];
  bound: string[];
  reasons: string[];
  findings: string[];
  appeals: { by: string; because: string; time: number }[];
  command: string | null;
  obstacle: string | null;
  scopes: Scope[];
}

export interface Waiting {
  now: number;
  /** Number of calls whose hook waits now. */
  waiting_now: number;
  /** Number of all calls, those stopped earlier included. */
  count: number;
  calls: Call[];
}

export interface Session {
  version: string;
  person: string;
  answers: boolean;
  why: string;
}

export interface Answer {
  id: string;
  exact: string;
  /** The `until` of the call when the answer was begun. */
  until: number;
  decision: "allow" | "deny";
  scope?: string;
  for?: string;
  reason?: string;
  message?: string;
  command?: string;
}

export interface Finding {
  id?: string;
  severity?: string;
  reason?: string;
  [key: string]: unknown;
}

export type Json = { [key: string]: unknown };

/** A failed request. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

let key = "";

export const hasKey = (): boolean => key !== "";

async function ask(path: string, body?: object): Promise<unknown> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers["content-type"] = "application/json";
  if (key !== "") headers["x-reflex-tab"] = key;
  let answer: Response;
  try {
    const init: RequestInit = { headers, credentials: "same-origin" };
    if (body !== undefined) {
      init.method = "POST";
      init.body = JSON.stringify(body);
    }
    answer = await fetch(path, init);
  } catch {
    throw new Problem(0, "Reflex does not answer: start `reflex ui` again.");
  }
  const text = await answer.text();
  let said: unknown = {};
  try {
    said = text === "" ? {} : JSON.parse(text);
  } catch {
    said = { problem: text };
  }
  if (!answer.ok) {
    if (answer.status === 423) key = "";
    throw new Problem(answer.status, String((said as Json)["problem"] ?? answer.statusText));
  }
  return said;
}

export const session = (): Promise<Session> => ask("/api/session") as Promise<Session>;

export const enter = (proof: { code: string } | { passphrase: string }): Promise<unknown> => ask("/api/session", proof);

export async function unlock(passphrase: string): Promise<void> {
  const said = (await ask("/api/unlock", { passphrase })) as { tab: string };
  key = said.tab;
}

export async function lock(): Promise<void> {
  await ask("/api/lock", {}).catch(() => undefined);
  key = "";
}

export const answer = (given: Answer): Promise<{ said: string }> =>
  ask("/api/hook/approve", given) as Promise<{ said: string }>;

/** Gives a person who has begun an answer time to finish it, if a hook waits for it. */
export const extend = (id: string): Promise<{ until: number }> =>
  ask("/api/hook/wait", { id }) as Promise<{ until: number }>;

export const preview = (given: Answer): Promise<{ grant: string }> =>
  ask("/api/hook/preview", given) as Promise<{ grant: string }>;

export const clear = (): Promise<{ said: string }> => ask("/api/hook/clear", {}) as Promise<{ said: string }>;

export const audit = (text: string, limit: number): Promise<{ records: Json[] }> =>
  ask(`/api/audit?${new URLSearchParams({ text, limit: String(limit) })}`) as Promise<{ records: Json[] }>;

export const status = (): Promise<Json> => ask("/api/status") as Promise<Json>;

export const explain = (question: { command: string; cwd: string; agent: string; mode: string }): Promise<Json> =>
  ask("/api/explain", question) as Promise<Json>;

export const rules = (): Promise<Json> => ask("/api/rules") as Promise<Json>;

export const policy = (): Promise<Json> => ask("/api/policy") as Promise<Json>;

export const backtest = (text: string): Promise<Json> => ask("/api/policy/backtest", { policy: text }) as Promise<Json>;

/** Subscribes to the waiting calls, reconnecting when the server is back. Returns a function that unsubscribes. */
export function follow(take: (waiting: Waiting) => void, online: (yes: boolean) => void): () => void {
  const source = new EventSource("/api/events");
  source.addEventListener("waiting", (event) => {
    online(true);
    take(JSON.parse((event as MessageEvent<string>).data) as Waiting);
  });
  source.addEventListener("open", () => online(true));
  source.addEventListener("error", () => online(false));
  return () => source.close();
}

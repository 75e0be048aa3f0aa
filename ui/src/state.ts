// State shared by all views.
import { computed, signal } from "@preact/signals";
import type { Call, Session, Waiting } from "./api";

export type View = "waiting" | "timeline" | "record" | "try" | "rules" | "policy" | "agents";

export const session = signal<Session | "out" | "unknown">("unknown");
export const waiting = signal<Waiting>({ now: 0, waiting_now: 0, count: 0, calls: [] });
/** Whether the list has arrived. From then on, hooks wait for this page. */
export const listed = signal(false);
/** Milliseconds by which the server's clock is ahead of ours. */
export const ahead = signal(0);
export const online = signal(true);
export const chosen = signal("");
/** Whether the person opened the call; on a narrow screen it then has the screen for itself. */
export const opened = signal(false);
/** Whether an answer was begun: nothing takes the screen from it. */
export const answering = signal(false);
export const unlocked = signal(false);
export const view = signal<View>("waiting");
/** Result of the last answer. */
export const said = signal("");
export const clock = signal(Date.now());

let fading: ReturnType<typeof setTimeout> | undefined;

/** Shows the result of an answer for 8 seconds. */
export function tell(words: string): void {
  said.value = words;
  clearTimeout(fading);
  fading = setTimeout(() => (said.value = ""), 8000);
}

/** The call on the screen: the selected one, or none. */
export const call = computed<Call | undefined>(() => waiting.value.calls.find((one) => one.id === chosen.value));

/** Returns the waiting call whose hook gives up first. */
export function soonest(calls: Call[]): Call | undefined {
  return calls.filter((one) => one.waits).sort((one, other) => one.until - other.until)[0];
}

/** Takes a new list. A call that begins to wait takes the screen, unless an answer was begun. */
export function take(list: Waiting): void {
  const old = waiting.value.calls;
  ahead.value = list.now - Date.now();
  waiting.value = list;
  listed.value = true;
  document.title = list.waiting_now > 0 ? `(${list.waiting_now}) Reflex` : "Reflex";
  if (answering.value) return;
  const arrived = list.calls.filter((one) => one.waits && !old.some((known) => known.id === one.id && known.waits));
  if (arrived.length > 0 && call.value?.waits !== true) {
    said.value = "";
    select(soonest(arrived));
  } else if (chosen.value !== "" && (call.value === undefined || !(call.value.waits || opened.value))) {
    select(soonest(list.calls));
  }
}

/** Shows this call, or none. */
function select(one: Call | undefined): void {
  chosen.value = one?.id ?? "";
  opened.value = false;
  if (location.hash.startsWith("#/waiting/")) history.replaceState(null, "", "#/waiting");
}

/** Shows the next call that waits, or none, after the answer to the one on the screen. */
export function showNext(): void {
  select(soonest(waiting.value.calls.filter((one) => one.id !== chosen.value)));
}

/** Leaves a call that waits no more for one that does: what began to wait during an answer did not take the screen. */
export function settle(): void {
  const next = soonest(waiting.value.calls);
  if (call.value?.waits !== true && (next !== undefined || !opened.value)) select(next);
}

/** Returns the id of the call `by` rows below the selected one in its group, clamped to the group. */
export function beside(by: number): string | undefined {
  const calls = waiting.value.calls.filter((one) => one.waits === (call.value?.waits ?? true));
  const at = calls.findIndex((one) => one.id === call.value?.id);
  return calls[Math.min(Math.max(at + by, 0), calls.length - 1)]?.id;
}

export function age(time: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - time) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

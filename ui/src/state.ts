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
/** Whether the call has the screen for itself, where both do not fit beside each other. */
export const opened = signal(false);
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

export const call = computed<Call | undefined>(
  () => waiting.value.calls.find((one) => one.id === chosen.value) ?? waiting.value.calls[0],
);

export function take(list: Waiting): void {
  ahead.value = list.now - Date.now();
  const at = waiting.value.calls.findIndex((one) => one.id === chosen.value);
  waiting.value = list;
  listed.value = true;
  // Later calls do not change the selection; what follows takes the place of a call that is gone.
  if (!list.calls.some((one) => one.id === chosen.value)) {
    const next = list.calls[Math.min(Math.max(at, 0), list.calls.length - 1)];
    chosen.value = next?.id ?? "";
    if (at >= 0) opened.value = false;
  }
  document.title = list.waiting_now > 0 ? `(${list.waiting_now}) Reflex` : "Reflex";
}

/** Returns the id of the call `by` rows below the selected one, clamped to the list. */
export function beside(by: number): string | undefined {
  const calls = waiting.value.calls;
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

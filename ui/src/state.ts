// State shared by all views.
import { computed, signal } from "@preact/signals";
import type { Call, Session, Waiting } from "./api";

export type View = "waiting" | "timeline" | "record" | "try" | "rules" | "policy" | "agents";

export const session = signal<Session | "out" | "unknown">("unknown");
export const waiting = signal<Waiting>({ now: 0, count: 0, calls: [] });
/** Whether the list has arrived. From then on, hooks wait for this page. */
export const listed = signal(false);
/** Milliseconds by which the server's clock is ahead of ours. */
export const ahead = signal(0);
export const online = signal(true);
export const chosen = signal("");
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
  waiting.value = list;
  listed.value = true;
  // Later calls do not change the selection.
  if (!list.calls.some((one) => one.id === chosen.value)) chosen.value = list.calls[0]?.id ?? "";
  document.title = list.count > 0 ? `(${list.count}) Reflex` : "Reflex";
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

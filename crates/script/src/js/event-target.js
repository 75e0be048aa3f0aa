// Events that are sent to whoever listens, and signals that end work early.
(() => {
  globalThis.Event ??= class Event {
    #stopped = false;
    #prevented = false;
    constructor(type, { bubbles = false, cancelable = false, composed = false } = {}) {
      Object.assign(this, { bubbles, cancelable, composed, target: null, currentTarget: null, timeStamp: 0 });
      Object.defineProperty(this, "type", { value: String(type), enumerable: true });
    }
    get defaultPrevented() {
      return this.#prevented;
    }
    preventDefault() {
      this.#prevented ||= this.cancelable;
    }
    stopPropagation() {}
    stopImmediatePropagation() {
      this.#stopped = true;
    }
    static stops(event) {
      return #stopped in event && event.#stopped;
    }
  };
  const { stops } = globalThis.Event;
  delete globalThis.Event.stops;
  globalThis.CustomEvent ??= class CustomEvent extends globalThis.Event {
    constructor(type, options = {}) {
      super(type, options);
      this.detail = options.detail ?? null;
    }
  };
  globalThis.EventTarget ??= class EventTarget {
    #listeners = [];
    addEventListener(type, listener, options) {
      const once = typeof options === "object" && options !== null && Boolean(options.once);
      const known = this.#listeners.some((one) => one.type === type && one.listener === listener);
      if (listener && !known && !options?.signal?.aborted) this.#listeners.push({ type, listener, once });
      options?.signal?.addEventListener("abort", () => this.removeEventListener(type, listener));
    }
    removeEventListener(type, listener) {
      this.#listeners = this.#listeners.filter((one) => one.type !== type || one.listener !== listener);
    }
    dispatchEvent(event) {
      event.target = event.currentTarget = this;
      for (const one of [...this.#listeners]) {
        if (one.type !== event.type || !this.#listeners.includes(one)) continue;
        if (one.once) this.removeEventListener(one.type, one.listener);
        if (typeof one.listener === "function") one.listener.call(this, event);
        else one.listener.handleEvent?.(event);
        if (stops(event)) break;
      }
      event.currentTarget = null;
      return !event.defaultPrevented;
    }
  };
  const error = (name, message) =>
    typeof DOMException === "function" ? new DOMException(message, name) : Object.assign(new Error(message), { name });
  const abort = (signal, reason) => {
    if (signal.aborted) return;
    Object.assign(signal, { aborted: true, reason: reason ?? error("AbortError", "This operation was aborted") });
    const event = new globalThis.Event("abort");
    signal.onabort?.(event);
    signal.dispatchEvent(event);
  };
  globalThis.AbortSignal ??= class AbortSignal extends globalThis.EventTarget {
    aborted = false;
    reason = undefined;
    onabort = null;
    throwIfAborted() {
      if (this.aborted) throw this.reason;
    }
    static abort(reason) {
      const signal = new AbortSignal();
      abort(signal, reason);
      return signal;
    }
    // Where there are timers, time may come to an end.
    static timeout(delay) {
      const signal = new AbortSignal();
      globalThis.setTimeout?.(() => abort(signal, error("TimeoutError", "The operation was aborted due to timeout")), delay);
      return signal;
    }
    static any(signals) {
      const whole = new AbortSignal();
      for (const signal of signals) {
        if (signal.aborted) abort(whole, signal.reason);
        else signal.addEventListener("abort", () => abort(whole, signal.reason), { once: true });
      }
      return whole;
    }
  };
  globalThis.AbortController ??= class AbortController {
    signal = new globalThis.AbortSignal();
    abort(reason) {
      abort(this.signal, reason);
    }
  };
})();

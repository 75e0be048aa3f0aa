// `node:events`.
const listed = (emitter, name) => (emitter._events[name] ??= []);
class EventEmitter {
  constructor() {
    this._events = { __proto__: null };
  }
  static init(emitter) {
    if (!Object.hasOwn(emitter, "_events") || !emitter._events) emitter._events = { __proto__: null };
  }
  addListener(name, listener) {
    return this.on(name, listener);
  }
  on(name, listener) {
    return added(this, name, listener, "push");
  }
  prependListener(name, listener) {
    return added(this, name, listener, "unshift");
  }
  once(name, listener) {
    return this.on(name, onceOf(this, name, listener));
  }
  prependOnceListener(name, listener) {
    return this.prependListener(name, onceOf(this, name, listener));
  }
  off(name, listener) {
    EventEmitter.init(this);
    const list = this._events[name] ?? [];
    const at = list.findLastIndex((one) => one === listener || one.listener === listener);
    if (at < 0) return this;
    // Whoever is being told keeps the list as it was.
    this._events[name] = list.toSpliced(at, 1);
    if (this._events[name].length === 0) delete this._events[name];
    if (this._events.removeListener) this.emit("removeListener", name, listener);
    return this;
  }
  removeListener(name, listener) {
    return this.off(name, listener);
  }
  removeAllListeners(name) {
    EventEmitter.init(this);
    if (name === undefined) this._events = { __proto__: null };
    else delete this._events[name];
    return this;
  }
  emit(name, ...words) {
    EventEmitter.init(this);
    const list = this._events[name];
    if (!list || list.length === 0) {
      if (name !== "error") return false;
      if (words[0] instanceof Error) throw words[0];
      throw Object.assign(new Error(`Unhandled error. (${String(words[0])})`), { code: "ERR_UNHANDLED_ERROR", context: words[0] });
    }
    for (const listener of [...list]) listener.apply(this, words);
    return true;
  }
  listenerCount(name) {
    EventEmitter.init(this);
    return this._events[name]?.length ?? 0;
  }
  listeners(name) {
    return this.rawListeners(name).map((one) => one.listener ?? one);
  }
  rawListeners(name) {
    EventEmitter.init(this);
    return [...(this._events[name] ?? [])];
  }
  eventNames() {
    EventEmitter.init(this);
    return Reflect.ownKeys(this._events);
  }
  setMaxListeners() {
    return this;
  }
  getMaxListeners() {
    return EventEmitter.defaultMaxListeners;
  }
}
const added = (emitter, name, listener, how) => {
  if (typeof listener !== "function") {
    throw Object.assign(new TypeError('The "listener" argument must be of type function.'), { code: "ERR_INVALID_ARG_TYPE" });
  }
  EventEmitter.init(emitter);
  if (emitter._events.newListener) emitter.emit("newListener", name, listener.listener ?? listener);
  emitter._events[name] = [...listed(emitter, name)];
  emitter._events[name][how](listener);
  return emitter;
};
const onceOf = (emitter, name, listener) => {
  if (typeof listener !== "function") return listener;
  const wrapped = function (...words) {
    emitter.off(name, wrapped);
    return listener.apply(this, words);
  };
  return Object.assign(wrapped, { listener });
};
// Older code extends it by calling it.
function Callable() {
  EventEmitter.init(this);
}
Object.setPrototypeOf(Callable, EventEmitter);
Object.defineProperty(Callable, "name", { value: "EventEmitter" });
Callable.prototype = EventEmitter.prototype;
Callable.prototype.constructor = Callable;
export const defaultMaxListeners = 10;
export const once = (emitter, name) =>
  new Promise((done, fail) => {
    const failed = (error) => {
      emitter.off(name, told);
      fail(error);
    };
    const told = (...words) => {
      emitter.off("error", failed);
      done(words);
    };
    emitter.once(name, told);
    if (name !== "error") emitter.once("error", failed);
  });
export const setMaxListeners = () => undefined;
export const listenerCount = (emitter, name) => emitter.listenerCount(name);
Object.assign(Callable, { EventEmitter: Callable, once, defaultMaxListeners, setMaxListeners, listenerCount });
EventEmitter.defaultMaxListeners = defaultMaxListeners;
export { Callable as EventEmitter };
export default Callable;

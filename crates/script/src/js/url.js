(() => {
  // Filled in by the library of the host: one reader of URLs for all.
  globalThis.URLSearchParams = class URLSearchParams {
    #pairs = [];
    #changed;
    constructor(from = "", changed) {
      this.#changed = changed;
      const plain = (text) => {
        try {
          return decodeURIComponent(text.replace(/\+/g, " "));
        } catch {
          return text;
        }
      };
      if (typeof from === "string") {
        for (const pair of from.replace(/^\?/, "").split("&").filter(Boolean)) {
          const at = pair.indexOf("=");
          const [name, value] = at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
          this.#pairs.push([plain(name), plain(value)]);
        }
      } else {
        const entries = typeof from[Symbol.iterator] === "function" ? from : Object.entries(from);
        for (const [name, value] of entries) this.#pairs.push([String(name), String(value)]);
      }
    }
    get size() {
      return this.#pairs.length;
    }
    get(name) {
      return this.#pairs.find(([own]) => own === name)?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(([own]) => own === name).map(([, value]) => value);
    }
    has(name) {
      return this.#pairs.some(([own]) => own === name);
    }
    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#changed?.(this.toString());
    }
    set(name, value) {
      this.#pairs = this.#pairs.filter(([own]) => own !== name);
      this.append(name, value);
    }
    delete(name) {
      this.#pairs = this.#pairs.filter(([own]) => own !== name);
      this.#changed?.(this.toString());
    }
    keys() {
      return this.#pairs.map(([name]) => name)[Symbol.iterator]();
    }
    values() {
      return this.#pairs.map(([, value]) => value)[Symbol.iterator]();
    }
    entries() {
      return this.#pairs.map((pair) => [...pair])[Symbol.iterator]();
    }
    forEach(work) {
      for (const [name, value] of this.#pairs) work(value, name, this);
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      const coded = (text) => encodeURIComponent(text).replace(/%20/g, "+");
      return this.#pairs.map(([name, value]) => `${coded(name)}=${coded(value)}`).join("&");
    }
  };
  const PARTS = ["href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash", "origin"];
  globalThis.URL = class URL {
    #parts;
    #query;
    constructor(text, base) {
      const parsed = JSON.parse(__reflex.url(String(text), base === undefined ? "" : String(base)));
      if (parsed === null) throw new TypeError(`this is no URL: ${text}`);
      this.#parts = parsed;
    }
    static canParse(text, base) {
      return JSON.parse(__reflex.url(String(text), base === undefined ? "" : String(base))) !== null;
    }
    static parse(text, base) {
      return URL.canParse(text, base) ? new URL(text, base) : null;
    }
    static {
      for (const part of PARTS) {
        const get = function () { return this.#parts[part]; };
        const set = function (value) { this.#change(part, String(value)); };
        Object.defineProperty(URL.prototype, part, { get, set: part === "origin" ? undefined : set, configurable: true, enumerable: true });
      }
    }
    #change(part, value) {
      const parsed = JSON.parse(part === "href" ? __reflex.url(value, "") : __reflex.changeUrl(this.#parts.href, part, value));
      if (parsed === null) throw new TypeError(`this is no URL: ${value}`);
      this.#parts = parsed;
      if (part === "href" || part === "search") this.#query = undefined;
    }
    get searchParams() {
      return (this.#query ??= new URLSearchParams(this.#parts.search, (query) => {
        const search = query === "" ? "" : `?${query}`;
        const { href, hash } = this.#parts;
        this.#parts = JSON.parse(__reflex.url(href.replace(/[?#].*$/s, "") + search + hash, ""));
      }));
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
  };
})();

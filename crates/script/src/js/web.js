// What scripts expect of every runtime: texts as bytes, base64, copies, digests.
(() => {
  const encode = (text) => {
    const bytes = [];
    for (const letter of String(text).toWellFormed()) {
      const code = letter.codePointAt(0);
      if (code < 0x80) bytes.push(code);
      else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
      else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
      else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
    return new Uint8Array(bytes);
  };
  const viewed = (data) => {
    if (data instanceof ArrayBuffer) return new Uint8Array(data);
    if (!ArrayBuffer.isView(data)) throw new TypeError("bytes are expected: an ArrayBuffer or a view of one");
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  };
  // How many bytes follow a first one, and between what the second has to lie.
  const led = (byte) => {
    if (byte < 0x80) return [0, 0, 0];
    if (byte < 0xc2 || byte > 0xf4) return [-1, 0, 0];
    if (byte < 0xe0) return [1, 0x80, 0xbf];
    if (byte < 0xf0) return [2, byte === 0xe0 ? 0xa0 : 0x80, byte === 0xed ? 0x9f : 0xbf];
    return [3, byte === 0xf0 ? 0x90 : 0x80, byte === 0xf4 ? 0x8f : 0xbf];
  };
  // What cannot be read is given to `wrong`.
  const decode = (bytes, wrong = () => 0xfffd) => {
    let [text, codes] = ["", []];
    for (let at = 0; at < bytes.length; ) {
      const byte = bytes[at++];
      let [more, low, high] = led(byte);
      let code = more === 0 ? byte : more < 0 ? wrong() : byte & (0x3f >> more);
      for (; more > 0; more--) {
        if (!(bytes[at] >= low && bytes[at] <= high)) {
          code = wrong();
          break;
        }
        code = (code << 6) | (bytes[at++] & 63);
        [low, high] = [0x80, 0xbf];
      }
      codes.push(code);
      if (codes.length === 1024) {
        text += String.fromCodePoint(...codes);
        codes = [];
      }
    }
    return text + String.fromCodePoint(...codes);
  };
  // How many bytes at the end begin a letter that is not whole.
  const begun = (bytes) => {
    for (let back = 1; back <= Math.min(3, bytes.length); back++) {
      const [more] = led(bytes[bytes.length - back]);
      if (more >= 0) return more >= back ? back : 0;
    }
    return 0;
  };
  const isWhole = (bytes) => {
    let whole = true;
    decode(viewed(bytes), () => ((whole = false), 0xfffd));
    return whole;
  };
  __reflex.utf8 = { encode, decode, begun, isWhole };
  globalThis.TextEncoder ??= class TextEncoder {
    get encoding() {
      return "utf-8";
    }
    encode(text = "") {
      return encode(text);
    }
    encodeInto(text, into) {
      let [read, written] = [0, 0];
      for (const letter of String(text)) {
        const bytes = encode(letter);
        if (written + bytes.length > into.length) break;
        into.set(bytes, written);
        [read, written] = [read + letter.length, written + bytes.length];
      }
      return { read, written };
    }
  };
  globalThis.TextDecoder ??= class TextDecoder {
    #left = new Uint8Array();
    #begins = true;
    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      if (!/^\s*(unicode-1-1-)?utf-?8\s*$/i.test(label)) throw new RangeError(`The "${label}" encoding is not supported`);
      Object.assign(this, { fatal: Boolean(fatal), ignoreBOM: Boolean(ignoreBOM) });
    }
    get encoding() {
      return "utf-8";
    }
    decode(data, { stream = false } = {}) {
      let bytes = data === undefined ? new Uint8Array() : viewed(data);
      if (this.#left.length > 0) {
        const whole = new Uint8Array(this.#left.length + bytes.length);
        whole.set(this.#left);
        whole.set(bytes, this.#left.length);
        bytes = whole;
      }
      const end = stream ? bytes.length - begun(bytes) : bytes.length;
      this.#left = bytes.slice(end);
      const wrong = () => {
        if (!this.fatal) return 0xfffd;
        throw Object.assign(new TypeError("The encoded data was not valid for encoding utf-8"), { code: "ERR_ENCODING_INVALID_ENCODED_DATA" });
      };
      const text = decode(bytes.subarray(0, end), wrong);
      const bare = this.#begins && !this.ignoreBOM ? text.replace(/^\ufeff/, "") : text;
      this.#begins = !stream || (this.#begins && text === "");
      return bare;
    }
  };
  const SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  globalThis.btoa ??= (text) => {
    let out = "";
    const codes = [...String(text)].map((letter) => letter.codePointAt(0));
    if (codes.some((code) => code > 255)) throw new TypeError("btoa takes letters of one byte");
    for (let at = 0; at < codes.length; at += 3) {
      const word = (codes[at] << 16) | ((codes[at + 1] ?? 0) << 8) | (codes[at + 2] ?? 0);
      out += SIGNS[word >> 18] + SIGNS[(word >> 12) & 63];
      out += at + 1 < codes.length ? SIGNS[(word >> 6) & 63] : "=";
      out += at + 2 < codes.length ? SIGNS[word & 63] : "=";
    }
    return out;
  };
  globalThis.atob ??= (text) => {
    const signs = String(text).replace(/[\t\n\f\r ]/g, "").replace(/={1,2}$/, "");
    let [out, word, bits] = ["", 0, 0];
    for (const sign of signs) {
      const value = SIGNS.indexOf(sign);
      if (value < 0) throw new TypeError("atob takes base64");
      word = ((word << 6) | value) & 0xffffff;
      bits += 6;
      if (bits >= 8) out += String.fromCharCode((word >> (bits -= 8)) & 255);
    }
    return out;
  };
  const copy = (value, known) => {
    if (typeof value === "function" || typeof value === "symbol") throw new TypeError("this cannot be copied");
    if (typeof value !== "object" || value === null) return value;
    if (known.has(value)) return known.get(value);
    const keep = (made) => (known.set(value, made), made);
    if (value instanceof Date) return keep(new Date(value));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (ArrayBuffer.isView(value)) return keep(new value.constructor(value));
    if (value instanceof Error) return keep(Object.assign(new value.constructor(value.message), { stack: value.stack }));
    if (value instanceof Map) {
      const made = keep(new Map());
      for (const [key, one] of value) made.set(copy(key, known), copy(one, known));
      return made;
    }
    if (value instanceof Set) {
      const made = keep(new Set());
      for (const one of value) made.add(copy(one, known));
      return made;
    }
    const made = keep(Array.isArray(value) ? [] : {});
    for (const key of Object.keys(value)) made[key] = copy(value[key], known);
    return made;
  };
  globalThis.structuredClone ??= (value) => copy(value, new Map());
  const digest = async (name, data) => __reflex.digest(String(name?.name ?? name), Array.from(viewed(data))).buffer;
  const getRandomValues = (into) => {
    const bytes = viewed(into);
    bytes.set(__reflex.random(bytes.length));
    return into;
  };
  const randomUUID = () => {
    const bytes = __reflex.random(16);
    [bytes[6], bytes[8]] = [(bytes[6] & 15) | 64, (bytes[8] & 63) | 128];
    const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  };
  globalThis.crypto ??= { subtle: { digest }, getRandomValues, randomUUID };
})();

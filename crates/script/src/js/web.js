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
  const viewed = (data) =>
    data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const decode = (bytes) => {
    let text = "";
    for (let at = 0; at < bytes.length; ) {
      const byte = bytes[at++];
      const more = byte < 0x80 ? 0 : byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : -1;
      let code = more === 0 ? byte : more < 0 ? 0xfffd : byte & (0x3f >> more);
      for (let left = more; left > 0; left--) {
        if ((bytes[at] & 0xc0) !== 0x80) {
          code = 0xfffd;
          break;
        }
        code = (code << 6) | (bytes[at++] & 63);
      }
      text += String.fromCodePoint(code > 0x10ffff ? 0xfffd : code);
    }
    return text.replace(/^\ufeff/, "");
  };
  globalThis.TextEncoder ??= class TextEncoder {
    encoding = "utf-8";
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
    encoding = "utf-8";
    decode(data) {
      return data === undefined ? "" : decode(viewed(data));
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
  globalThis.crypto ??= { subtle: { digest } };
})();

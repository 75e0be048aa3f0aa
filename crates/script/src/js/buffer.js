// `Buffer`: bytes as node has them.
(() => {
  const { encode, decode } = __reflex.utf8;
  const CODINGS = {
    "utf8": "utf8", "utf-8": "utf8", "hex": "hex", "base64": "base64", "base64url": "base64url", "latin1": "latin1",
    "binary": "latin1", "ascii": "ascii", "ucs2": "utf16le", "ucs-2": "utf16le", "utf16le": "utf16le", "utf-16le": "utf16le",
  };
  const named = (coding) => {
    const known = CODINGS[String(coding ?? "utf8").toLowerCase()];
    if (known === undefined) throw Object.assign(new TypeError(`Unknown encoding: ${coding}`), { code: "ERR_UNKNOWN_ENCODING" });
    return known;
  };
  const SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const VALUES = { "-": 62, "_": 63 };
  for (let at = 0; at < 64; at++) VALUES[SIGNS[at]] = at;
  const fromBase64 = (text) => {
    const bytes = [];
    let [word, bits] = [0, 0];
    for (const sign of text) {
      if (sign === "=") break;
      const value = VALUES[sign];
      if (value === undefined) continue;
      word = ((word << 6) | value) & 0xffffff;
      bits += 6;
      if (bits >= 8) bytes.push((word >> (bits -= 8)) & 255);
    }
    return bytes;
  };
  const toBase64 = (bytes, isForUrls) => {
    let text = "";
    for (let at = 0; at < bytes.length; at += 3) {
      const word = (bytes[at] << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
      text += SIGNS[word >> 18] + SIGNS[(word >> 12) & 63];
      text += at + 1 < bytes.length ? SIGNS[(word >> 6) & 63] : "=";
      text += at + 2 < bytes.length ? SIGNS[word & 63] : "=";
    }
    return isForUrls ? text.replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "") : text;
  };
  const fromHex = (text) => {
    const bytes = [];
    for (let at = 0; at + 1 < text.length; at += 2) {
      const two = text.slice(at, at + 2);
      if (!/^[0-9a-f]{2}$/i.test(two)) break;
      bytes.push(parseInt(two, 16));
    }
    return bytes;
  };
  const units = (text, width) => {
    const bytes = new Uint8Array(text.length * width);
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      bytes[at * width] = code;
      if (width === 2) bytes[at * 2 + 1] = code >> 8;
    }
    return bytes;
  };
  const coded = (text, coding) => {
    const name = named(coding);
    if (name === "utf8") return encode(text);
    if (name === "hex") return fromHex(text);
    if (name === "base64" || name === "base64url") return fromBase64(text);
    return units(text, name === "utf16le" ? 2 : 1);
  };
  const letters = (codes) => {
    let text = "";
    for (let at = 0; at < codes.length; at += 1024) text += String.fromCharCode(...codes.slice(at, at + 1024));
    return text;
  };
  const read = (bytes, coding) => {
    const name = named(coding);
    if (name === "utf8") return decode(bytes);
    if (name === "hex") return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (name === "base64" || name === "base64url") return toBase64(bytes, name === "base64url");
    if (name === "latin1") return letters(Array.from(bytes));
    if (name === "ascii") return letters(Array.from(bytes, (byte) => byte & 127));
    return letters(Array.from({ length: bytes.length >> 1 }, (_, at) => bytes[at * 2] | (bytes[at * 2 + 1] << 8)));
  };
  const wrongType = (what, value) =>
    Object.assign(new TypeError(`${what} Received ${value === null ? "null" : `type ${typeof value}`}`), { code: "ERR_INVALID_ARG_TYPE" });
  const sized = (size) => {
    if (typeof size !== "number") throw wrongType('The "size" argument must be of type number.', size);
    if (!(size >= 0 && size <= 0x7fffffff)) throw Object.assign(new RangeError(`The value of "size" is out of range. Received ${size}`), { code: "ERR_OUT_OF_RANGE" });
    return Math.trunc(size);
  };
  const isBytes = (value) => value instanceof Uint8Array;
  const wanted = (value, coding) => {
    if (typeof value === "string") return coded(value, coding);
    if (typeof value === "number") return [value & 255];
    if (isBytes(value)) return value;
    throw wrongType("The value must be one of type number or string or an instance of Buffer or Uint8Array.", value);
  };
  const first = (bytes, part, from, step) => {
    for (let at = from; at >= 0 && at + part.length <= bytes.length; at += step) {
      let same = 0;
      while (same < part.length && bytes[at + same] === part[same]) same++;
      if (same === part.length) return at;
    }
    return -1;
  };
  const span = (bytes, start, end) => {
    const cut = (at, other) => (at === undefined ? other : Math.min(Math.max(Math.trunc(at) || 0, 0), bytes.length));
    const [from, to] = [cut(start, 0), cut(end, bytes.length)];
    return [from, Math.max(from, to)];
  };
  class Buffer extends Uint8Array {
    static from(value, coding, length) {
      if (typeof value === "string") return Buffer.from(coded(value, coding));
      if (value instanceof ArrayBuffer || (typeof SharedArrayBuffer !== "undefined" && value instanceof SharedArrayBuffer)) {
        return new Buffer(value, coding, length);
      }
      if (typeof value !== "object" || value === null) {
        throw wrongType("The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object.", value);
      }
      const plain = value.valueOf?.();
      if (plain !== value && plain !== null && plain !== undefined) return Buffer.from(plain, coding, length);
      if (value.type === "Buffer" && Array.isArray(value.data)) return Buffer.from(value.data);
      if (isBytes(value) || Array.isArray(value) || typeof value.length === "number") {
        const made = new Buffer(Math.max(0, Math.trunc(value.length) || 0));
        for (let at = 0; at < made.length; at++) made[at] = value[at];
        return made;
      }
      throw wrongType("The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object.", value);
    }
    static of(...bytes) {
      return Buffer.from(bytes);
    }
    static alloc(size, fill, coding) {
      const made = new Buffer(sized(size));
      return fill === undefined || made.length === 0 ? made : made.fill(fill, coding);
    }
    static allocUnsafe(size) {
      return new Buffer(sized(size));
    }
    static allocUnsafeSlow(size) {
      return new Buffer(sized(size));
    }
    static byteLength(value, coding) {
      if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
      if (typeof value !== "string") throw wrongType('The "string" argument must be of type string or an instance of Buffer or ArrayBuffer.', value);
      const name = Buffer.isEncoding(coding) ? named(coding) : "utf8";
      return name === "hex" ? value.length >> 1 : coded(value, name).length;
    }
    static concat(list, total) {
      if (!Array.isArray(list)) throw wrongType('The "list" argument must be an instance of Array.', list);
      const made = Buffer.alloc(total ?? list.reduce((sum, one) => sum + one.length, 0));
      let at = 0;
      for (const one of list) {
        if (!isBytes(one)) throw wrongType("The list must hold instances of Buffer or Uint8Array.", one);
        made.set(one.subarray(0, Math.max(0, made.length - at)), at);
        at = Math.min(at + one.length, made.length);
      }
      return made;
    }
    static isBuffer(value) {
      return value instanceof Buffer;
    }
    static isEncoding(coding) {
      return typeof coding === "string" && CODINGS[coding.toLowerCase()] !== undefined;
    }
    static compare(one, other) {
      for (let at = 0; at < one.length && at < other.length; at++) {
        if (one[at] !== other[at]) return one[at] < other[at] ? -1 : 1;
      }
      return Math.sign(one.length - other.length);
    }
    get parent() {
      return this.buffer;
    }
    toString(coding, start, end) {
      const [from, to] = span(this, start, end);
      return read(this.subarray(from, to), coding);
    }
    toLocaleString(coding, start, end) {
      return this.toString(coding, start, end);
    }
    toJSON() {
      return { type: "Buffer", data: Array.from(this) };
    }
    equals(other) {
      if (!isBytes(other)) throw wrongType('The "otherBuffer" argument must be an instance of Buffer or Uint8Array.', other);
      return Buffer.compare(this, other) === 0;
    }
    compare(other, start = 0, end = other.length, ownStart = 0, ownEnd = this.length) {
      return Buffer.compare(this.subarray(ownStart, ownEnd), other.subarray(start, end));
    }
    slice(start, end) {
      return this.subarray(start, end);
    }
    indexOf(value, from = 0, coding = undefined) {
      if (typeof from === "string") [from, coding] = [0, from];
      const start = Math.trunc(from) || 0;
      return first(this, wanted(value, coding), start < 0 ? Math.max(0, this.length + start) : start, 1);
    }
    lastIndexOf(value, from = this.length, coding = undefined) {
      if (typeof from === "string") [from, coding] = [this.length, from];
      const [part, start] = [wanted(value, coding), Math.trunc(from)];
      const last = Math.min(Number.isNaN(start) ? this.length : start < 0 ? this.length + start : start, this.length - part.length);
      return first(this, part, last, -1);
    }
    includes(value, from, coding) {
      return this.indexOf(value, from, coding) >= 0;
    }
    fill(value, start = 0, end = this.length, coding = undefined) {
      if (typeof start === "string") [start, end, coding] = [0, this.length, start];
      else if (typeof end === "string") [end, coding] = [this.length, end];
      const bytes = wanted(value, coding);
      if (bytes.length === 0) return super.fill(0, start, end);
      for (let at = start; at < Math.min(end, this.length); at++) this[at] = bytes[(at - start) % bytes.length];
      return this;
    }
    write(text, start = 0, length = undefined, coding = undefined) {
      if (typeof start === "string") [start, coding] = [0, start];
      else if (typeof length === "string") [length, coding] = [undefined, length];
      const room = Math.min(length ?? this.length, this.length - start);
      const bytes = Uint8Array.from(coded(String(text), coding));
      let cut = bytes.subarray(0, Math.max(0, room));
      // No letter is written in part.
      if (cut.length < bytes.length && named(coding) === "utf8") cut = cut.subarray(0, cut.length - __reflex.utf8.begun(cut));
      this.set(cut, start);
      return cut.length;
    }
    readUIntBE(at, width) {
      return this.subarray(at, at + width).reduce((sum, byte) => sum * 256 + byte, 0);
    }
    readUIntLE(at, width) {
      return this.subarray(at, at + width).reduceRight((sum, byte) => sum * 256 + byte, 0);
    }
    copy(into, start = 0, from = 0, to = this.length) {
      const part = this.subarray(from, Math.min(to, from + Math.max(0, into.length - start)));
      into.set(part, start);
      return part.length;
    }
  }
  const outside = (name, value) =>
    Object.assign(new RangeError(`The value of "${name}" is out of range. Received ${value}`), { code: "ERR_OUT_OF_RANGE" });
  // Numbers of every width, in both orders.
  const NUMBERS = [
    ["UInt8", "Uint8", 1], ["Int8", "Int8", 1], ["UInt16", "Uint16", 2], ["Int16", "Int16", 2], ["UInt32", "Uint32", 4],
    ["Int32", "Int32", 4], ["Float", "Float32", 4], ["Double", "Float64", 8], ["BigInt64", "BigInt64", 8], ["BigUInt64", "BigUint64", 8],
  ];
  const define = (name, value) =>
    Object.defineProperty(Buffer.prototype, name, { value, writable: true, configurable: true });
  for (const [name, viewed, width] of NUMBERS) {
    for (const order of width === 1 ? [""] : ["LE", "BE"]) {
      const view = (bytes, at) => {
        if (!(Number.isInteger(at) && at >= 0 && at + width <= bytes.length)) throw outside("offset", at);
        return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      };
      const reads = function (at = 0) {
        return view(this, at)[`get${viewed}`](at, order === "LE");
      };
      const writes = function (value, at = 0) {
        view(this, at)[`set${viewed}`](at, value, order === "LE");
        return at + width;
      };
      define(`read${name}${order}`, reads);
      define(`write${name}${order}`, writes);
      if (name.includes("UInt")) {
        define(`read${name}${order}`.replace("UInt", "Uint"), reads);
        define(`write${name}${order}`.replace("UInt", "Uint"), writes);
      }
    }
  }
  Buffer.poolSize = 8192;
  globalThis.Buffer ??= Buffer;
})();

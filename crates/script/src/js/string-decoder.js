// `node:string_decoder`.
export class StringDecoder {
  #left = globalThis.Buffer.alloc(0);
  constructor(given) {
    const coding = given ?? "utf8";
    if (!Buffer.isEncoding(coding)) throw Object.assign(new TypeError(`Unknown encoding: ${coding}`), { code: "ERR_UNKNOWN_ENCODING" });
    this.encoding = { "utf-8": "utf8", binary: "latin1", ucs2: "utf16le", "ucs-2": "utf16le", "utf-16le": "utf16le" }[coding.toLowerCase()] ?? coding.toLowerCase();
  }
  // Bytes at the end that are no whole letter yet.
  #kept(bytes) {
    if (this.encoding === "utf8") return __reflex.utf8.begun(bytes);
    if (this.encoding === "utf16le") return bytes.length % 2;
    return this.encoding.startsWith("base64") ? bytes.length % 3 : 0;
  }
  write(bytes) {
    if (typeof bytes === "string") return bytes;
    const whole = Buffer.concat([this.#left, bytes]);
    const end = whole.length - this.#kept(whole);
    this.#left = whole.subarray(end);
    return whole.toString(this.encoding, 0, end);
  }
  end(bytes) {
    const text = bytes === undefined ? "" : this.write(bytes);
    const left = this.#left;
    this.#left = Buffer.alloc(0);
    return text + left.toString(this.encoding);
  }
}
export default { StringDecoder };

// `node:crypto`: digests, and bytes that nobody can foresee. Nothing is encrypted or signed here.
const bytesOf = (data, coding) => {
  if (typeof data === "string") return Buffer.from(data, coding);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw Object.assign(new TypeError('The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView.'), { code: "ERR_INVALID_ARG_TYPE" });
};
const wrongType = (name, type) => Object.assign(new TypeError(`The "${name}" argument must be of type ${type}.`), { code: "ERR_INVALID_ARG_TYPE" });
const digested = (name, bytes) => {
  try {
    return Buffer.from(__reflex.digest(name, Array.from(bytes)));
  } catch (error) {
    throw /no digest is called/.test(error.message) ? new Error("Digest method not supported") : error;
  }
};
// What is given in parts and ends with one answer.
const collected = (work) => {
  let [all, ended] = [[], false];
  const hash = {
    update: (data, coding) => {
      if (ended) throw Object.assign(new Error("Digest already called"), { code: "ERR_CRYPTO_HASH_FINALIZED" });
      all.push(bytesOf(data, coding));
      return hash;
    },
    digest: (coding) => {
      if (ended) throw Object.assign(new Error("Digest already called"), { code: "ERR_CRYPTO_HASH_FINALIZED" });
      ended = true;
      const bytes = work(Buffer.concat(all));
      return coding === undefined || coding === "buffer" ? bytes : bytes.toString(coding);
    },
    copy: () => {
      const other = collected(work);
      for (const part of all) other.update(part);
      return other;
    },
  };
  return hash;
};
export const createHash = (name) => {
  if (typeof name !== "string") throw wrongType("algorithm", "string");
  digested(name, []);
  return collected((bytes) => digested(String(name), bytes));
};
export const createHmac = (name, key) => {
  if (typeof name !== "string") throw wrongType("hmac", "string");
  const block = /^sha-?(384|512)$/i.test(name) ? 128 : 64;
  const given = bytesOf(key);
  const whole = Buffer.alloc(block);
  whole.set(given.length > block ? digested(String(name), given) : given);
  const padded = (sign) => Buffer.from(whole.map((byte) => byte ^ sign));
  return collected((bytes) => digested(String(name), Buffer.concat([padded(0x5c), digested(String(name), Buffer.concat([padded(0x36), bytes]))])));
};
export const hash = (name, data, coding = "hex") => createHash(name).update(data).digest(coding);
export const timingSafeEqual = (one, other) => {
  if (one.byteLength !== other.byteLength) {
    throw Object.assign(new RangeError("Input buffers must have the same byte length"), { code: "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH" });
  }
  return Buffer.compare(bytesOf(one), bytesOf(other)) === 0;
};
export const randomBytes = (size) => {
  if (typeof size !== "number") throw wrongType("size", "number");
  if (!(size >= 0 && size <= 0x7fffffff)) throw Object.assign(new RangeError(`The value of "size" is out of range. Received ${size}`), { code: "ERR_OUT_OF_RANGE" });
  return Buffer.from(__reflex.random(size));
};
export const randomInt = (from, to) => {
  const [low, high] = to === undefined ? [0, from] : [from, to];
  if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high)) throw wrongType(to === undefined ? "max" : "min", "safe integer");
  return low + Math.floor((randomBytes(6).readUIntBE(0, 6) / 2 ** 48) * (high - low));
};
export const { getRandomValues, randomUUID } = globalThis.crypto;
export const getHashes = () => ["md5", "sha1", "sha256", "sha384", "sha512"];
export const webcrypto = globalThis.crypto;
export default {
  createHash, createHmac, hash, timingSafeEqual, randomBytes, randomInt, randomUUID, getRandomValues, getHashes, webcrypto,
};

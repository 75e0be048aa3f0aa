// `node:assert`.
import { inspect, isDeepEqual, isDeepStrictEqual } from "util";
export class AssertionError extends Error {
  constructor({ message, actual, expected, operator }) {
    super(message ?? `${inspect(actual)} ${operator} ${inspect(expected)}`);
    Object.assign(this, { code: "ERR_ASSERTION", actual, expected, operator, generatedMessage: message === undefined });
  }
  get name() {
    return "AssertionError";
  }
}
const unless = (holds, message, actual, expected, operator) => {
  if (holds) return;
  if (message instanceof Error) throw message;
  throw new AssertionError({ message, actual, expected, operator });
};
export const ok = (value, message) =>
  unless(value, message ?? (value === undefined ? "The expression evaluated to a falsy value" : undefined), value, true, "==");
export const equal = (one, other, message) => unless(one == other || (one !== one && other !== other), message, one, other, "==");
export const notEqual = (one, other, message) => unless(one != other && !(one !== one && other !== other), message, one, other, "!=");
export const strictEqual = (one, other, message) => unless(Object.is(one, other), message, one, other, "strictEqual");
export const notStrictEqual = (one, other, message) => unless(!Object.is(one, other), message, one, other, "notStrictEqual");
export const deepEqual = (one, other, message) => unless(isDeepEqual(one, other), message, one, other, "deepEqual");
export const notDeepEqual = (one, other, message) => unless(!isDeepEqual(one, other), message, one, other, "notDeepEqual");
export const deepStrictEqual = (one, other, message) => unless(isDeepStrictEqual(one, other), message, one, other, "deepStrictEqual");
export const notDeepStrictEqual = (one, other, message) => unless(!isDeepStrictEqual(one, other), message, one, other, "notDeepStrictEqual");
const fits = (error, expected) => {
  if (expected === undefined) return true;
  if (expected instanceof RegExp) return expected.test(String(error));
  if (typeof expected === "function") {
    if (expected.prototype !== undefined && error instanceof expected) return true;
    return Error.isPrototypeOf(expected) ? false : expected.call({}, error) === true;
  }
  return Object.keys(expected).every((key) =>
    expected[key] instanceof RegExp && typeof error?.[key] === "string" ? expected[key].test(error[key]) : isDeepStrictEqual(error?.[key], expected[key]));
};
const thrown = (error, expected, message) => {
  if (fits(error, typeof expected === "string" ? undefined : expected)) return;
  if (expected instanceof RegExp || typeof expected === "object") unless(false, message, error, expected, "throws");
  throw error;
};
const missing = (expected, message, operator, what) =>
  unless(false, (typeof expected === "string" ? expected : message) ?? `Missing expected ${what}.`, undefined, expected, operator);
const wantsFunction = (work) => {
  if (typeof work !== "function") throw Object.assign(new TypeError('The "fn" argument must be of type function.'), { code: "ERR_INVALID_ARG_TYPE" });
};
export const throws = (work, expected, message) => {
  wantsFunction(work);
  try {
    work();
  } catch (error) {
    return thrown(error, expected, message);
  }
  return missing(expected, message, "throws", "exception");
};
export const rejects = async (work, expected, message) => {
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    return thrown(error, expected, message);
  }
  return missing(expected, message, "rejects", "rejection");
};
const unwanted = (error, message, what) =>
  unless(false, `Got unwanted ${what}${message ? `: ${message}` : "."}\nActual message: "${error?.message}"`, error, undefined, "doesNotThrow");
export const doesNotThrow = (work, message) => {
  try {
    work();
  } catch (error) {
    unwanted(error, typeof message === "string" ? message : undefined, "exception");
  }
};
export const doesNotReject = async (work, message) => {
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    unwanted(error, typeof message === "string" ? message : undefined, "rejection");
  }
};
export const match = (text, pattern, message) => unless(typeof text === "string" && pattern.test(text), message, text, pattern, "match");
export const doesNotMatch = (text, pattern, message) => unless(!(typeof text === "string" && pattern.test(text)), message, text, pattern, "doesNotMatch");
export const fail = (message = "Failed") => unless(false, message, undefined, undefined, "fail");
export const ifError = (value) => {
  if (value !== null && value !== undefined) throw value instanceof Error ? value : new AssertionError({ message: `ifError got unwanted exception: ${inspect(value)}`, actual: value, operator: "ifError" });
};
const assert = (value, message) => ok(value, message);
const all = { ok, throws, rejects, doesNotThrow, doesNotReject, match, doesNotMatch, fail, ifError, AssertionError };
export const strict = Object.assign((value, message) => ok(value, message), all, {
  equal: strictEqual, notEqual: notStrictEqual, strictEqual, notStrictEqual, deepEqual: deepStrictEqual,
  notDeepEqual: notDeepStrictEqual, deepStrictEqual, notDeepStrictEqual,
});
strict.strict = strict;
export default Object.assign(assert, all, {
  equal, notEqual, strictEqual, notStrictEqual, deepEqual, notDeepEqual, deepStrictEqual, notDeepStrictEqual, strict,
});

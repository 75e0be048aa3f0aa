// `node:assert/strict`.
import assert from "assert";
export const strict = assert.strict;
export const {
  ok, equal, notEqual, strictEqual, notStrictEqual, deepEqual, notDeepEqual, deepStrictEqual, notDeepStrictEqual,
  throws, doesNotThrow, rejects, doesNotReject, match, doesNotMatch, fail, ifError, AssertionError,
} = strict;
export default strict;

// `node:buffer`.
export const { Buffer, atob, btoa } = globalThis;
export const kMaxLength = 0x7fffffff;
export const constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: 0x1fffffe8 };
export const isUtf8 = (bytes) => __reflex.utf8.isWhole(bytes);
export const isAscii = (bytes) => Buffer.from(bytes).every((byte) => byte < 128);
export default { Buffer, atob, btoa, kMaxLength, constants, isUtf8, isAscii };

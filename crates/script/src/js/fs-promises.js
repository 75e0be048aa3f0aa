// `node:fs/promises`.
export * from "fs";
export { default } from "fs";

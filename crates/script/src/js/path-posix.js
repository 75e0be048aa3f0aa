// `node:path/posix`.
export * from "path";
export { default } from "path";

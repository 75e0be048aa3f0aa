// `node:module`.
export const createRequire = (from) => __reflex.from(String(from?.href ?? from));
export const builtinModules = [
  "assert", "buffer", "child_process", "crypto", "events", "fs", "fs/promises", "module", "os", "path", "perf_hooks", "process",
  "querystring", "string_decoder", "timers", "timers/promises", "tty", "url", "util",
];
export const isBuiltin = (name) => builtinModules.includes(String(name).replace(/^node:/, ""));
const Module = { createRequire, builtinModules, isBuiltin };
export { Module };
export default Module;

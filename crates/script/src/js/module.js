// `node:module`.
export const createRequire = (from) => {
  const place = from?.href ?? from;
  if (typeof place !== "string" || !/^(file:|\/)/.test(place)) {
    const message = "The argument 'filename' must be a file URL object, file URL string, or absolute path string.";
    throw Object.assign(new TypeError(message), { code: "ERR_INVALID_ARG_VALUE" });
  }
  return __reflex.from(place);
};
export const builtinModules = [
  "assert", "buffer", "child_process", "crypto", "events", "fs", "fs/promises", "module", "os", "path", "perf_hooks", "process",
  "querystring", "string_decoder", "timers", "timers/promises", "tty", "url", "util",
];
export const isBuiltin = (name) => builtinModules.includes(String(name).replace(/^node:/, ""));
const Module = { createRequire, builtinModules, isBuiltin };
export { Module };
export default Module;

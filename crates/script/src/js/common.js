// `require`, for what is written as CommonJS.
(() => {
  const { resolve, load } = __reflex;
  const known = { __proto__: null };
  const place = (full) => full.replace(/^reflex:/, "/reflex/");
  const fault = (message, code) => Object.assign(new Error(message), { code });
  const resolved = (base, name) => {
    if (typeof name !== "string") throw new TypeError("require takes the name of a module");
    try {
      return resolve(base, name);
    } catch (error) {
      throw fault(`Cannot find module '${name}': ${error.message}`, "MODULE_NOT_FOUND");
    }
  };
  const from = (base) => {
    const require = (name) => common(resolved(base, name));
    require.resolve = (name) => place(resolved(base, name));
    require.cache = { __proto__: null };
    require.main = undefined;
    return require;
  };
  const common = (full) => {
    if (known[full] !== undefined) return known[full].exports;
    if (!full.startsWith("reflex:")) {
      const space = __reflex.spaces?.[full];
      if (space === undefined) throw fault(`Cannot find module '${full}': what is required has to stand in the text as it is`, "MODULE_NOT_FOUND");
      return space.default ?? space;
    }
    const { code, json } = load(full);
    if (!code && json === undefined) throw fault(`require() of ES module ${place(full)}: use import()`, "ERR_REQUIRE_ESM");
    const [id, module] = [place(full), { exports: {}, loaded: false, children: [], paths: [] }];
    known[full] = Object.assign(module, { id, filename: id });
    try {
      if (code) code.call(module.exports, module.exports, from(full), module, id, id.replace(/\/[^/]*$/, ""));
      else module.exports = JSON.parse(json);
    } catch (error) {
      delete known[full];
      throw error;
    }
    module.loaded = true;
    return module.exports;
  };
  const answers = (value) => typeof value?.onToolCall === "function" || typeof value?.onToolResult === "function";
  Object.assign(__reflex, {
    common,
    from,
    // The reflex among what its file exports: by itself, as `default`, or under its name.
    entry: (all) => [all?.default, all?.default?.default, all, all?.reflex].find(answers) ?? all?.default ?? all?.reflex ?? all,
  });
  globalThis.require ??= from("");
})();

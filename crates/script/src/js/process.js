// What was granted of the environment and of the network.
(() => {
  let env;
  // Asked for when it is looked at: by then it is known what was granted.
  const granted = () => {
    const names = JSON.parse(__reflex.machine("variables", "", undefined));
    const all = names.map((name) => [name, __reflex.machine("variable", name, undefined)]);
    return Object.freeze(Object.fromEntries(all.filter(([, value]) => value !== undefined)));
  };
  const exit = () => {
    throw new Error("a reflex cannot end the process");
  };
  globalThis.process = Object.freeze({
    get env() { return (env ??= granted()); }, argv: [], platform: "linux", version: "", versions: {}, exit, abort: exit, kill: exit,
    cwd: () => "/", nextTick: (work, ...words) => queueMicrotask(() => work(...words)), on: () => globalThis.process,
  });
  globalThis.fetch = async (address, options = {}) => {
    const request = { method: String(options.method ?? "GET"), body: String(options.body ?? "") };
    const { status, body } = JSON.parse(__reflex.machine("fetch", String(address), JSON.stringify(request)));
    return {
      status,
      ok: status >= 200 && status < 300,
      text: async () => body,
      json: async () => JSON.parse(body),
    };
  };
})();

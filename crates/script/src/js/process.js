// What was granted of the environment and of the network.
(() => {
  const names = JSON.parse(__reflex.machine("variables", "", undefined));
  const env = {};
  for (const name of names) {
    const value = __reflex.machine("variable", name, undefined);
    if (value !== undefined) env[name] = value;
  }
  const exit = () => {
    throw new Error("a reflex cannot end the process");
  };
  globalThis.process = Object.freeze({
    env: Object.freeze(env), argv: [], platform: "linux", version: "", versions: {}, exit, abort: exit, kill: exit,
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

// What was granted of the environment and of the network.
(() => {
  let env;
  // Asked for when it is looked at: by then it is known what was granted.
  const granted = () => {
    const names = JSON.parse(__reflex.machine("variables", "", undefined));
    const all = names.map((name) => [name, __reflex.machine("variable", name, undefined)]);
    return Object.fromEntries(all.filter(([, value]) => value !== undefined));
  };
  const exit = () => {
    throw new Error("a reflex has no power over the process");
  };
  // What is written to it stands where what is printed stands.
  const stream = { write: (text) => (__reflex.print(String(text).replace(/\n$/, "")), true), on: () => stream, once: () => stream, end: () => undefined };
  const hrtime = (before = [0, 0]) => [0 - before[0], 0 - before[1]];
  hrtime.bigint = () => 0n;
  const listens = () => globalThis.process;
  globalThis.process = {
    get env() { return (env ??= granted()); }, argv: ["node"], argv0: "node", execArgv: [], execPath: "", title: "reflex", pid: 1, ppid: 0,
    platform: "linux", arch: "x64", version: "v20.0.0", versions: Object.freeze({ node: "20.0.0" }),
    release: Object.freeze({ name: "node" }), features: Object.freeze({}), config: Object.freeze({}), exitCode: undefined,
    exit, abort: exit, kill: exit, chdir: exit, stdout: stream, stderr: stream, hrtime, uptime: () => 0,
    memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }), emitWarning: (text) => __reflex.print(String(text)),
    cwd: () => __reflex.cwd(), nextTick: (work, ...words) => queueMicrotask(() => work(...words)), umask: () => 0o022,
    on: listens, once: listens, off: listens, addListener: listens, removeListener: listens, emit: () => false, listeners: () => [],
  };
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

// `node:process`.
export default globalThis.process;
export const {
  env, argv, cwd, platform, arch, pid, version, versions, exit, nextTick, hrtime, stdout, stderr, emitWarning, memoryUsage, uptime,
} = globalThis.process;

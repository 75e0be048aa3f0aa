// `node:process`.
export default globalThis.process;
export const { env, cwd, platform, exit } = globalThis.process;

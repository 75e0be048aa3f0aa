// `node:perf_hooks`.
export const { performance } = globalThis;
export default { performance };

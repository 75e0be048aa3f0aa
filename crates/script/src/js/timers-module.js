// `node:timers`.
export const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis;
export default { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };

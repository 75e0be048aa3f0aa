// `node:timers/promises`.
const { setTimeout: start, setImmediate: soon } = globalThis;
export const setTimeout = (delay, value) => new Promise((done) => start(() => done(value), delay));
export const setImmediate = (value) => new Promise((done) => soon(() => done(value)));
export const scheduler = { wait: (delay) => setTimeout(delay), yield: () => setImmediate() };
export default { setTimeout, setImmediate, scheduler };

// Timers run in the order of their time once nothing else is to do. Nobody waits: time does not pass for a module.
(() => {
  let [next, now] = [1, 0];
  const waiting = new Map();
  const start = (repeats) => (work, delay, ...words) => {
    const wait = Math.max(Number(delay) || 0, repeats ? 1 : 0);
    waiting.set(next, { work, words, at: now + wait, every: repeats ? wait : undefined });
    return next++;
  };
  const stop = (id) => void waiting.delete(id);
  // What is further away than a call may last is never due.
  const LATEST = 10000;
  __reflex.timer = () => {
    let first;
    for (const [id, timer] of waiting) if (!first || timer.at < first[1].at) first = [id, timer];
    if (!first || first[1].at > LATEST) return false;
    const [id, timer] = first;
    now = timer.at;
    if (timer.every === undefined) waiting.delete(id);
    else timer.at += timer.every;
    timer.work(...timer.words);
    return true;
  };
  Object.assign(globalThis, {
    setTimeout: start(false),
    setInterval: start(true),
    setImmediate: (work, ...words) => start(false)(work, 0, ...words),
    clearTimeout: stop,
    clearInterval: stop,
    clearImmediate: stop,
  });
})();

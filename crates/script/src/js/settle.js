// The interpreter makes most of its functions when they are first looked at. Whoever looks at all of them now has them in
// place once and for all.
(() => {
  const seen = new Set();
  const look = (value) => {
    if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) {
      const is = Object.getOwnPropertyDescriptor(value, key);
      [is.value, is.get, is.set].forEach(look);
    }
    look(Object.getPrototypeOf(value));
  };
  [globalThis, async () => {}, function* () {}, async function* () {}, /a/[Symbol.matchAll](""), [][Symbol.iterator]()].forEach(look);
})();

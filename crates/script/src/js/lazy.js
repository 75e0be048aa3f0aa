((object, name) => {
  // A field that costs something to know is asked for when it is looked at, and then kept.
  const define = (on, key, path) =>
    Object.defineProperty(on, key, {
      configurable: true,
      enumerable: true,
      get() {
        const value = JSON.parse(__reflex.want(path));
        for (const inner of value?.__lazy ?? []) define(value, inner, `${path}.${inner}`);
        if (value) delete value.__lazy;
        Object.defineProperty(on, key, { configurable: true, enumerable: true, writable: true, value });
        return value;
      },
    });
  define(object, name, name);
})

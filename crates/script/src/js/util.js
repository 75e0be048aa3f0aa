// `node:util`: values as a person reads them, texts put together, values compared.
const tag = (value) => Object.prototype.toString.call(value).slice(8, -1);
const is = (name) => (value) => typeof value === "object" && value !== null && tag(value) === name;
const of = (name) => (value) => typeof globalThis[name] === "function" && value instanceof globalThis[name];
const isTypedArray = (value) => ArrayBuffer.isView(value) && !(value instanceof DataView);
export const types = {
  isPromise: of("Promise"), isRegExp: of("RegExp"), isDate: of("Date"), isNativeError: of("Error"), isMap: of("Map"), isSet: of("Set"),
  isWeakMap: of("WeakMap"), isWeakSet: of("WeakSet"), isArrayBuffer: of("ArrayBuffer"), isDataView: of("DataView"),
  isUint8Array: of("Uint8Array"), isTypedArray, isArrayBufferView: (value) => ArrayBuffer.isView(value),
  isAnyArrayBuffer: (value) => of("ArrayBuffer")(value) || of("SharedArrayBuffer")(value),
  isAsyncFunction: (value) => typeof value === "function" && tag(value) === "AsyncFunction",
  isGeneratorFunction: (value) => typeof value === "function" && /GeneratorFunction$/.test(tag(value)),
  isBoxedPrimitive: (value) => ["String", "Number", "Boolean", "Symbol", "BigInt"].some((name) => of(name)(value)),
  isSymbolObject: of("Symbol"), isModuleNamespaceObject: is("Module"), isGeneratorObject: is("Generator"),
  // A proxy looks like what it stands for.
  isProxy: () => false,
};

const CUSTOM = Symbol.for("nodejs.util.inspect.custom");
const ESCAPES = { "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", "\\": "\\\\" };
const quoted = (text) => {
  const quote = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes("`") && !text.includes("${") ? "`" : "'";
  const hex = (letter) => `\\x${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  const plain = text.replace(/[\x00-\x1f\x7f-\x9f\\]/g, (letter) => ESCAPES[letter] ?? hex(letter));
  return quote + (quote === "'" ? plain.replaceAll("'", "\\'") : plain) + quote;
};
const primitive = (value) => {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "bigint") return `${value}n`;
  return Object.is(value, -0) ? "-0" : String(value);
};
const keyed = (key) => {
  if (typeof key === "symbol") return `[${String(key)}]`;
  return /^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key) ? key : quoted(key);
};
const named = (value) => {
  for (let above = value; above !== null; above = Object.getPrototypeOf(above)) {
    const made = Object.getOwnPropertyDescriptor(above, "constructor");
    if (typeof made?.value === "function" && made.value.name !== "") return made.value.name;
  }
  return null;
};
const isIndex = (key) => typeof key === "string" && /^(0|[1-9]\d{0,9})$/.test(key);
const own = (value, hidden) => {
  const keys = hidden ? Object.getOwnPropertyNames(value) : Object.keys(value);
  const symbols = Object.getOwnPropertySymbols(value);
  return [...keys, ...symbols.filter((key) => hidden || Object.prototype.propertyIsEnumerable.call(value, key))];
};

const DEFAULTS = {
  depth: 2, breakLength: 80, compact: 3, showHidden: false, maxArrayLength: 100, maxStringLength: 10000, sorted: false, getters: false,
};
// What is shown of a value that has parts: what stands before, the brackets, and its parts.
const opened = (value, state, level) => {
  const [name, hidden] = [named(value), state.showHidden];
  const before = (usual, size) => {
    const kind = name === null ? `[${usual}${size === undefined ? "" : `(${size})`}: null prototype] ` : `${name}${size === undefined ? "" : `(${size})`} `;
    return kind;
  };
  const rest = (keys, skip = () => false) => keys.filter((key) => !skip(key)).map((key) => property(value, key, state, level));
  const most = (list, show) => {
    state.indentation += 2;
    const shown = list.slice(0, state.maxArrayLength).map(show);
    state.indentation -= 2;
    const more = list.length - shown.length;
    return more > 0 ? [...shown, `... ${more} more item${more > 1 ? "s" : ""}`] : shown;
  };
  if (Array.isArray(value)) {
    const parts = elements(value, state, level);
    const prefix = name === "Array" ? "" : before("Array", value.length);
    return { base: "", open: `${prefix}[`, close: "]", parts: [...parts, ...rest(own(value, hidden), isIndex)], grouped: true };
  }
  if (types.isSet(value)) {
    return { base: "", open: `${before("Set", value.size)}{`, close: "}", parts: [...most([...value], (one) => shown(one, state, level + 1)), ...rest(own(value, hidden))] };
  }
  if (types.isMap(value)) {
    const pair = ([key, one]) => `${shown(key, state, level + 1)} => ${shown(one, state, level + 1)}`;
    return { base: "", open: `${before("Map", value.size)}{`, close: "}", parts: [...most([...value], pair), ...rest(own(value, hidden))] };
  }
  if (isTypedArray(value)) {
    const parts = most(Array.from(value.subarray(0, state.maxArrayLength + 1)), primitive);
    return { base: "", open: `${before("TypedArray", value.length)}[`, close: "]", parts: [...parts, ...rest(own(value, hidden), isIndex)], grouped: true, numbers: true };
  }
  const parts = rest(own(value, hidden), (key) =>
    (typeof value === "function" && ["length", "name", "prototype"].includes(key)) || (of("String")(value) && (isIndex(key) || key === "length")));
  const braces = (base) => (parts.length === 0 ? { plain: base } : { base, open: "{", close: "}", parts });
  if (typeof value === "function") {
    const isClass = /^class\b/.test(Function.prototype.toString.call(value));
    const above = Object.getPrototypeOf(value)?.name;
    const kind = isClass ? "class" : tag(value);
    const title = value.name ? (isClass ? ` ${value.name}` : `: ${value.name}`) : " (anonymous)";
    return braces(`[${kind}${title}${isClass && above ? ` extends ${above}` : ""}]`);
  }
  if (types.isRegExp(value)) return braces(RegExp.prototype.toString.call(value));
  if (types.isDate(value)) return braces(Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString());
  if (types.isNativeError(value)) return failure(value, state, level);
  if (types.isBoxedPrimitive(value)) return braces(`[${name}: ${primitive(value.valueOf())}]`);
  if (types.isPromise(value)) return { base: "", open: `${before("Promise")}{`, close: "}", parts: ["<pending>", ...parts] };
  if (types.isWeakMap(value) || types.isWeakSet(value)) return { base: "", open: `${before("Weak")}{`, close: "}", parts: ["<items unknown>", ...parts] };
  if (types.isArrayBuffer(value)) {
    const bytes = Array.from(new Uint8Array(value), (byte) => byte.toString(16).padStart(2, "0")).slice(0, 50).join(" ");
    return { base: "", open: "ArrayBuffer {", close: "}", parts: [`[Uint8Contents]: <${bytes}>`, `byteLength: ${value.byteLength}`, ...parts] };
  }
  const own_tag = typeof value[Symbol.toStringTag] === "string" ? value[Symbol.toStringTag] : "";
  const tagged = own_tag !== "" && own_tag !== name && !Object.hasOwn(value, Symbol.toStringTag) ? `[${own_tag}] ` : "";
  const isArguments = tag(value) === "Arguments";
  if (isArguments) return { base: "", open: "[Arguments] [", close: "]", parts: elements(Array.from(value), state, level) };
  const prefix = name === "Object" && tagged === "" ? "" : `${name === null ? "[Object: null prototype] " : `${name} `}${tagged}`;
  return parts.length === 0 ? { plain: `${prefix}{}` } : { base: "", open: `${prefix}{`, close: "}", parts };
};
const elements = (value, state, level) => {
  const parts = [];
  let at = 0;
  for (; at < value.length && parts.length < state.maxArrayLength; at++) {
    if (Object.hasOwn(value, at)) {
      parts.push(property(value, at, state, level, true));
      continue;
    }
    let end = at;
    while (end < value.length && !Object.hasOwn(value, end)) end++;
    parts.push(`<${end - at} empty item${end - at > 1 ? "s" : ""}>`);
    at = end - 1;
  }
  const more = value.length - at;
  return more > 0 ? [...parts, `... ${more} more item${more > 1 ? "s" : ""}`] : parts;
};
const failure = (value, state, level) => {
  const title = `${value.name ?? "Error"}${value.message ? `: ${value.message}` : ""}`;
  const stack = typeof value.stack === "string" && value.stack !== "" ? value.stack.replace(/\n$/, "") : "";
  const whole = stack.startsWith(title) || stack === "" ? stack : `${title}\n${stack}`;
  // Without the places it came through it stands in brackets.
  const base = whole.includes("\n    at ") ? whole : `[${whole || title}]`;
  const skip = (key) => ["stack", "message", "name"].includes(key);
  const parts = own(value, state.showHidden).filter((key) => !skip(key)).map((key) => property(value, key, state, level));
  if (Object.hasOwn(value, "cause") && !Object.keys(value).includes("cause")) parts.push(`[cause]: ${shown(value.cause, state, level + 1)}`);
  return parts.length === 0 ? { plain: base } : { base, open: "{", close: "}", parts };
};
const property = (value, key, state, level, isElement = false) => {
  const described = Object.getOwnPropertyDescriptor(value, key) ?? { value: value[key], enumerable: true };
  let text;
  if (described.value !== undefined || !(described.get || described.set)) {
    state.indentation += 2;
    text = shown(described.value, state, level + 1);
    state.indentation -= 2;
  } else {
    text = described.get ? (described.set ? "[Getter/Setter]" : "[Getter]") : "[Setter]";
  }
  if (isElement) return text;
  return `${described.enumerable ? keyed(key) : `[${typeof key === "symbol" ? String(key) : key}]`}: ${text}`;
};
// Many short parts of a list stand in columns.
const inColumns = (parts, state, isNumbers) => {
  const count = state.maxArrayLength < parts.length ? parts.length - 1 : parts.length;
  const [cells, extra] = [parts.slice(0, count), parts.slice(count)];
  const lengths = cells.map((part) => part.length + 2);
  const total = lengths.reduce((sum, one) => sum + one, 0);
  const widest = Math.max(...lengths);
  if (!(widest * 3 + state.indentation < state.breakLength && (total / widest > 5 || widest - 2 <= 6))) return parts;
  const narrower = Math.max(widest - 3 - Math.sqrt(widest - total / parts.length), 1);
  const columns = Math.min(
    Math.round(Math.sqrt(2.5 * narrower * count) / narrower), Math.floor((state.breakLength - state.indentation) / widest), state.compact * 4, 15,
  );
  if (columns <= 1) return parts;
  const widths = Array.from({ length: columns }, (_, column) => {
    let most = 0;
    for (let at = column; at < cells.length; at += columns) most = Math.max(most, lengths[at]);
    return most;
  });
  const pad = isNumbers ? "padStart" : "padEnd";
  const rows = [];
  for (let at = 0; at < cells.length; at += columns) {
    const end = Math.min(at + columns, cells.length);
    let row = "";
    for (let place = at; place < end - 1; place++) row += `${cells[place]}, `[pad](widths[place - at], " ");
    row += isNumbers ? cells[end - 1].padStart(widths[end - 1 - at] - 2, " ") : cells[end - 1];
    rows.push(row);
  }
  return [...rows, ...extra];
};
const joined = ({ base, open, close, parts, grouped, numbers }, state, level, value) => {
  let lines = parts;
  if (grouped && state.compact >= 1 && parts.length > 6) {
    const isNumbers = numbers || (Array.isArray(value) && value.every((one) => typeof one === "number" || typeof one === "bigint"));
    lines = inColumns(parts, state, isNumbers);
  }
  const prefix = base ? `${base} ` : "";
  if (state.deepest - level < state.compact && lines.length === parts.length) {
    const start = lines.length + state.indentation + open.length + base.length + 10;
    const length = lines.reduce((sum, one) => sum + one.length, lines.length + start);
    if (length <= state.breakLength && !base.includes("\n") && !lines.some((line) => line.includes("\n"))) {
      return `${prefix}${open} ${lines.join(", ")} ${close}`;
    }
  }
  const indent = `\n${" ".repeat(state.indentation)}`;
  return `${prefix}${open}${indent}  ${lines.join(`,${indent}  `)}${indent}${close}`;
};
const shown = (value, state, level) => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) {
    if (typeof value === "string" && value.length > state.maxStringLength) {
      const more = value.length - state.maxStringLength;
      return `${quoted(value.slice(0, state.maxStringLength))}... ${more} more character${more > 1 ? "s" : ""}`;
    }
    return primitive(value);
  }
  if (typeof value[CUSTOM] === "function" && value[CUSTOM] !== inspect) {
    const depth = state.depth === null ? null : state.depth - level;
    const made = value[CUSTOM](depth, { ...state, stylize: String }, inspect);
    if (made !== value) return typeof made === "string" ? made.replaceAll("\n", `\n${" ".repeat(state.indentation)}`) : shown(made, state, level);
  }
  if (typeof Buffer === "function" && value instanceof Buffer) {
    const bytes = Array.from(value.subarray(0, 50), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const more = value.length - 50;
    return `<Buffer ${bytes}${more > 0 ? ` ... ${more} more byte${more > 1 ? "s" : ""}` : ""}>`;
  }
  if (state.above.includes(value)) {
    if (!state.circles.includes(value)) state.circles.push(value);
    return `[Circular *${state.circles.indexOf(value) + 1}]`;
  }
  if (state.depth !== null && level > state.depth && !types.isNativeError(value) && typeof value !== "function" && !types.isDate(value) && !types.isRegExp(value)) {
    return `[${Array.isArray(value) ? "Array" : (named(value) ?? "Object: null prototype")}]`;
  }
  state.above.push(value);
  state.deepest = level;
  const whole = opened(value, state, level);
  state.above.pop();
  const at = state.circles.indexOf(value);
  const mark = at < 0 ? "" : `<ref *${at + 1}> `;
  if (whole.plain !== undefined) return mark + whole.plain;
  if (whole.parts.length === 0) return mark + (whole.base || `${whole.open}${whole.close}`);
  if (state.sorted) whole.parts.sort();
  return joined({ ...whole, open: whole.base ? whole.open : mark + whole.open, base: whole.base ? mark + whole.base : "" }, state, level, value);
};
export const inspect = (value, options, depth) => {
  const given = typeof options === "object" && options !== null ? options : { ...(options ? { showHidden: true } : {}), ...(depth === undefined ? {} : { depth }) };
  const state = { ...DEFAULTS, ...given, above: [], circles: [], indentation: 0, deepest: 0 };
  for (const key of ["depth", "maxArrayLength", "maxStringLength", "breakLength"]) {
    if (state[key] === null || state[key] === undefined) state[key] = Infinity;
  }
  if (state.compact === false) state.compact = 0;
  return shown(value, state, 0);
};
inspect.custom = CUSTOM;
inspect.defaultOptions = DEFAULTS;

const asText = (value) => {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return typeof value === "function" ? inspect(value, { depth: 0 }) : primitive(value);
  const inherits = (above) => above !== null && above !== Object.prototype && (Object.hasOwn(above, "toString") || inherits(Object.getPrototypeOf(above)));
  const says = !Array.isArray(value) && !types.isDate(value) && inherits(value) && named(value) !== null;
  return says || types.isNativeError(value) ? String(value) : inspect(value, { depth: 0, compact: 3 });
};
const asNumber = (value, read) => {
  if (typeof value === "bigint") return `${value}n`;
  return typeof value === "symbol" ? "NaN" : primitive(read(value));
};
const asJson = (value) => {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (/circular/i.test(error.message)) return "[Circular]";
    throw error;
  }
};
export const format = (...words) => {
  let used = 0;
  const parts = [];
  if (typeof words[0] === "string") {
    used = 1;
    const fill = (sign, kind) => {
      if (kind === "%") return words.length > 1 ? "%" : sign;
      if (used >= words.length) return sign;
      const value = words[used++];
      if (kind === "s") return asText(value);
      if (kind === "d") return typeof value === "object" && value !== null ? "NaN".replace("NaN", primitive(Number(value))) : asNumber(value, Number);
      if (kind === "i") return typeof value === "object" ? "NaN" : asNumber(value, Number.parseInt);
      if (kind === "f") return asNumber(value, Number.parseFloat);
      if (kind === "j") return String(asJson(value));
      if (kind === "o") return inspect(value, { showHidden: true, depth: 4 });
      return kind === "O" ? inspect(value) : "";
    };
    parts.push(words.length === 1 ? words[0] : words[0].replace(/%([sdifjoOc%])/g, fill));
  }
  for (const word of words.slice(used)) parts.push(typeof word === "string" ? word : inspect(word));
  return parts.join(" ");
};
export const formatWithOptions = (_options, ...words) => format(...words);

const CUSTOM_PROMISE = Symbol.for("nodejs.util.promisify.custom");
const wantsFunction = (name, value) => {
  if (typeof value !== "function") throw Object.assign(new TypeError(`The "${name}" argument must be of type function.`), { code: "ERR_INVALID_ARG_TYPE" });
};
export const promisify = (work) => {
  wantsFunction("original", work);
  if (typeof work[CUSTOM_PROMISE] === "function") return work[CUSTOM_PROMISE];
  return function (...words) {
    return new Promise((done, fail) => work.call(this, ...words, (error, value) => (error ? fail(error) : done(value))));
  };
};
promisify.custom = CUSTOM_PROMISE;
export const callbackify = (work) => {
  wantsFunction("original", work);
  return function (...words) {
    const told = words.pop();
    work.apply(this, words).then((value) => queueMicrotask(() => told(null, value)), (error) => queueMicrotask(() => told(error ?? new Error("falsy"))));
  };
};
export const inherits = (own_class, above) => {
  wantsFunction("ctor", own_class);
  wantsFunction("superCtor", above);
  Object.defineProperty(own_class, "super_", { value: above, writable: true, configurable: true });
  Object.setPrototypeOf(own_class.prototype, above.prototype);
};
export const deprecate = (work) => work;
export const debuglog = () => Object.assign(() => undefined, { enabled: false });
export const debug = debuglog;
export const stripVTControlCharacters = (text) => {
  if (typeof text !== "string") throw Object.assign(new TypeError('The "str" argument must be of type string.'), { code: "ERR_INVALID_ARG_TYPE" });
  return text.replace(/[\u001b\u009b][[\]()#;?]*(?:(?:(?:;[-a-zA-Z\d/#&.:=?%@~_]+)*|[a-zA-Z\d]+(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?\u0007|(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~])/g, "");
};
export const styleText = (_style, text) => String(text);
export const toUSVString = (text) => String(text).toWellFormed();
export const isArray = Array.isArray;
export const { TextEncoder, TextDecoder } = globalThis;

// Whether two values are alike in all their parts; what was compared above them is taken for alike.
const alike = (one, other, strict, above) => {
  if (strict ? Object.is(one, other) : one == other || (Number.isNaN(one) && Number.isNaN(other))) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (strict && Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  if (tag(one) !== tag(other) || Array.isArray(one) !== Array.isArray(other)) return false;
  if (above.some(([left, right]) => left === one && right === other)) return true;
  const inner = [...above, [one, other]];
  const same = (left, right) => alike(left, right, strict, inner);
  if (types.isDate(one)) {
    if (!Object.is(one.getTime(), other.getTime())) return false;
  } else if (types.isRegExp(one)) {
    if (String(one) !== String(other) || one.lastIndex !== other.lastIndex) return false;
  } else if (types.isNativeError(one)) {
    if (one.message !== other.message || one.name !== other.name || !same(one.cause, other.cause)) return false;
  } else if (types.isBoxedPrimitive(one)) {
    if (!Object.is(one.valueOf(), other.valueOf())) return false;
  } else if (isTypedArray(one)) {
    if (one.length !== other.length || !one.every((value, at) => (strict ? Object.is(value, other[at]) : value === other[at]))) return false;
  } else if (types.isArrayBuffer(one)) {
    if (!same(new Uint8Array(one), new Uint8Array(other))) return false;
  } else if (types.isSet(one)) {
    if (one.size !== other.size) return false;
    const left = [...other];
    for (const value of one) {
      const at = left.findIndex((candidate) => same(value, candidate));
      if (at < 0) return false;
      left.splice(at, 1);
    }
  } else if (types.isMap(one)) {
    if (one.size !== other.size) return false;
    const left = [...other];
    for (const [key, value] of one) {
      const at = left.findIndex(([name, candidate]) => same(key, name) && same(value, candidate));
      if (at < 0) return false;
      left.splice(at, 1);
    }
  }
  if (Array.isArray(one) && one.length !== other.length) return false;
  const keys = isTypedArray(one) ? own(one, false).filter((key) => !isIndex(key)) : own(one, false);
  const others = isTypedArray(other) ? own(other, false).filter((key) => !isIndex(key)) : own(other, false);
  if (keys.length !== others.length) return false;
  return keys.every((key) => Object.prototype.propertyIsEnumerable.call(other, key) && same(one[key], other[key]));
};
export const isDeepStrictEqual = (one, other) => alike(one, other, true, []);
// For `node:assert`.
export const isDeepEqual = (one, other) => alike(one, other, false, []);
export default {
  types, inspect, format, formatWithOptions, promisify, callbackify, inherits, deprecate, debuglog, debug, stripVTControlCharacters,
  styleText, toUSVString, isArray, TextEncoder, TextDecoder, isDeepStrictEqual,
};

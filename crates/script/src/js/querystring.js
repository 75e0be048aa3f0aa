// `node:querystring`.
export const escape = (text) => encodeURIComponent(String(text).toWellFormed());
export const unescape = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
const plain = (value) => {
  if (typeof value === "string") return value;
  return ["number", "bigint", "boolean"].includes(typeof value) && !(typeof value === "number" && !Number.isFinite(value)) ? `${value}` : "";
};
export const stringify = (values, between = "&", is = "=", options = {}) => {
  if (typeof values !== "object" || values === null) return "";
  const coded = options.encodeURIComponent ?? escape;
  const pair = (name, value) => `${coded(plain(name))}${is}${coded(plain(value))}`;
  const pairs = Object.entries(values).flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => pair(name, one)));
  return pairs.join(between);
};
export const parse = (text, between = "&", is = "=", options = {}) => {
  const found = { __proto__: null };
  if (typeof text !== "string" || text === "") return found;
  const decoded = options.decodeURIComponent ?? unescape;
  const most = options.maxKeys ?? 1000;
  const pairs = text.split(between).filter((pair) => pair !== "");
  for (const pair of most > 0 ? pairs.slice(0, most) : pairs) {
    const at = pair.indexOf(is);
    const [name, value] = (at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + is.length)]).map((part) => decoded(part.replace(/\+/g, " ")));
    if (found[name] === undefined) found[name] = value;
    else if (Array.isArray(found[name])) found[name].push(value);
    else found[name] = [found[name], value];
  }
  return found;
};
export const encode = stringify;
export const decode = parse;
export default { escape, unescape, stringify, parse, encode, decode };

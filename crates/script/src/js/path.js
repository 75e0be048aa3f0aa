// `node:path`, as it is on systems with slashes.
export const sep = "/";
export const delimiter = ":";
// As node tells what it was given instead of what it takes.
const received = (value) => {
  if (value === undefined || value === null) return `Received ${value}`;
  if (typeof value === "function") return `Received function ${value.name}`;
  if (typeof value === "object") return value.constructor?.name ? `Received an instance of ${value.constructor.name}` : "Received [Object: null prototype] {}";
  return `Received type ${typeof value} (${typeof value === "string" ? `'${value}'` : typeof value === "bigint" ? `${value}n` : String(value)})`;
};
const fault = (name, type, value) =>
  Object.assign(new TypeError(`The "${name}" argument must be of type ${type}. ${received(value)}`), { code: "ERR_INVALID_ARG_TYPE" });
const text = (value, name = "path") => {
  if (typeof value !== "string") throw fault(name, "string", value);
  return value;
};
export const isAbsolute = (path) => text(path).startsWith("/");
export const normalize = (path) => {
  text(path);
  const [root, parts] = [isAbsolute(path), []];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts[parts.length - 1] !== "..") parts.pop();
    else if (part !== ".." || !root) parts.push(part);
  }
  const tail = path.endsWith("/") && parts.length > 0 ? "/" : "";
  return (root ? "/" : "") + parts.join("/") + tail || (root ? "/" : ".");
};
export const join = (...parts) => normalize(parts.filter((part) => text(part) !== "").join("/") || ".");
export const resolve = (...parts) => {
  let whole = "";
  for (let at = parts.length - 1; at >= 0 && !isAbsolute(whole); at--) {
    if (text(parts[at], `paths[${at}]`) !== "") whole = whole === "" ? parts[at] : `${parts[at]}/${whole}`;
  }
  const made = normalize(isAbsolute(whole) ? whole : `${__reflex.cwd?.() ?? ""}/${whole}`);
  return made.length > 1 ? made.replace(/\/$/, "") : made;
};
export const relative = (from, to) => {
  text(from, "from");
  text(to, "to");
  const [own, other] = [resolve(from).split("/").filter(Boolean), resolve(to).split("/").filter(Boolean)];
  let same = 0;
  while (same < own.length && own[same] === other[same]) same++;
  return [...own.slice(same).map(() => ".."), ...other.slice(same)].join("/");
};
export const dirname = (path) => {
  const bare = text(path).replace(/\/+$/, "");
  if (bare === "" && path !== "") return "/";
  const at = bare.lastIndexOf("/");
  return at < 0 ? "." : at === 0 ? "/" : bare.slice(0, at);
};
export const basename = (path, end = "") => {
  text(end, "suffix");
  const name = text(path).replace(/\/+$/, "").split("/").pop();
  return end !== "" && name.endsWith(end) && name !== end ? name.slice(0, -end.length) : name;
};
export const extname = (path) => /[^.](\.[^.]*)$/.exec(basename(path))?.[1] ?? "";
export const parse = (path) => {
  text(path);
  const [base, ext] = [basename(path), extname(path)];
  const dir = dirname(path) === "." && !String(path).startsWith(".") ? "" : dirname(path);
  return { root: isAbsolute(path) ? "/" : "", dir, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
};
export const format = (parts) => {
  if (typeof parts !== "object" || parts === null) throw fault("pathObject", "object", parts);
  const { dir, root, base, name = "", ext = "" } = parts;
  const file = base ?? name + ext;
  return dir ? `${dir}/${file}` : (root ?? "") + file;
};
export const toNamespacedPath = (path) => path;
export const posix = {
  sep, delimiter, isAbsolute, normalize, join, resolve, relative, dirname, basename, extname, parse, format, toNamespacedPath,
};
posix.posix = posix;
export default posix;

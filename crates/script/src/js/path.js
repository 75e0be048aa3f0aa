// `node:path`, as it is on systems with slashes.
export const sep = "/";
export const delimiter = ":";
export const isAbsolute = (path) => String(path).startsWith("/");
export const normalize = (path) => {
  const text = String(path);
  const [root, parts] = [isAbsolute(text), []];
  for (const part of text.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts[parts.length - 1] !== "..") parts.pop();
    else if (part !== ".." || !root) parts.push(part);
  }
  const tail = text.endsWith("/") && parts.length > 0 ? "/" : "";
  return (root ? "/" : "") + parts.join("/") + tail || (root ? "/" : ".");
};
export const join = (...parts) => normalize(parts.filter((part) => part !== "").join("/") || ".");
export const resolve = (...parts) => {
  let whole = "";
  for (const part of parts.reverse()) {
    whole = whole === "" ? String(part) : `${part}/${whole}`;
    if (isAbsolute(whole)) break;
  }
  const made = normalize(isAbsolute(whole) ? whole : `${__reflex.cwd?.() ?? ""}/${whole}`);
  return made.length > 1 ? made.replace(/\/$/, "") : made;
};
export const relative = (from, to) => {
  const [own, other] = [resolve(from).split("/").filter(Boolean), resolve(to).split("/").filter(Boolean)];
  let same = 0;
  while (same < own.length && own[same] === other[same]) same++;
  return [...own.slice(same).map(() => ".."), ...other.slice(same)].join("/");
};
export const dirname = (path) => {
  const bare = String(path).replace(/\/+$/, "");
  if (bare === "" && String(path) !== "") return "/";
  const at = bare.lastIndexOf("/");
  return at < 0 ? "." : at === 0 ? "/" : bare.slice(0, at);
};
export const basename = (path, end = "") => {
  const name = String(path).replace(/\/+$/, "").split("/").pop();
  return end !== "" && name.endsWith(end) && name !== end ? name.slice(0, -end.length) : name;
};
export const extname = (path) => /[^.](\.[^.]*)$/.exec(basename(path))?.[1] ?? "";
export const parse = (path) => {
  const [base, ext] = [basename(path), extname(path)];
  const dir = dirname(path) === "." && !String(path).startsWith(".") ? "" : dirname(path);
  return { root: isAbsolute(path) ? "/" : "", dir, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
};
export const format = ({ dir, root, base, name = "", ext = "" }) => {
  const file = base ?? name + ext;
  return dir ? `${dir}/${file}` : (root ?? "") + file;
};
export const toNamespacedPath = (path) => path;
export const posix = {
  sep, delimiter, isAbsolute, normalize, join, resolve, relative, dirname, basename, extname, parse, format, toNamespacedPath,
};
posix.posix = posix;
export default posix;

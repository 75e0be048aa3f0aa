// `node:fs`, as far as files were granted.
const machine = (deed, path, given) => {
  try {
    return __reflex.machine(deed, String(path?.pathname ?? path), given);
  } catch (error) {
    const { message } = error;
    const code = /not granted/.test(message) ? "EACCES" : /no such file/i.test(message) ? "ENOENT" : "EIO";
    throw Object.assign(new Error(`${code}: ${error.message}`), { code, path: String(path) });
  }
};
const text = (bytes) => {
  let out = "";
  for (let at = 0; at < bytes.length; at += 4096) out += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return decodeURIComponent(escape(out));
};
const bytesOf = (data) =>
  typeof data === "string" ? Array.from(unescape(encodeURIComponent(data)), (letter) => letter.charCodeAt(0)) : Array.from(data);
const coding = (options) => (typeof options === "string" ? options : options?.encoding);

export const readFileSync = (path, options) => {
  const bytes = machine("read", path, undefined);
  if (!coding(options)) return Object.defineProperty(bytes, "toString", { value: () => text(bytes) });
  try {
    return text(bytes);
  } catch {
    return String.fromCharCode(...bytes);
  }
};
export const writeFileSync = (path, data) => machine("write", path, bytesOf(data));
export const appendFileSync = (path, data) => {
  const before = existsSync(path) ? Array.from(machine("read", path, undefined)) : [];
  machine("write", path, before.concat(bytesOf(data)));
};
export const copyFileSync = (from, to) => machine("write", to, Array.from(machine("read", from, undefined)));
// Folders come with the files that are written into them.
export const mkdirSync = () => undefined;
export const existsSync = (path) => machine("kind", path, undefined) !== "";
export const readdirSync = (path) => JSON.parse(machine("list", path, undefined));
export const statSync = (path) => {
  const kind = machine("kind", path, undefined);
  if (kind === "") throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT", path: String(path) });
  const size = () => (kind === "file" ? machine("read", path, undefined).length : 0);
  return { isFile: () => kind === "file", isDirectory: () => kind === "folder", isSymbolicLink: () => false, get size() { return size(); } };
};
export const lstatSync = statSync;
export const accessSync = (path) => void statSync(path);
const later = (work) => async (...words) => work(...words);
export const promises = {
  readFile: later(readFileSync), writeFile: later(writeFileSync), appendFile: later(appendFileSync),
  copyFile: later(copyFileSync), mkdir: later(mkdirSync), readdir: later(readdirSync), stat: later(statSync),
  lstat: later(lstatSync), access: later(accessSync),
};
export const { readFile, writeFile, appendFile, copyFile, mkdir, readdir, stat, lstat, access } = promises;
export default {
  readFileSync, writeFileSync, appendFileSync, copyFileSync, mkdirSync, existsSync, readdirSync, statSync, lstatSync,
  accessSync, promises, ...promises,
};

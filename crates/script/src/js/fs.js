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
const bytesOf = (data, options) =>
  Array.from(typeof data === "string" ? Buffer.from(data, coding(options) ?? "utf8") : ArrayBuffer.isView(data) ? data : Buffer.from(String(data)));
const coding = (options) => (typeof options === "string" ? options : options?.encoding);

export const readFileSync = (path, options) => {
  const bytes = Buffer.from(machine("read", path, undefined));
  return coding(options) ? bytes.toString(coding(options)) : bytes;
};
export const writeFileSync = (path, data, options) => machine("write", path, bytesOf(data, options));
export const appendFileSync = (path, data, options) => {
  const before = existsSync(path) ? Array.from(machine("read", path, undefined)) : [];
  machine("write", path, before.concat(bytesOf(data, options)));
};
export const copyFileSync = (from, to) => machine("write", to, Array.from(machine("read", from, undefined)));
// Folders come with the files that are written into them.
export const mkdirSync = () => undefined;
export const existsSync = (path) => {
  try {
    return machine("kind", path, undefined) !== "";
  } catch {
    // As node says of what it may not see; whoever asks is told of it all the same.
    return false;
  }
};
export const readdirSync = (path) => JSON.parse(machine("list", path, undefined));
export const statSync = (path) => {
  const kind = machine("kind", path, undefined);
  if (kind === "") throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT", path: String(path) });
  const size = () => (kind === "file" ? machine("read", path, undefined).length : 0);
  return { isFile: () => kind === "file", isDirectory: () => kind === "folder", isSymbolicLink: () => false, get size() { return size(); } };
};
export const lstatSync = statSync;
export const accessSync = (path) => void statSync(path);
export const realpathSync = (path) => (statSync(path), String(path?.pathname ?? path));
export const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1 };
const refused = (name) => () => {
  throw Object.assign(new Error(`EACCES: ${name}: a reflex reads and writes whole files and does nothing else to them`), { code: "EACCES" });
};
export const unlinkSync = refused("unlink");
export const rmSync = refused("rm");
export const rmdirSync = refused("rmdir");
export const renameSync = refused("rename");
export const chmodSync = refused("chmod");
export const symlinkSync = refused("symlink");
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
export const mkdtempSync = (prefix) => {
  const end = Array.from({ length: 6 }, () => LETTERS[Math.floor(Math.random() * LETTERS.length)]).join("");
  machine("folder", `${prefix}${end}`, undefined);
  return `${prefix}${end}`;
};
export const openSync = refused("open");
export const createReadStream = refused("createReadStream");
export const createWriteStream = refused("createWriteStream");
export const watch = refused("watch");
const later = (work) => async (...words) => work(...words);
export const promises = {
  readFile: later(readFileSync), writeFile: later(writeFileSync), appendFile: later(appendFileSync),
  copyFile: later(copyFileSync), mkdir: later(mkdirSync), readdir: later(readdirSync), stat: later(statSync),
  lstat: later(lstatSync), access: later(accessSync), realpath: later(realpathSync), unlink: later(unlinkSync), rm: later(rmSync),
  rmdir: later(rmdirSync), rename: later(renameSync), chmod: later(chmodSync), symlink: later(symlinkSync),
  mkdtemp: later(mkdtempSync), open: later(openSync), constants,
};
export const {
  readFile, writeFile, appendFile, copyFile, mkdir, readdir, stat, lstat, access, realpath, unlink, rm, rmdir, rename, chmod, symlink,
  mkdtemp, open,
} = promises;
export default {
  readFileSync, writeFileSync, appendFileSync, copyFileSync, mkdirSync, existsSync, readdirSync, statSync, lstatSync,
  accessSync, realpathSync, unlinkSync, rmSync, rmdirSync, renameSync, chmodSync, symlinkSync, mkdtempSync, openSync,
  createReadStream, createWriteStream, watch, promises, ...promises,
};

// `node:child_process`: modules that name it can be loaded, and start nothing.
const refused = (name) => () => {
  throw Object.assign(new Error(`${name}: a reflex starts no programs; what git knows stands in ctx.reflex.git`), { code: "EACCES" });
};
export const exec = refused("exec");
export const execFile = refused("execFile");
export const execSync = refused("execSync");
export const execFileSync = refused("execFileSync");
export const fork = refused("fork");
export const spawn = refused("spawn");
export const spawnSync = refused("spawnSync");
export default { exec, execFile, execSync, execFileSync, fork, spawn, spawnSync };

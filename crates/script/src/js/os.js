// `node:os`: what is no secret of the machine. The home is that of the call.
export const EOL = "\n";
export const platform = () => "linux";
export const type = () => "Linux";
export const arch = () => "x64";
export const homedir = () => __reflex.home();
export const tmpdir = () => "/tmp";
export const hostname = () => "localhost";
export const userInfo = () => ({ username: __reflex.home().split("/").pop(), homedir: __reflex.home(), uid: -1, gid: -1, shell: null });
export const cpus = () => [];
export default { EOL, platform, type, arch, homedir, tmpdir, hostname, userInfo, cpus };

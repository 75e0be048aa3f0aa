// `node:url`.
export const URL = globalThis.URL;
export const URLSearchParams = globalThis.URLSearchParams;
export const fileURLToPath = (url) => decodeURIComponent(new globalThis.URL(String(url)).pathname);
export const pathToFileURL = (path) => new globalThis.URL(`file://${encodeURI(path)}`);
export default { URL, URLSearchParams, fileURLToPath, pathToFileURL };

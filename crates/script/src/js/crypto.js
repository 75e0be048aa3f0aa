// `node:crypto`: digests.
const bytesOf = (data) =>
  typeof data === "string" ? Array.from(unescape(encodeURIComponent(data)), (letter) => letter.charCodeAt(0)) : Array.from(data);
export const createHash = (name) => {
  const all = [];
  const hash = {
    update: (data) => (bytesOf(data).forEach((byte) => all.push(byte)), hash),
    digest: (coding) => {
      const bytes = __reflex.digest(String(name), all);
      if (coding === "hex") return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
      return coding === "base64" ? btoa(String.fromCharCode(...bytes)) : bytes;
    },
  };
  return hash;
};
export default { createHash };

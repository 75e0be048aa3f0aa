var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toESM = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
  // If the importer is in node compatibility mode or this is not an ESM
  // file that has been converted to a CommonJS file using a Babel-
  // compatible transform (i.e. "__esModule" has not been set), then set
  // "default" to the CommonJS "module.exports" for node compatibility.
  isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
  mod
));
var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);

// src/r8.ts
var r8_exports = {};
__export(r8_exports, {
  default: () => r8_default
});
module.exports = __toCommonJS(r8_exports);
var import_node_crypto = require("node:crypto");
var import_node_assert = __toESM(require("node:assert"));
var import_core = require("@agentreflex/core");
async function* parts(text) {
  for (const p of text.split("&&")) yield p.trim();
}
var r8_default = { name: "old-target", async onToolCall({ command = "", ...rest }) {
  var _a, _b;
  import_node_assert.default.ok((_a = rest.cwd) != null ? _a : true);
  const id = (0, import_node_crypto.randomUUID)();
  for await (const p of parts(command)) {
    const h = (0, import_node_crypto.createHash)("sha1").update(p).digest("hex");
    if (h.startsWith("bb")) return (0, import_core.deny)(h);
    if ((_b = p == null ? void 0 : p.startsWith("x")) != null ? _b : false) return (0, import_core.deny)(`x ${id.length} ${Buffer.from(p).toString("base64")}`);
  }
  return (0, import_core.pass)();
} };
//# sourceMappingURL=index.cjs.map

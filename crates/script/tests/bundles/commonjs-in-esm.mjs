var __getOwnPropNames = Object.getOwnPropertyNames;
var __require = /* @__PURE__ */ ((x) => typeof require !== "undefined" ? require : typeof Proxy !== "undefined" ? new Proxy(x, {
  get: (a, b) => (typeof require !== "undefined" ? require : a)[b]
}) : x)(function(x) {
  if (typeof require !== "undefined") return require.apply(this, arguments);
  throw Error('Dynamic require of "' + x + '" is not supported');
});
var __commonJS = (cb, mod) => function __require2() {
  try {
    return mod || (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;
  } catch (e) {
    throw mod = 0, e;
  }
};

// src/r10.js
var require_r10 = __commonJS({
  "src/r10.js"(exports) {
    Object.defineProperty(exports, "__esModule", { value: true });
    exports.reflex = void 0;
    var core_1 = __require("@agentreflex/core");
    var util_1 = __require("node:util");
    exports.reflex = { name: "tsc-out", onToolCall: (ctx) => (0, util_1.inspect)(ctx.command).includes("frob") ? (0, core_1.ask)("t") : (0, core_1.pass)() };
    exports.default = exports.reflex;
  }
});
export default require_r10();

"use strict";

// src/r10.js
Object.defineProperty(exports, "__esModule", { value: true });
exports.reflex = void 0;
var core_1 = require("@agentreflex/core");
var util_1 = require("node:util");
exports.reflex = { name: "tsc-out", onToolCall: (ctx) => (0, util_1.inspect)(ctx.command).includes("frob") ? (0, core_1.ask)("t") : (0, core_1.pass)() };
exports.default = exports.reflex;

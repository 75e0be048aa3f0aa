// src/r7.cjs
var { deny, pass, parseCommand } = require("@agentreflex/core");
var path = require("path");
var { execSync } = require("child_process");
var fs = require("fs");
var branch = "main";
try {
  branch = execSync("git branch --show-current").toString().trim();
} catch {
}
module.exports = { name: "cjs-plain", onToolCall(ctx) {
  for (const { argv } of parseCommand(ctx.command || "")) if (path.basename(argv[0] || "") === "frob") return deny("on " + branch + " " + fs.existsSync("/x"));
  return pass();
} };

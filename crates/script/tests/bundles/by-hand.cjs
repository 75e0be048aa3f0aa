const { deny, pass, parseCommand } = require("@agentreflex/core");
const path = require("path"); const { execSync } = require("child_process");
const fs = require("fs");
let branch = "main"; try { branch = execSync("git branch --show-current").toString().trim(); } catch {}
module.exports = { name: "cjs-plain", onToolCall(ctx) {
  for (const { argv } of parseCommand(ctx.command || "")) if (path.basename(argv[0] || "") === "frob") return deny("on " + branch + " " + fs.existsSync("/x"));
  return pass();
} };

#!/usr/bin/env node
// Starts the program of this platform. Hook entries name that program itself: Node would cost each call 100 ms.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@reflex-guard/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/reflex`);
} catch {
  console.error(`reflex-guard: ${name} is not installed. This platform has no package, or npm ran with --omit=optional.`);
  process.exit(70);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`reflex-guard: ${program}: ${error.message}`);
  process.exit(70);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));

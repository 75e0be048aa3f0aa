// Chromium of the system, and the guard's page served at a terminal.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "playwright-core";

const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((file) => existsSync(file));

export function launch(env) {
  if (!executablePath) throw new Error("there is no Chromium on this machine");
  return chromium.launch({
    env,
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** Serves the page by a command line for a shell; returns its address, the code that opens it, and the process. */
export async function serve(line, folder, options, limit) {
  const typescript = join(folder, `typescript-${process.hrtime.bigint()}`);
  const server = spawn("script", ["-qefc", line, typescript], { ...options, stdio: ["pipe", "pipe", "pipe"] });
  try {
    for (let tries = 0; tries < limit / 50; tries += 1) {
      const said = existsSync(typescript) ? readFileSync(typescript, "utf8") : "";
      const found = /(http:\/\/127\.0\.0\.1:\d+\/)[\s\S]*once: (\w+)/.exec(said);
      if (found) return { url: found[1], code: found[2], server };
      await pause(50);
    }
  } finally {
    rmSync(typescript, { force: true });
  }
  server.kill();
  throw new Error("the page did not open");
}

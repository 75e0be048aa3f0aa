// A person at the page: `node test/answer.mjs REFLEX HOME SECONDS PASSPHRASE` opens it, sees the first call that waits,
// lets it wait for that long, approves it by keys and ends. Chromium is that of the system. Every wait is bounded.
import { tmpdir } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { launch, serve } from "./browser.mjs";

const LIMIT = 90_000;
const [reflex, home, seconds, passphrase] = process.argv.slice(2);
const env = { PATH: process.env.PATH, HOME: home, TERM: "xterm", LANG: "C.UTF-8" };
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

const { url, code, server } = await serve([reflex, "--home", home, "ui", "--no-open", "--port", "0"].map(quoted).join(" "), tmpdir(), { env }, LIMIT);
const chrome = await launch(env);
try {
  const page = await chrome.newPage();
  page.setDefaultTimeout(LIMIT);
  await page.goto(`${url}#code=${code}`);
  console.log("open");
  await page.locator("pre.call").waitFor();
  await pause(Number(seconds) * 1000);
  await page.keyboard.press("a");
  await page.getByText("Approving runs exactly this once").waitFor();
  await page.waitForFunction(() => document.activeElement?.matches("input, textarea"));
  await page.keyboard.type(passphrase);
  await page.keyboard.press("Enter");
  await page.getByText("approved; it runs now").waitFor();
  console.log("approved");
} finally {
  await chrome.close();
  server.kill();
}
process.exit();

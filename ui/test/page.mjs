// The page in a real browser: `node test/page.mjs REFLEX [PICTURES]` with the built binary and, if they are to be
// taken, a folder for pictures. Chromium is that of the system. Every wait is bounded; it ends with 1 at the first miss.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { launch, serve as serveAt } from "./browser.mjs";

const PASSPHRASE = "correct horse";
const LONG = 30_000;
/** A call that came up by itself takes keys after this. */
const SETTLED = 1_000;
/** All widths for pictures; without them those at which most can break. */
const WIDTHS = process.argv[3] ? [390, 1024, 1600] : [390, 1280];
const VIEWS = ["waiting", "timeline", "record", "try", "rules", "policy", "agents"];

const reflex = resolve(process.argv[2] ?? "");
const pictures = process.argv[3];
const root = mkdtempSync(join(tmpdir(), "reflex-page-"));
const home = join(root, "home");
const project = join(root, "my shop");
for (const folder of [join(home, ".claude"), project]) mkdirSync(folder, { recursive: true });
const env = { PATH: process.env.PATH, HOME: home, TERM: "xterm", LANG: "C.UTF-8" };
spawnSync("git", ["init", "-q", "-b", "topic"], { cwd: project, env: { ...env, GIT_CONFIG_NOSYSTEM: "1" } });
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
const line = (words) => [reflex, "--home", home, ...words].map(quoted).join(" ");

/** What was started and has to end with us. */
const running = new Set();

function start(program, words, input) {
  const started = watched(spawn(program, words, { cwd: project, env, stdio: ["pipe", "pipe", "pipe"] }));
  if (input !== undefined) started.child.stdin.end(input);
  return started;
}

function watched(child) {
  running.add(child);
  let stdout = "";
  child.stdout.on("data", (data) => (stdout += data));
  child.stderr.on("data", (data) => (stdout += data));
  const ended = new Promise((done) => child.on("close", (code) => (running.delete(child), done({ code, stdout }))));
  // A program may end before it has read what it does not need.
  child.stdin.on("error", () => {});
  return { child, ended };
}

async function within(promise, what) {
  const late = pause(LONG, undefined, { ref: false }).then(() => assert.fail(`${what} took too long`));
  return Promise.race([promise, late]);
}

const atTerminal = (words, answer) => within(start("script", ["-qec", line(words), "/dev/null"], answer).ended, words[0]);

/** Codex's hook before a command: this client has no way to ask, so that it waits for the page. */
function hook(command, key) {
  const payload = {
    session_id: "s1", turn_id: "t", transcript_path: null, cwd: project, model: "m", permission_mode: "default",
    hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command }, tool_use_id: `c${Math.random()}`,
  };
  const words = ["--home", home, "hook", "--agent", "codex", "--event", "PreToolUse", "--key", key];
  return start(reflex, words, JSON.stringify(payload)).ended;
}

async function serve(port) {
  const served = await serveAt(line(["ui", "--no-open", "--port", String(port)]), root, { cwd: project, env }, LONG);
  const { child, ended } = watched(served.server);
  return { ...served, server: { child, ended } };
}

const shows = (page, text) => page.locator("pre.call", { hasText: text }).waitFor();

/** Until keys go into a field. */
const writes = (page) => page.waitForFunction(() => document.activeElement?.matches("input, textarea"));

async function audit(page, name) {
  const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  // Past the page's own rules for scripts, as a browser's tools are.
  const found = await page.evaluate(`(() => { ${source}; return window.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"] }); })()`);
  const serious = found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target).join(", ")}`);
  assert.deepEqual(serious, [], name);
}

/** The ids of the approvals so far. */
async function approvals() {
  const { stdout } = await start(reflex, ["--home", home, "grants", "--json"], "").ended;
  return JSON.parse(stdout).grants.filter((grant) => grant.allow).map((grant) => grant.text);
}

/** 109 calls were stopped earlier and one waits: keys reach that one. The tab is unlocked. */
async function answerAmongMany(page, key, drawer) {
  for (let at = 0; at < 109; at++) {
    const payload = {
      session_id: `s${at % 3}`, transcript_path: "/t", cwd: project, permission_mode: "default", hook_event_name: "PreToolUse",
      tool_name: "Bash", tool_input: { command: `rm -rf ~ && echo ${at}` }, tool_use_id: `m${at}`,
    };
    await within(start(reflex, ["--home", home, "hook", "--agent", "claude", "--event", "PreToolUse", "--key", key], JSON.stringify(payload)).ended, "a block");
  }
  const known = await approvals();
  await drawer(109).waitFor();
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();
  await page.keyboard.press("a");
  await pause(SETTLED);
  await page.keyboard.press("y");
  assert.equal(await page.locator("pre.call").count(), 0, "nothing is selected");

  // One that the person opened takes no key, and its yes is its id.
  await drawer(109).click();
  await audit(page, "what was stopped earlier");
  await page.locator(".earlier a.call").nth(4).click();
  await page.locator("pre.call").waitFor();
  await pause(SETTLED);
  await page.keyboard.press("a");
  await page.keyboard.press("y");
  assert.equal(await page.locator(".choice form").count(), 0, "`a` approves only what waits");
  await page.getByRole("button", { name: "Approve its next try" }).click();
  await writes(page);
  await page.keyboard.type("yes");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  assert.deepEqual(await approvals(), known, "nothing was approved");

  // What begins to wait takes the screen, and the keys.
  let call = hook("git push --force origin among", key);
  await shows(page, "origin among");
  await pause(SETTLED);
  await page.keyboard.press("a");
  await pause(SETTLED);
  await page.keyboard.press("y");
  let said = await within(call, "the hook");
  assert.deepEqual([said.code, said.stdout], [0, ""], "the one that waits was approved");
  assert.deepEqual(await approvals(), ["git push --force origin among", ...known]);
  await page.getByText("git push --force origin among: approved; it runs now").waitFor();
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();

  // During an answer a new one is named, and changes nothing.
  call = hook("git push --force origin first", key);
  await shows(page, "origin first");
  await pause(SETTLED);
  await page.keyboard.press("d");
  await writes(page);
  await page.keyboard.type("not this ");
  const next = hook("git push --force origin second", key);
  await page.getByText("Waits too: git push --force origin second").waitFor();
  await shows(page, "origin first");
  await page.getByText(/its hook waits (2[5-9]|30) s more/).first().waitFor();
  await page.keyboard.type("one");
  await page.keyboard.press("Enter");
  said = await within(call, "the hook");
  assert.match(said.stdout, /A person said no to this, and this: not this one/);
  await shows(page, "origin second");
  await pause(SETTLED);
  await page.keyboard.press("d");
  await writes(page);
  await page.keyboard.press("Enter");
  said = await within(next, "the hook");
  assert.match(said.stdout, /A person said no to this/);
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();
  // A result belongs to the list.
  await page.goto(`${page.url().split("#")[0]}#/try`);
  assert.equal(await page.locator(".said").textContent(), "");
  await page.goto(`${page.url().split("#")[0]}#/waiting`);
  await page.getByRole("button", { name: "Clear…" }).or(drawer(109)).first().waitFor();
}

/** Calls come and end while keys are pressed: what is answered was on the screen. */
async function answerAtRandom(page, key) {
  let seed = 7;
  const below = (end) => (seed = (seed * 48271) % 2147483647) % end;
  const open = new Map();
  const ended = [];
  let answers = 0;
  for (let step = 0; step < 60; step++) {
    if (open.size < 2 && below(3) === 0) {
      const command = `git push --force origin random${step}`;
      open.set(command, hook(command, key).then((said) => (open.delete(command), ended.push({ command, ...said }))));
    }
    await pause(below(2) === 0 ? SETTLED : below(400));
    const shown = (await page.locator("pre.call").allTextContents()).join();
    const pressed = ["a", "y", "a", "y", "d", "Enter", "Escape", "j", "k"][below(9)];
    await page.keyboard.press(pressed);
    // Until the hook that was answered has ended.
    await pause(pressed === "y" || pressed === "Enter" ? 1500 : 100);
    for (const one of ended.splice(0)) {
      if (/No answer within|The user is not there/.test(one.stdout)) continue;
      answers++;
      assert.equal(shown.trim(), one.command, `step ${step}: another call was on the screen; ${one.stdout}`);
    }
  }
  assert.ok(answers > 2, `${answers} answers prove little`);
  // The rest is refused by hand.
  await page.keyboard.press("Escape");
  for (const call of JSON.parse((await start(reflex, ["--home", home, "pending", "--json"], "").ended).stdout).pending.filter((one) => one.until > 0)) {
    await atTerminal(["deny", call.id], "");
  }
  await within(Promise.all(open.values()), "the hooks");
}

async function play() {
  const wired = await atTerminal(["init", "--agent", "claude", "--yes"], "");
  assert.equal(wired.code, 0, wired.stdout);
  const pinned = await atTerminal(["pin"], `${PASSPHRASE}\n${PASSPHRASE}\ny\n`);
  assert.equal(pinned.code, 0, pinned.stdout);
  const key = (await start(reflex, ["--home", home, "pin", "--show"], "").ended).stdout.trim();
  const { url, code, server } = await serve(0);
  const chrome = await launch(env);
  running.add({ kill: () => chrome.close() });
  const context = await chrome.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(LONG);
  const elsewhere = [];
  context.on("request", (request) => request.url().startsWith(url) || elsewhere.push(request.url()));
  const complaints = [];
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => message.type() === "error" && !message.text().includes("401") && complaints.push(message.text()));

  await page.goto(`${url}#code=${code}`);
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();
  assert.ok(!page.url().includes(code), "the code stays in no address");

  // By keys alone: a call comes, is approved with the passphrase, and runs.
  let call = hook("git push --force origin feature", key);
  await shows(page, "origin feature");
  await audit(page, "a call that waits");
  await pause(SETTLED);
  await page.keyboard.press("a");
  await page.getByText("Approving runs exactly this once").waitFor();
  await writes(page);
  await page.keyboard.type(PASSPHRASE);
  await page.keyboard.press("Enter");
  let said = await within(call, "the hook");
  assert.deepEqual([said.code, said.stdout], [0, ""], "approved: the hook is silent");
  await page.getByText("git push --force origin feature: approved; it runs now").waitFor();

  // What is typed when a call comes up by itself answers nothing.
  call = hook("git push --force origin other", key);
  await shows(page, "origin other");
  await page.keyboard.type("say a no to this branch");
  await page.keyboard.press("Enter");
  await pause(SETTLED);
  await shows(page, "origin other");
  await page.keyboard.press("Escape");
  await pause(SETTLED);

  // The tab is unlocked now: a no with a word to the agent takes no passphrase.
  await page.keyboard.press("d");
  await writes(page);
  await page.keyboard.type("not this branch");
  await page.keyboard.press("Enter");
  said = await within(call, "the hook");
  assert.match(said.stdout, /A person said no to this, and this: not this branch/);

  // An answer that is being written stays with its call: it moves to no other when that call goes.
  call = hook("git push --force origin gone", key);
  await shows(page, "origin gone");
  await pause(SETTLED);
  await page.keyboard.press("d");
  await writes(page);
  await page.keyboard.type("not ");
  const newest = JSON.parse((await start(reflex, ["--home", home, "pending", "--json"], "").ended).stdout).pending[0];
  await atTerminal(["deny", newest.id], "");
  await within(call, "the hook");
  call = hook("git push --force origin next", key);
  await page.getByText("This call waits no more").waitFor();
  await page.keyboard.type("a branch");
  await page.keyboard.press("Enter");
  await page.getByText("this call no longer waits, or was replaced by another").waitFor();
  await shows(page, "origin gone");
  await page.keyboard.press("Escape");
  await shows(page, "origin next");
  await pause(SETTLED);
  // A word is no answer, also if it holds the letters of one.
  await page.keyboard.type("may");
  await pause(SETTLED);
  await shows(page, "origin next");
  await page.keyboard.press("Escape");
  await pause(SETTLED);
  await page.keyboard.press("a");
  await pause(SETTLED);
  await page.keyboard.press("y");
  said = await within(call, "the hook");
  assert.deepEqual([said.code, said.stdout], [0, ""], "approved by two letters");

  // Nobody answers in a tab that is closed; a new one shows what waits, is locked, and another command is judged first.
  const other = await context.newPage();
  await other.goto(url);
  call = hook("git push --force origin third", key);
  await shows(other, "origin third");
  await shows(page, "origin third");
  await other.reload();
  await shows(other, "origin third");
  await pause(SETTLED);
  await other.keyboard.press("e");
  await other.getByRole("textbox", { name: "The command the agent" }).fill("rm -rf ~");
  await other.getByRole("button", { name: "Judge this command" }).click();
  await other.getByText("that would be stopped too").waitFor();
  await other.getByRole("textbox", { name: "The command the agent" }).fill("git push origin third");
  await other.getByRole("button", { name: "Judge this command" }).click();
  await other.getByText("Judged: it runs without a question").waitFor();
  await other.getByLabel("Passphrase").fill("wrong one");
  await other.getByRole("button", { name: "Deny, and have it run this" }).click();
  await other.getByText("not the passphrase").waitFor();
  await other.getByLabel("Passphrase").fill(PASSPHRASE);
  await other.getByRole("button", { name: "Deny, and have it run this" }).click();
  said = await within(call, "the hook");
  assert.match(said.stdout, /run exactly `git push origin third` instead/);
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();
  await other.close();

  // An agent's own browser is not the person's: it sees nothing, and an answer of its own is none.
  const stranger = await (await chrome.newContext()).newPage();
  await stranger.goto(url);
  await stranger.getByLabel("Code from the terminal, or passphrase").waitFor();
  const tried = await stranger.evaluate(async () => {
    const send = { method: "POST", headers: { "content-type": "application/json", "x-reflex-tab": "x" }, body: "{}" };
    return (await fetch("/api/hook/approve", send)).status;
  });
  assert.equal(tried, 401);
  await audit(stranger, "the door");
  await stranger.context().close();

  // What was stopped earlier is apart, not in the badge, and is cleared by an unlocked tab.
  await within(start(reflex, ["--home", home, "hook", "--agent", "claude", "--event", "PreToolUse", "--key", key], JSON.stringify({
    session_id: "s2", transcript_path: "/t", cwd: project, permission_mode: "default", hook_event_name: "PreToolUse",
    tool_name: "Bash", tool_input: { command: "rm -rf ~" }, tool_use_id: "c1",
  })).ended, "a block");
  const drawer = (count) => page.locator("summary", { hasText: `Stopped earlier (${count})` });
  await drawer(1).waitFor();
  assert.equal(await page.locator(".count").count(), 0, "the badge counts what waits now");
  assert.ok(!(await page.getByRole("button", { name: "Clear…" }).isVisible()), "what was stopped earlier is folded");
  await drawer(1).click();
  await page.getByRole("button", { name: "Clear…" }).click();
  await page.getByRole("button", { name: "Clear them" }).click();
  await drawer(1).waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();

  await answerAmongMany(page, key, drawer);
  await answerAtRandom(page, key);
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();

  // On a phone a call is a screen of its own.
  await page.setViewportSize({ width: 390, height: 844 });
  call = hook("git push --force origin phone", key);
  await page.getByRole("link", { name: "origin phone" }).click();
  await shows(page, "origin phone");
  assert.ok(!(await page.locator(".list").isVisible()), "the list is away");
  await audit(page, "a call on a phone");
  await page.getByRole("link", { name: "All calls" }).click();
  await page.getByRole("heading", { name: "Waiting now (1)" }).waitFor();
  await page.getByRole("link", { name: "origin phone" }).click();
  await page.getByRole("button", { name: /Deny…/ }).click();
  await page.getByRole("button", { name: "Deny", exact: true }).click();
  await within(call, "the hook");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("heading", { name: "Nothing waits" }).waitFor();

  // Every view at three widths, dark and light.
  const waits = hook("cd api && rm -rf build ../customers && git push --force origin feature", key);
  await page.getByRole("heading", { name: "codex" }).waitFor();
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      for (const view of VIEWS) {
        await page.goto(`${url}#/${view}`);
        await page.locator("main h1:visible").first().waitFor();
        if (view === "try") {
          const payload = { tool_name: "Bash", tool_input: { command: "rm -rf ~" }, hook_event_name: "PreToolUse", session_id: "s", cwd: project };
          await page.getByLabel("Command, or").fill(JSON.stringify(payload));
          await page.keyboard.press("Enter");
          await page.locator("h2 .mark.block").waitFor();
          await page.getByLabel("Command, or").fill("git reset --hard && rm -rf ~/shop");
          await page.getByRole("button", { name: "Judge" }).click();
          await page.getByText("What this agent is told").waitFor();
        }
        if (view === "rules") {
          await page.getByRole("searchbox").fill("git force");
          await page.getByText("git/push-force", { exact: true }).waitFor();
        }
        if (view === "policy") {
          await page.getByRole("button", { name: "Judge recorded calls" }).click();
          await page.getByText("calls judged").waitFor();
        }
        if (view === "timeline") {
          await page.locator(".steps li").first().waitFor();
          assert.equal(await page.getByText("Records are missing here").count(), 0, "the log is whole");
        }
        if (view === "record") {
          await page.getByRole("row").nth(3).waitFor();
          const kept = page.getByRole("button", { name: "agent=codex" });
          if ((await kept.count()) === 0) {
            await page.getByRole("searchbox").fill("agent=codex");
            await page.getByRole("button", { name: "Keep this search" }).click();
            await page.getByRole("searchbox").fill("");
          }
          await kept.click();
          await page.getByRole("button", { name: "Forget this search" }).waitFor();
          const file = page.waitForEvent("download");
          await page.getByRole("button", { name: "Save as a file" }).click();
          assert.equal((await file).suggestedFilename(), "reflex-audit.jsonl");
        }
        await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
        await audit(page, `${view} ${colorScheme} ${width}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(wide <= 0, `${view} at ${width} is ${wide} pixels too wide`);
        if (pictures && (view === "waiting" || width === 1024)) await page.screenshot({ path: join(pictures, `${view}-${colorScheme}-${width}.png`) });
      }
    }
  }

  // The server ends with its terminal: what waits stays, and the page says what to do.
  server.child.stdin.write("\u0003");
  await within(server.ended, "the server");
  await page.getByText("Reflex does not answer").waitFor();
  const again = await serve(Number(new URL(url).port));
  // A new page: the same one would take the code for a place in it.
  await page.goto("about:blank");
  await page.goto(`${again.url}#code=${again.code}`);
  await page.locator("summary", { hasText: "Stopped earlier" }).waitFor();
  again.server.child.stdin.write("\u0003");
  await within(Promise.all([waits, again.server.ended]), "the end");
  assert.deepEqual(elsewhere, [], "nothing is asked of another host");
  const expected = /Failed to load resource|ERR_/;
  assert.deepEqual(complaints.filter((one) => !expected.test(one)), [], "the browser complains of nothing");
  await chrome.close();
}

try {
  await play();
  console.log("the page works");
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  for (const child of running) await child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
}
process.exit();

// Reflex: written by `reflex init`, taken away by `reflex uninstall`.
// Every tool call goes to the guard first. What it refuses, and what it does not answer, is thrown and does not run.
import { spawn } from "node:child_process"

const BINARY = "REFLEX"
// Below this home the guard keeps its files.
const PLACE = ["HOME"]
// The guard gives up after eight seconds by itself, but waits for a person for up to 290.
const PATIENCE = 300000
// What the guard says about a call that may run is put behind what its tool answers.
const MOST_REMARKS = 200

function ask(event, payload) {
  return new Promise((resolve) => {
    const refused = (reason) => ({ code: 2, out: "", err: "Blocked: " + reason + ", so this call does not run." })
    let out = "", err = "", timer
    const end = (answer) => { clearTimeout(timer); resolve(answer) }
    let guard
    try {
      guard = spawn(BINARY, ["hook", "--agent", "opencode", "--event", event, ...PLACE], { stdio: ["pipe", "pipe", "pipe"] })
    } catch (error) {
      return end(refused("reflex cannot be started (" + error.message + ")"))
    }
    timer = setTimeout(() => { guard.kill("SIGKILL"); end(refused("reflex did not answer")) }, PATIENCE)
    guard.stdout.on("data", (data) => { out += data })
    guard.stderr.on("data", (data) => { err += data })
    guard.on("error", (error) => end(refused("reflex cannot be started (" + error.message + ")")))
    guard.on("close", (code) => {
      if (code === 0 || code === 2) return end({ code, out, err })
      end(refused("reflex failed (" + code + ")"))
    })
    guard.stdin.on("error", () => {})
    guard.stdin.end(JSON.stringify({ agent: "opencode", event, ...payload }))
  })
}

function heard(answer) {
  if (!answer.out.trim()) return {}
  try { return JSON.parse(answer.out) } catch { return { decision: "deny", reason: "reflex answered with no JSON" } }
}

// Each exported function is taken for a plugin, so there is one.
export const Reflex = async ({ client, directory, worktree }) => {
  const remarks = new Map()
  // Command files run their shell lines without a tool call, so what the guard says of them comes first.
  let atStart = ask("session.start", { cwd: directory, worktree }).then((answer) => heard(answer).context)
  atStart.then((message) => message &&
    client?.tui?.showToast?.({ body: { title: "Reflex", message, variant: "warning" } })).catch(() => {})
  const begun = async () => {
    const said = await atStart
    atStart = undefined
    return said
  }
  const call = (input, args) => ({ tool: input.tool, args: args ?? {}, session_id: input.sessionID,
    call_id: input.callID, cwd: directory, worktree })
  return {
    "tool.execute.before": async (input, output) => {
      const answer = await ask("tool.execute.before", call(input, output.args))
      const said = heard(answer)
      if (answer.code === 2 || said.decision === "deny") {
        throw new Error(said.reason || answer.err.trim() || "Blocked: reflex refused this call.")
      }
      // Only what changes in the object itself counts for the client.
      if (said.args) Object.assign(output.args, said.args)
      if (!said.context) return
      if (remarks.size >= MOST_REMARKS) remarks.clear()
      remarks.set(input.callID, said.context)
    },
    "tool.execute.after": async (input, output) => {
      const text = typeof output.output === "string" ? output.output : JSON.stringify(output.content ?? output)
      const answer = await ask("tool.execute.after", { ...call(input, input.args), output: text })
      const said = [await begun(), remarks.get(input.callID), heard(answer).context].filter(Boolean).join("\n")
      remarks.delete(input.callID)
      if (!said) return
      if (typeof output.output === "string") output.output += "\n" + said
      else if (Array.isArray(output.content)) output.content.push({ type: "text", text: said })
    },
  }
}

// The plugin for OpenClaw with a daemon of the test's own at the other end of the socket, run by node's runner
// from test_openclaw_plugin.py, which says in PLUGIN where the plugin is.

import assert from "node:assert/strict"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { after, beforeEach, test } from "node:test"
import { pathToFileURL } from "node:url"

const { default: plugin } = await import(pathToFileURL(process.env.PLUGIN))

const PERSON = { sessionId: "s1", agentId: "main", workspaceDir: "/w", trigger: "user" }
const PROMPT = { prompt: "Fix it.", messages: [] }
const BRIEF = "what was done"

let home, letters, answers, server

beforeEach(async () => {
  await close()
  home = mkdtempSync(path.join(tmpdir(), "holdfast-"))
  letters = []
  answers = {}
  process.env.OPENCLAW_STATE_DIR = "/state"
})

after(close)

async function close() {
  if (server) await new Promise((resolve) => server.close(resolve))
  server = undefined
  if (home) rmSync(home, { recursive: true })
}

// A daemon that remembers letters and answers by the name of the event.
async function listen() {
  const socket = path.join(home, "socket")
  mkdirSync(path.join(home, "run"))
  writeFileSync(path.join(home, "run", "endpoint"), `unix ${socket}\n`)
  server = createServer({ allowHalfOpen: true }, (line) => {
    const chunks = []
    line.on("data", (chunk) => {
      chunks.push(chunk)
      const [head, body] = split(Buffer.concat(chunks).toString())
      if (Number(/^length: (\d+)$/m.exec(head)?.[1]) !== Buffer.byteLength(body)) return
      const letter = JSON.parse(body)
      letters.push({ ...letter, head })
      line.end(answered(answers[letter.hook_event_name]))
    })
  })
  await new Promise((resolve) => server.listen(socket, resolve))
}

function split(request) {
  const gap = request.indexOf("\n\n")
  return [request.slice(0, gap), request.slice(gap + 2)]
}

function answered(text) {
  const body = text ? JSON.stringify({ hookSpecificOutput: { additionalContext: text } }) : ""
  return `HOLDFAST/1 ok ${Buffer.byteLength(body)}\n${body}`
}

// What OpenClaw has of the plugin after it registered.
function registered(config = { home }) {
  const hooks = {}
  let provider
  plugin.register({
    pluginConfig: config,
    on: (name, hook) => (hooks[name] = hook),
    registerCompactionProvider: (given) => (provider = given),
  })
  return { hooks, provider }
}

const names = () => letters.map((letter) => letter.hook_event_name)

test("a prompt is told with its session, and the answers stand where they belong", async () => {
  await listen()
  answers = { UserPromptSubmit: "half full", Request: BRIEF }
  const given = await registered().hooks.before_prompt_build(PROMPT, PERSON)
  assert.deepEqual(given, { appendSystemContext: BRIEF, prependContext: "half full" })
  assert.deepEqual(names(), ["SessionStart", "UserPromptSubmit", "Request"])
  const [start, prompt] = letters
  assert.equal(start.source, "startup")
  assert.equal(prompt.prompt, "Fix it.")
  assert.equal(prompt.session_id, "s1")
  assert.equal(prompt.cwd, "/w")
  assert.equal(prompt.transcript_path, "/state/agents/main/agent/openclaw-agent.sqlite/s1")
  assert.match(prompt.head, /^HOLDFAST\/1 hook-event\n/)
  assert.match(prompt.head, /\nharness: openclaw\n/)
  assert.match(prompt.head, new RegExp(`\\nprocess: ${process.pid} `))
  assert.match(prompt.head, /\nenv.OPENCLAW_STATE_DIR: \/state\n/)
})

test("nothing is said to a request that no person caused", async () => {
  await listen()
  answers = { UserPromptSubmit: "no", Request: "no" }
  for (const trigger of ["memory", "heartbeat", "cron", undefined]) {
    assert.equal(await registered().hooks.before_prompt_build(PROMPT, { ...PERSON, trigger }), undefined)
  }
  assert.deepEqual(letters, [])
})

test("a session with a past is resumed, and says so once", async () => {
  await listen()
  const { hooks } = registered()
  await hooks.before_prompt_build({ prompt: "a", messages: [{}] }, PERSON)
  await hooks.before_prompt_build({ prompt: "b", messages: [{}, {}] }, PERSON)
  assert.deepEqual(names(), ["SessionStart", "UserPromptSubmit", "Request", "UserPromptSubmit", "Request"])
  assert.equal(letters[0].source, "resume")
})

test("after a reset the session begins anew, and says whom it continues", async () => {
  await listen()
  const { hooks } = registered()
  await hooks.before_prompt_build(PROMPT, PERSON)
  await hooks.before_reset({ reason: "new" }, PERSON)
  await hooks.session_end({ sessionId: "s1", reason: "new", nextSessionId: "s1" }, {})
  await hooks.session_start({ sessionId: "s1", resumedFrom: "s1" }, {})
  letters.length = 0
  await hooks.before_prompt_build({ prompt: "b", messages: [{}] }, PERSON)
  assert.equal(letters[0].source, "clear")
  assert.equal(letters[0].previousSessionKey, "s1")
})

test("a session that was emptied begins anew, whoever of several registrations is called", async () => {
  await listen()
  await registered().hooks.before_prompt_build(PROMPT, PERSON)
  await registered().hooks.before_prompt_build(PROMPT, PERSON)
  const starts = letters.filter((letter) => letter.hook_event_name === "SessionStart")
  assert.deepEqual(starts.map((start) => start.source), ["startup", "clear"])
  assert.equal(new Set(letters.map((letter) => /\nid: (.*)\n/.exec(letter.head)[1])).size, letters.length)
})

test("how much the model holds is said when a turn is over, and again when it changed", async () => {
  await listen()
  const { hooks } = registered()
  await hooks.before_prompt_build(PROMPT, PERSON)
  for (const contextTokenBudget of [60_000, 60_000, 40_000]) {
    await hooks.model_call_started({ sessionId: "s1", model: "large", contextTokenBudget }, {})
    await hooks.agent_end({}, PERSON)
  }
  await hooks.model_call_started({ sessionId: "unheard", model: "large", contextTokenBudget: 7 }, {})
  const stops = letters.filter((letter) => letter.hook_event_name === "Stop")
  assert.deepEqual(stops.map(({ model, window }) => [model, window]), [["large", 60_000], [undefined, undefined], ["large", 40_000]])
})

test("before a reset the session is told to be over, with all that it was", async () => {
  await listen()
  const { hooks } = registered()
  await hooks.before_reset({ reason: "new", messages: [{ content: "secret" }] }, PERSON)
  assert.deepEqual(names(), ["SessionEnd"])
  assert.equal(letters[0].reason, "clear")
  assert.equal("messages" in letters[0], false)
})

test("a session that is over for good is told once it was heard of", async () => {
  await listen()
  const { hooks } = registered()
  await hooks.session_end({ sessionId: "s1", reason: "shutdown" }, {})
  assert.deepEqual(letters, [])
  await hooks.before_prompt_build(PROMPT, PERSON)
  await hooks.session_end({ sessionId: "s1", reason: "shutdown" }, {})
  assert.equal(letters.at(-1).hook_event_name, "SessionEnd")
  assert.equal(letters.at(-1).reason, "shutdown")
})

test("a compaction is told before and after it, and one that changed nothing is none", async () => {
  await listen()
  const { hooks } = registered()
  await hooks.before_compaction({ messageCount: 6, tokenCount: 50 }, PERSON)
  await hooks.after_compaction({ compactedCount: 4 }, PERSON)
  assert.deepEqual(names(), ["PreCompact", "SessionStart"])
  assert.equal(letters[0].prompt_id, "6-50")
  assert.equal(letters[1].source, "compact")
  await hooks.after_compaction({ compactedCount: 0 }, PERSON)
  assert.equal(letters.length, 2)
})

test("the provider answers for the one session that is compacted, and for none of several", async () => {
  await listen()
  answers = { PreCompact: "must be kept" }
  const { hooks, provider } = registered()
  assert.equal(provider.id, "holdfast")
  assert.equal(await provider.summarize({ messages: [] }), "")
  const first = hooks.before_compaction({ messageCount: 6, tokenCount: 50 }, PERSON)
  assert.equal(await provider.summarize({ messages: [] }), "must be kept")
  const second = hooks.before_compaction({ messageCount: 2, tokenCount: 9 }, { ...PERSON, sessionId: "s2" })
  assert.equal(await provider.summarize({ messages: [] }), "")
  await Promise.all([first, second])
  await hooks.after_compaction({ compactedCount: 2 }, { ...PERSON, sessionId: "s2" })
  assert.equal(await provider.summarize({ messages: [] }), "must be kept")
})

test("a call of our tools rings for its session, another one does not", async () => {
  await listen()
  const { hooks } = registered()
  await hooks.before_tool_call({ toolName: "exec", toolCallId: "c0" }, PERSON)
  await hooks.before_tool_call({ toolName: "holdfast__recall", toolCallId: "c1", params: { query: "x" } }, PERSON)
  assert.deepEqual(names(), ["PreToolUse"])
  assert.equal(letters[0].tool_use_id, "c1")
  assert.equal("params" in letters[0], false)
})

test("where the daemon is away the hook's command carries the letter and answers", async () => {
  const command = path.join(home, "hook")
  const kept = path.join(home, "kept")
  const said = JSON.stringify({ hookSpecificOutput: { additionalContext: BRIEF } })
  writeFileSync(command, `#!/bin/sh\ncat >> '${kept}'; echo >> '${kept}'; printf '%s' '${said}'\n`)
  chmodSync(command, 0o700)
  const given = await registered({ home, command }).hooks.before_prompt_build(PROMPT, PERSON)
  assert.equal(given.appendSystemContext, BRIEF)
  const lines = readFileSync(kept, "utf8").trim().split("\n").map((line) => JSON.parse(line).hook_event_name)
  assert.deepEqual(lines, ["SessionStart", "UserPromptSubmit", "Request"])
})

test("where nobody answers any more, what the window was given goes along unchanged", async () => {
  await listen()
  answers = { Request: BRIEF }
  const { hooks } = registered()
  await hooks.before_prompt_build(PROMPT, PERSON)
  await new Promise((resolve) => server.close(resolve))
  server = undefined
  const given = await hooks.before_prompt_build({ prompt: "b", messages: [{}] }, PERSON)
  assert.deepEqual(given, { appendSystemContext: BRIEF })
})

test("nobody notices that everything is gone", async () => {
  const { hooks } = registered({ home: "/nonexistent", command: "/nonexistent/hook" })
  assert.equal(await hooks.before_prompt_build(PROMPT, PERSON), undefined)
  assert.equal(await hooks.session_end({ sessionId: "s1", reason: "shutdown" }, undefined), undefined)
})

test("no hook throws, whatever it is given", async () => {
  await listen()
  const { hooks } = registered()
  for (const hook of Object.values(hooks)) {
    for (const given of [undefined, null, {}, { messages: 7 }, { toolName: "holdfast__x" }]) {
      assert.equal(await hook(given, undefined), undefined)
      await hook(given, PERSON)
    }
  }
})

test("without a home, or switched off, nothing is registered", () => {
  assert.deepEqual(registered({}).hooks, {})
  process.env.HOLDFAST_DISABLE = "1"
  try {
    assert.deepEqual(registered().hooks, {})
  } finally {
    delete process.env.HOLDFAST_DISABLE
  }
})

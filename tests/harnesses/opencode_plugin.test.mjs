// The plugin in OpenCode carries, and never harms. Run by node's own runner, from test_opencode_plugin.py,
// which says in PLUGIN where the plugin is.

import assert from "node:assert/strict"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, test } from "node:test"
import { pathToFileURL } from "node:url"

const { default: holdfast } = await import(pathToFileURL(process.env.PLUGIN))
const TURN = "You are an agent.\n<env>\n  Working directory: /p\n</env>"
const TITLE = "You are a title generator."

let home, daemon

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "holdfast-"))
  daemon = undefined
})

afterEach(async () => {
  daemon?.close()
  await rm(home, { recursive: true })
})

// A daemon that remembers the letters, and answers each as `answer` says.
async function listen(answer = () => "", { tcp = false, note = "endpoint" } = {}) {
  const letters = []
  daemon = createServer({ allowHalfOpen: true }, (line) => {
    const chunks = []
    line.on("error", () => {})
    line.on("data", (chunk) => {
      chunks.push(chunk)
      const [head, body = ""] = Buffer.concat(chunks).toString().split("\n\n")
      if (Number(/^length: (\d+)$/m.exec(head)?.[1]) !== Buffer.byteLength(body)) return
      const [kind, ...fields] = head.split("\n")
      const header = Object.fromEntries(fields.map((field) => field.split(": ")))
      const letter = { kind, header, ...JSON.parse(body) }
      letters.push(letter)
      const said = answer(letter, line)
      if (typeof said === "string") line.end(`HOLDFAST/1 ok ${Buffer.byteLength(said)}\n${said}`)
    })
  })
  await mkdir(path.join(home, "run"), { recursive: true })
  const socket = path.join(home, "s")
  await new Promise((done) => (tcp ? daemon.listen(0, "127.0.0.1", done) : daemon.listen(socket, done)))
  const place = tcp ? `tcp ${daemon.address().port}` : `unix ${socket}`
  await writeFile(path.join(home, "run", note), `${place}\n`)
  return letters
}

const given = (text) => JSON.stringify({ hookSpecificOutput: { hookEventName: "any", additionalContext: text } })
const only = (event, text) => (letter) => (letter.hook_event_name === event ? given(text) : "")
const plugin = (options = {}) => holdfast({ directory: "/p" }, { home, ...options })
const begin = (hooks, id, parentID) =>
  hooks.event({ event: { type: "session.created", properties: { info: { id, parentID } } } })

async function request(hooks, sessionID, system = TURN) {
  const output = { system: [system] }
  await hooks["experimental.chat.system.transform"]({ sessionID, model: {} }, output)
  return output.system.slice(1)
}

test("letters say whose they are, and come in the order in which things happened", async () => {
  const letters = await listen()
  const hooks = await plugin()
  await begin(hooks, "s1")
  const parts = [{ id: "prt_1", type: "text", text: "Fix it." }, { id: "prt_2", type: "text", text: "no", synthetic: true }]
  await hooks["chat.message"]({ sessionID: "s1" }, { message: { id: "msg_1" }, parts })
  await request(hooks, "s1")
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s1" } } })
  await hooks.dispose()
  assert.deepEqual(
    letters.map((letter) => letter.hook_event_name),
    ["SessionStart", "UserPromptSubmit", "Request", "Stop", "SessionEnd"],
  )
  assert.deepEqual([letters[0].source, letters[1].prompt, letters[4].reason], ["startup", "Fix it.", "exit"])
  for (const { kind, header, session_id, cwd, transcript_path } of letters) {
    assert.deepEqual([kind, header.harness, session_id, cwd], ["HOLDFAST/1 hook-event", "opencode", "s1", "/p"])
    assert.equal(header.process, `${process.pid} 0`)
    assert.match(transcript_path, /opencode\.db\/s1$/)
  }
  assert.equal(new Set(letters.map(({ header }) => header.id)).size, letters.length)
})

test("a daemon of the first version is found where it says", async () => {
  const letters = await listen(undefined, { note: "door" })
  const hooks = await plugin()
  await begin(hooks, "s1")
  await hooks.dispose()
  assert.deepEqual(letters.map((letter) => letter.hook_event_name), ["SessionStart", "SessionEnd"])
})

test("a fork is known by the name that OpenCode gives it", async () => {
  const letters = await listen()
  const hooks = await plugin()
  for (const [id, title] of [["s1", "A title (fork #1)"], ["s2", "About a (fork #1) in the road"]])
    await hooks.event({ event: { type: "session.created", properties: { info: { id, title } } } })
  await hooks.dispose()
  const source = (id) => letters.find(({ session_id }) => session_id === id).source
  assert.deepEqual([source("s1"), source("s2")], ["fork", "startup"])
})

test("a session that was not begun here is one that was resumed", async () => {
  const letters = await listen()
  await request(await plugin(), "s1")
  assert.deepEqual([letters[0].hook_event_name, letters[0].source], ["SessionStart", "resume"])
})

test("a brief goes with every request of a turn, and with no other", async () => {
  await listen(only("Request", "the brief"))
  const hooks = await plugin()
  assert.deepEqual(await request(hooks, "s1"), ["the brief"])
  assert.deepEqual(await request(hooks, "s1"), ["the brief"])
  assert.deepEqual(await request(hooks, "s1", TITLE), [])
})

test("how much the model holds is said with the first request, and again with another model", async () => {
  const letters = await listen()
  const hooks = await plugin()
  for (const id of ["large", "large", "small"]) {
    const model = { id, limit: { context: 9, output: 2 }, headers: "theirs" }
    await hooks["experimental.chat.system.transform"]({ sessionID: "s1", model }, { system: [TURN] })
  }
  const requests = letters.filter((letter) => letter.hook_event_name === "Request")
  const limit = { context: 9, output: 2 }
  assert.deepEqual(requests.map(({ model, limit }) => [model, limit]), [["large", limit], [undefined, undefined], ["small", limit]])
  assert.equal(requests.some((letter) => "headers" in letter), false)
})

test("where nobody answers any more, what the window was given goes along again", async () => {
  await listen(only("Request", "the brief"))
  const hooks = await plugin()
  await request(hooks, "s1")
  await new Promise((closed) => daemon.close(closed))
  assert.deepEqual(await request(hooks, "s1"), ["the brief"])
  await hooks.event({ event: { type: "session.compacted", properties: { sessionID: "s1" } } })
  assert.deepEqual(await request(hooks, "s1"), [])
})

test("a summary is told what it must keep", async () => {
  await listen(only("PreCompact", "keep this"))
  const output = { context: ["theirs"] }
  await (await plugin())["experimental.session.compacting"]({ sessionID: "s1" }, output)
  assert.deepEqual(output.context, ["theirs", "keep this"])
})

test("what is said to a prompt stands behind it, and is nobody's words", async () => {
  await listen(only("UserPromptSubmit", "half full"))
  const parts = [{ id: "prt_5", type: "text", text: "Fix it." }]
  await (await plugin())["chat.message"]({ sessionID: "s1" }, { message: { id: "msg_1" }, parts })
  assert.deepEqual(parts[1], {
    id: "prt_50",
    sessionID: "s1",
    messageID: "msg_1",
    type: "text",
    text: "half full",
    synthetic: true,
  })
})

test("a subagent is told nothing, and its calls of our tools are its session's", async () => {
  const letters = await listen((letter) => given("the brief"))
  const hooks = await plugin()
  await begin(hooks, "s1")
  await begin(hooks, "child", "s1")
  await begin(hooks, "grandchild", "child")
  assert.deepEqual(await request(hooks, "grandchild"), [])
  const parts = []
  await hooks["chat.message"]({ sessionID: "child" }, { message: { id: "m" }, parts })
  const context = []
  await hooks["experimental.session.compacting"]({ sessionID: "child" }, { context })
  await hooks.event({ event: { type: "session.idle", properties: { sessionID: "child" } } })
  assert.deepEqual([parts, context], [[], []])
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s1", callID: "c0" })
  await hooks["tool.execute.before"]({ tool: "holdfast_recall", sessionID: "grandchild", callID: "c1" })
  const [start, call, ...rest] = letters
  assert.equal(start.hook_event_name, "SessionStart")
  assert.deepEqual([call.session_id, call.tool_name, call.tool_use_id], ["s1", "holdfast_recall", "c1"])
  assert.deepEqual(rest, [])
})

test("where there is no daemon the hook is given the letter, and its answer counts", async () => {
  const kept = path.join(home, "kept")
  const command = `cat >> '${kept}'; printf '%s' '${given("from the hook")}'`
  assert.deepEqual(await request(await plugin({ command }), "s1"), ["from the hook"])
  const [start, asked] = (await readFile(kept, "utf8")).split("}{")
  assert.match(start, /"SessionStart"/)
  assert.match(asked, /"Request"/)
})

for (const [what, answer] of Object.entries({
  "an answer that is no JSON": () => "<html>",
  "an answer that is something else": () => "[]",
  "a text that is none": () => JSON.stringify({ hookSpecificOutput: { additionalContext: 7 } }),
  "half an answer": (_, line) => void line.end("HOLDFAST/1 ok 90\n{"),
  "no answer at all": (_, line) => void line.destroy(),
  "something else that listens": (_, line) => void line.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
})) {
  test(`${what} harms nobody`, async () => {
    await listen(answer)
    const hooks = await plugin({ command: "exit 3" })
    assert.deepEqual(await request(hooks, "s1"), [])
    await hooks.dispose()
  })
}

for (const [what, options] of Object.entries({
  "no command": {},
  "a command that is gone": { command: "/nonexistent/python3 -c hook" },
  "a command that says what it should not": { command: "echo no" },
  "a home that is gone": { home: "/nonexistent/home", command: "exit 0" },
})) {
  test(`nobody there, and ${what}: nobody notices`, async () => {
    const hooks = await plugin(options)
    await begin(hooks, "s1")
    assert.deepEqual(await request(hooks, "s1"), [])
    await hooks.dispose()
  })
}

test("a daemon that is stuck is waited for in bounded time, and is not told twice", async () => {
  const letters = await listen(() => undefined)
  const called = path.join(home, "called")
  const hooks = await plugin({ command: `touch '${called}'` })
  assert.deepEqual(await request(hooks, "s1"), [])
  assert.equal(letters.length, 2)
  await assert.rejects(readFile(called))
})

test("whatever OpenCode gives a hook, none throws", async () => {
  const hooks = await plugin()
  for (const hook of Object.values(hooks)) {
    for (const input of [[], [null, null], [{}, {}], [{ event: {} }, {}], [{ event: { type: "session.created" } }]]) {
      await hook(...input)
    }
  }
})

test("by TCP the token proves who it is", async () => {
  const letters = await listen(only("Request", "the brief"), { tcp: true })
  await writeFile(path.join(home, "run", "token"), "secret\n")
  assert.deepEqual(await request(await plugin(), "s1"), ["the brief"])
  assert.equal(letters[0].header.token, "secret")
})

test("turned off, or told of no home, it hooks into nothing", async () => {
  for (const name of ["HOLDFAST_DISABLE", "HOLDFAST_INTERNAL"]) {
    process.env[name] = "1"
    assert.deepEqual(await plugin(), {})
    delete process.env[name]
  }
  assert.deepEqual(await holdfast({ directory: "/p" }, undefined), {})
})

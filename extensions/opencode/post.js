// Post: carries hook events to the daemon of a Holdfast home, and brings back what it answers. Every plugin has it
// beside it, whatever program loads the plugin.
//
// It interprets nothing and writes no file. It never throws, and each hook event takes a bounded time. Where nobody
// answers, the hook's own command line is called: it spools the hook event, and starts a daemon where there is none.

import { spawn } from "node:child_process"
import { readFile } from "node:fs/promises"
import { createConnection } from "node:net"
import path from "node:path"

const ANSWER_MS = 2_000
const PAYLOAD_LIMIT = 16 * 1024 * 1024

export const NOTHING = Object.freeze({ text: "", heard: false })

export class Post {
  #harness
  #carried
  #home
  #command
  #notify
  #sent = 0

  // Of the environment only the variables named in `carried` travel. `notify` tells the user what the command says to them.
  constructor({ harness, carried, home, command, notify }) {
    this.#harness = harness
    this.#carried = carried
    this.#home = home
    this.#command = command
    this.#notify = notify
  }

  // The text that the model is to be given, and whether the daemon itself was heard.
  async carry(hookEvent, wait) {
    const body = Buffer.from(JSON.stringify(hookEvent))
    if (body.length > PAYLOAD_LIMIT) return NOTHING
    try {
      return { text: textIn(await this.#ask(body, Math.min(wait, ANSWER_MS))), heard: true }
    } catch (problem) {
      // One that was let in has the hook event, and will read it when it can.
      if (problem.late) return NOTHING
    }
    // Nobody is there: the hook spools the hook event, and starts a daemon.
    const answer = await this.#call(body, wait)
    const message = messageIn(answer)
    if (message) this.#notify?.(message)
    return { text: textIn(answer), heard: false }
  }

  async #ask(body, wait) {
    const note = (await this.#note("endpoint").catch(() => this.#note("door"))).trim()
    const kind = note.split(" ", 1)[0]
    const place = note.slice(kind.length + 1)
    if (kind !== "tcp") return exchange({ path: place }, this.#written(body, {}), wait)
    const token = (await readFile(path.join(this.#home, "run", "token"), "utf8")).trim()
    return exchange({ host: "127.0.0.1", port: Number(place) }, this.#written(body, { token }), wait)
  }

  // Where the daemon listens; one of version 0.1.0 says so in `door`.
  #note(name) {
    return readFile(path.join(this.#home, "run", name), "utf8")
  }

  #written(body, proof) {
    const told = this.#carried.filter((name) => process.env[name])
    const fields = {
      id: `${Date.now()}-${process.pid}-${++this.#sent}`,
      harness: this.#harness,
      at: Date.now(),
      process: `${process.pid} 0`,
      ...Object.fromEntries(told.map((name) => [`env.${name}`, process.env[name]])),
      ...proof,
      length: body.length,
    }
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`.replace(/[\x00-\x1f\x7f]/g, " "))
    return Buffer.concat([Buffer.from(`HOLDFAST/1 hook-event\n${lines.join("\n")}\n\n`), body])
  }

  #call(body, wait) {
    if (!this.#command) return ""
    return new Promise((resolve) => {
      const hook = spawn("/bin/sh", ["-c", this.#command], { stdio: ["pipe", "pipe", "ignore"] })
      const chunks = []
      const done = (answer) => {
        clearTimeout(late)
        resolve(answer)
      }
      const late = setTimeout(() => done(""), wait) // it goes on by itself, and ends in bounded time
      hook.on("error", () => done(""))
      hook.on("close", () => done(Buffer.concat(chunks).toString()))
      hook.stdout.on("data", (chunk) => chunks.push(chunk))
      hook.stdin.on("error", () => {}) // it ended without reading
      hook.stdin.end(body)
    })
  }
}

// The daemon's whole answer to a request; rejected where there is none, or not all of it.
function exchange(place, request, wait) {
  return new Promise((resolve, reject) => {
    const chunks = []
    const line = createConnection(place)
    const end = (settle, value) => {
      clearTimeout(late)
      line.destroy()
      settle(value)
    }
    let letIn = false
    const late = setTimeout(() => end(reject, Object.assign(new Error("no answer in time"), { late: letIn })), wait)
    line.on("error", (error) => end(reject, error))
    line.on("close", () => end(reject, new Error("no answer")))
    // Our end stays open until the answer is there: not every runtime reads on behind one that it closed.
    line.on("connect", () => line.write(request, () => (letIn = true)))
    line.on("data", (chunk) => {
      chunks.push(chunk)
      const answer = whole(Buffer.concat(chunks))
      if (answer !== undefined) end(resolve, answer)
    })
  })
}

function whole(received) {
  const gap = received.indexOf("\n")
  if (gap < 0) return undefined
  const status = received.subarray(0, gap).toString()
  const body = received.subarray(gap + 1)
  return status === `HOLDFAST/1 ok ${body.length}` ? body.toString() : undefined
}

// What is for the model.
function textIn(answer) {
  return textOf(answer, (whole) => whole.hookSpecificOutput?.additionalContext)
}

// What is for the user.
function messageIn(answer) {
  return textOf(answer, (whole) => whole.systemMessage)
}

function textOf(answer, choose) {
  try {
    const text = choose(JSON.parse(answer))
    return typeof text === "string" ? text : ""
  } catch {
    return "" // nothing was answered
  }
}

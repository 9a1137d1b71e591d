// Holdfast's plugin for OpenCode. It carries: hook events to the daemon, and what the daemon answers into the
// requests to the model. What a hook event means and what is answered is decided by the daemon.
//
// It never harms: no hook here throws, each waits for a bounded time, and where nobody answers OpenCode goes
// on as if it were not there. It imports nothing but the post beside it and what
// the runtime itself has, and writes no file.

import { homedir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"

import { NOTHING, Post } from "./post.js"

const HOME = null // setup writes here where the home of Holdfast is
const PACKAGED = false // true in the package that OpenCode installs by itself, which knows no home
const HERE = path.dirname(fileURLToPath(import.meta.url))
const LAUNCHER = path.join(HERE, "holdfast.sh")
const STARTING_MS = 3_500 // the hook starts a daemon that is away, and waits for it
const LONGEST_MS = 5_000 // with all that waits before it
const LEAVING_MS = 300
const OWN_TOOLS = "holdfast_"
const ENVIRONMENT = "<env>" // stands in every turn's system prompt, and in none that asks for a title or a summary
const FORK = / \(fork #\d+\)$/ // how OpenCode names one; nothing else says it before its messages are there
const CARRIED = ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "OPENCODE_DB"]

export default async function holdfast({ client, directory }, options) {
  const off = process.env.HOLDFAST_DISABLE === "1" || process.env.HOLDFAST_INTERNAL === "1"
  const home = options?.home ?? (PACKAGED ? usualHome() : HOME)
  if (off || !home || !claim(client)) return {}
  const command = options?.command ?? (PACKAGED ? `sh ${quoted(LAUNCHER)} hook "$PPID"` : undefined)
  const notify = (message) => client?.tui?.showToast({ body: { message, variant: "warning" } })
  const post = new Post({ harness: "opencode", carried: CARRIED, home, command, notify: harmless(notify) })
  if (PACKAGED) return { ...hooks(directory, post), config: harmless(addToolsAndSkills) }
  return hooks(directory, post)
}

// Setup and a package may both have OpenCode load this: the first one does the work. All plugins that are loaded
// together share a client.
const CLAIMED = Symbol.for("holdfast.opencode")

function claim(client) {
  const claimed = (globalThis[CLAIMED] ??= new WeakSet())
  if (client && claimed.has(client)) return false
  if (client) claimed.add(client)
  return true
}

function usualHome() {
  return process.env.HOLDFAST_HOME || path.join(homedir(), ".holdfast")
}

function quoted(word) {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

// What setup writes into the settings; what is there already stays.
function addToolsAndSkills(config) {
  config.mcp = { holdfast: { type: "local", command: ["sh", LAUNCHER, "relay"], enabled: true }, ...config.mcp }
  const paths = config.skills?.paths ?? []
  config.skills = { ...config.skills, paths: [...paths, path.join(HERE, "skills")] }
}

function hooks(directory, post) {
  const sessions = new Map() // of each session that was heard of here: the queue of its hook events, its brief
  const parents = new Map() // of each subagent's session: the one that started it

  const main = (id) => {
    const parent = parents.get(id)
    return parent === undefined || parent === id ? id : main(parent)
  }

  // Hook events of one session go one after the other, in the order in which things happened.
  const send = (id, hookEvent, within = LONGEST_MS) => {
    const session = sessions.get(id) ?? meet(id, "resume")
    const whole = { session_id: id, cwd: directory, transcript_path: path.join(database(), id), ...hookEvent }
    const answer = session.queue.then(() => post.carry(whole, Math.min(within, STARTING_MS)))
    session.queue = answer.then(() => undefined)
    return soon(answer, within)
  }

  const meet = (id, source) => {
    const session = { queue: Promise.resolve(), brief: "", model: "" }
    sessions.set(id, session)
    void send(id, { hook_event_name: "SessionStart", source })
    return session
  }

  const events = {
    "session.created": ({ info }) => {
      if (info.parentID) parents.set(info.id, info.parentID)
      else if (!sessions.has(info.id)) meet(info.id, FORK.test(info.title) ? "fork" : "startup")
    },
    "session.updated": ({ info }) => {
      if (info.parentID) parents.set(info.id, info.parentID)
    },
    "session.compacted": ({ sessionID }) => {
      if (parents.has(sessionID)) return
      if (sessions.has(sessionID)) sessions.get(sessionID).brief = ""
      void send(sessionID, { hook_event_name: "SessionStart", source: "compact" })
    },
    "session.idle": ({ sessionID }) => {
      if (!parents.has(sessionID)) void send(sessionID, { hook_event_name: "Stop" })
    },
    "session.deleted": ({ info }) => {
      if (sessions.has(info.id)) void send(info.id, { hook_event_name: "SessionEnd", reason: "deleted" })
    },
  }

  return {
    event: harmless(({ event }) => events[event.type]?.(event.properties)),

    "chat.message": harmless(async ({ sessionID }, { message, parts }) => {
      if (parents.has(sessionID)) return
      const hookEvent = { hook_event_name: "UserPromptSubmit", prompt: typed(parts) }
      const { text } = await send(sessionID, hookEvent)
      if (!text) return
      const id = `${parts.at(-1)?.id ?? "prt_"}0` // stands behind the last one
      parts.push({ id, sessionID, messageID: message.id, type: "text", text, synthetic: true })
    }),

    "experimental.chat.system.transform": harmless(async ({ sessionID, model }, { system }) => {
      if (!sessionID || parents.has(sessionID) || !system[0]?.includes(ENVIRONMENT)) return
      const session = sessions.get(sessionID) ?? meet(sessionID, "resume")
      const news = model?.id === session.model ? {} : { model: model?.id, limit: model?.limit }
      const { text, heard } = await send(sessionID, { hook_event_name: "Request", ...news })
      if (heard) session.model = model?.id
      // Where nobody answered, what the window was given before goes along again: it must not change.
      if (heard || text) session.brief = text
      if (session.brief) system.push(session.brief)
    }),

    "experimental.session.compacting": harmless(async ({ sessionID }, { context }) => {
      if (parents.has(sessionID)) return
      const { text } = await send(sessionID, { hook_event_name: "PreCompact" })
      if (text) context.push(text)
    }),

    // A call of our tools does not say whose it is: this rings, just before, for which session it comes.
    "tool.execute.before": harmless(async ({ tool, sessionID, callID }) => {
      if (!tool.startsWith(OWN_TOOLS)) return
      await send(main(sessionID), { hook_event_name: "PreToolUse", tool_name: tool, tool_use_id: callID })
    }),

    dispose: harmless(async () => {
      const hookEvent = { hook_event_name: "SessionEnd", reason: "exit" }
      await Promise.all([...sessions.keys()].map((id) => send(id, hookEvent, LEAVING_MS)))
    }),
  }
}

// A hook that neither throws nor rejects, whatever it was given.
function harmless(hook) {
  return async (...given) => {
    try {
      await hook(...given)
    } catch {
      // Whatever failed must not stop the user's work, and there is nobody here to be told of it.
    }
  }
}

// What is promised, or nothing where it is not there in time.
function soon(promised, wait) {
  let late
  const nothing = new Promise((resolve) => (late = setTimeout(resolve, wait, NOTHING)))
  return Promise.race([promised, nothing]).finally(() => clearTimeout(late))
}

function typed(parts) {
  const texts = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
  return texts.join("\n")
}

function database() {
  const data = path.join(process.env.XDG_DATA_HOME || path.join(homedir(), ".local", "share"), "opencode")
  return path.resolve(data, process.env.OPENCODE_DB || "opencode.db")
}

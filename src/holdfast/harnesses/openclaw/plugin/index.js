// Holdfast's plugin for OpenClaw. It carries: hook events to the daemon, and what the daemon answers into the
// requests to the model. What a hook event means and what is answered is decided by the daemon.
//
// It never harms: no hook here throws, each waits for a bounded time, and where nobody answers OpenClaw goes on
// as if it were not there. It imports nothing but the post beside it and what Node.js itself has, and
// writes no file.

import { homedir } from "node:os"
import path from "node:path"

import { Post } from "./post.js"

const HOME = null // setup writes here where the home of Holdfast is
const STARTING_MS = 3_500 // the hook starts a daemon that is away, and waits for it
const LEAVING_MS = 500 // all sessions together are given two seconds when the gateway ends
const OWN_TOOLS = "holdfast__"
const CARRIED = ["OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH"]
const ANEW = new Set(["new", "reset", "daily", "idle"]) // why a session goes on under its own name without its past
const DATABASE = "openclaw-agent.sqlite"

export default {
  id: "holdfast",
  name: "Holdfast",
  description: "Gives a session its state back when its context dies",

  // OpenClaw calls this several times, also where no hook will run: nothing is begun here.
  register(api) {
    const { home = HOME, command } = api.pluginConfig ?? {}
    const off = process.env.HOLDFAST_DISABLE === "1" || process.env.HOLDFAST_INTERNAL === "1"
    if (off || !home) return
    const sessions = sessionsOf(home, command)
    for (const [name, hook] of Object.entries(hooks(sessions))) api.on(name, harmless(hook))
    api.registerCompactionProvider?.({
      id: "holdfast",
      label: "Holdfast",
      summarize: () => sessions.summary(),
    })
  },
}

// OpenClaw registers a plugin several times in one process, and calls the hooks now of one registration, now of
// another: what was heard of sessions is the process's own.
function sessionsOf(home, command) {
  const known = (globalThis[Symbol.for("holdfast.openclaw")] ??= new Map())
  const key = JSON.stringify([home, command])
  if (!known.has(key)) {
    known.set(key, new Sessions(new Post({ harness: "openclaw", carried: CARRIED, home, command })))
  }
  return known.get(key)
}

function hooks(sessions) {
  return {
    // What OpenClaw does by itself is none of ours: notes before a compaction, heartbeats, schedules.
    before_prompt_build: async ({ prompt, messages }, context) => {
      if (context.trigger !== "user") return undefined
      const session = sessions.at(context)
      if (!session) return undefined
      await session.begin(Boolean(messages?.length))
      const said = await session.send({ hook_event_name: "UserPromptSubmit", prompt })
      return placed(await session.standing(), said.text)
    },

    before_compaction: async ({ messageCount, tokenCount }, context) => {
      const session = sessions.at(context)
      if (!session) return
      const prompt_id = `${messageCount}-${tokenCount}` // it may be announced twice
      session.summary = session.send({ hook_event_name: "PreCompact", prompt_id })
      await session.summary
    },

    after_compaction: async ({ compactedCount }, context) => {
      const session = sessions.at(context)
      if (!session) return
      session.summary = undefined
      if (compactedCount !== 0) await session.send({ hook_event_name: "SessionStart", source: "compact" })
    },

    // Which model is at work, and how much it holds by the settings and all else that OpenClaw knows.
    model_call_started: async ({ sessionId, model, contextTokenBudget }) => {
      sessions.known(sessionId)?.works(model, contextTokenBudget)
    },

    agent_end: async (_event, context) => {
      if (context.trigger === "user") await sessions.at(context)?.stop()
    },

    // The last moment at which all is still there: the hook event has it read and kept.
    before_reset: async (_event, context) => {
      await sessions.at(context)?.send({ hook_event_name: "SessionEnd", reason: "clear" })
    },

    session_end: async ({ sessionId, reason }) => {
      const session = sessions.known(sessionId)
      if (!session) return
      if (ANEW.has(reason)) session.renew()
      else await session.send({ hook_event_name: "SessionEnd", reason: reason ?? "other" }, LEAVING_MS)
    },

    session_start: async ({ sessionId, resumedFrom }) => {
      if (resumedFrom === sessionId) sessions.known(sessionId)?.renew()
    },

    // A call of our tools does not say whose it is: this rings, just before, for which session it comes.
    before_tool_call: async ({ toolName, toolCallId }, context) => {
      if (!toolName?.startsWith(OWN_TOOLS)) return
      const hookEvent = { hook_event_name: "PreToolUse", tool_name: toolName, tool_use_id: toolCallId }
      await sessions.at(context)?.send(hookEvent)
    },
  }
}

// The brief stands behind everything in the system prompt, the same in each request of a window, so that what
// stands before it stays cached. What is said once stands with the prompt that it is for.
function placed(brief, said) {
  if (!brief && !said) return undefined
  return { ...(brief && { appendSystemContext: brief }), ...(said && { prependContext: said }) }
}

// A hook that neither throws nor rejects, whatever it was given.
function harmless(hook) {
  return async (event, context) => {
    try {
      return await hook(event ?? {}, context ?? {})
    } catch {
      return undefined // nothing of ours may stop the user's work, and there is nobody here to be told of it
    }
  }
}

// The sessions that were heard of in this process.
class Sessions {
  #post
  #known = new Map()

  constructor(post) {
    this.#post = post
  }

  known(id) {
    return this.#known.get(id)
  }

  // The session that a hook was called for; none where it does not say which, or where it works.
  at({ sessionId, agentId, workspaceDir }) {
    const known = this.#known.get(sessionId)
    if (known || !sessionId || !agentId || !workspaceDir) return known
    const session = new Session(this.#post, sessionId, workspaceDir, transcript(agentId, sessionId))
    this.#known.set(sessionId, session)
    return session
  }

  // What is kept of the one session that is being compacted. A call does not say for which it comes, so that of
  // several none is answered; then OpenClaw writes its own summary.
  async summary() {
    const compacting = [...this.#known.values()].filter((session) => session.summary)
    return compacting.length === 1 ? (await compacting[0].summary).text : ""
  }
}

class Session {
  #post
  #common
  #queue = Promise.resolve()
  #begun = ""
  #brief = ""
  #model = {} // the one at work, and how much it holds
  #news = {} // and what of that no hook event has said yet
  summary // what must outlive the compaction under way, as soon as it is answered

  constructor(post, id, cwd, transcript) {
    this.#post = post
    this.#common = { session_id: id, cwd, transcript_path: transcript }
  }

  // Hook events of one session go one after the other, in the order in which things happened.
  send(hookEvent, wait = STARTING_MS) {
    const answer = this.#queue.then(() => this.#post.carry({ ...this.#common, ...hookEvent }, wait))
    this.#queue = answer.then(() => undefined)
    return answer
  }

  // Says once that the session starts: OpenClaw itself does not say it of every session. One that goes on
  // without its past was emptied, and keeps its name.
  async begin(hasPast) {
    if (this.#begun === "yes" && hasPast) return
    const anew = this.#begun && { source: "clear", previousSessionKey: this.#common.session_id }
    this.#begun = "yes"
    if (anew) this.#brief = ""
    await this.send({ hook_event_name: "SessionStart", ...(anew || { source: hasPast ? "resume" : "startup" }) })
  }

  works(model, window) {
    if (this.#model.model !== model || this.#model.window !== window) this.#model = this.#news = { model, window }
  }

  async stop() {
    const news = this.#news
    this.#news = {}
    await this.send({ hook_event_name: "Stop", ...news })
  }

  renew() {
    this.#begun = "anew"
  }

  // What the window was given: where nobody answers, what it was given before, as it must not change.
  async standing() {
    const { text, heard } = await this.send({ hook_event_name: "Request" })
    if (heard || text) this.#brief = text
    return this.#brief
  }
}

// A session in a database goes by a path of its own: that of the database, and behind it the session's id.
function transcript(agent, id) {
  const state = process.env.OPENCLAW_STATE_DIR || path.join(homedir(), ".openclaw")
  return path.join(path.resolve(state), "agents", agent, "agent", DATABASE, id)
}

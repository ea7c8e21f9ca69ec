/** Finds out who asks: by a token, or by the cookie of a session. */
import type { AdminTokenRecord, AdminTokenStore } from '#ports/admin-tokens.ts'
import type { SessionRecord, SessionStore } from '#ports/sessions.ts'
import type { Caller } from './caller.ts'
import { digestOf } from './secret-text.ts'

/** How tokens of the store begin. Nothing else is looked up there, so strangers cost no question to the store. */
export const TOKEN_PREFIX = 'tra_'

/** Before the name of a token in the audit. No mail address begins so. */
const TOKEN_ACTOR = 'token:'

/** What ends a session or a token on one node ends it on all others within this time. */
const REMEMBERED_MS = 2000
/** More people and programs than look at one install within two seconds. */
const MAX_REMEMBERED = 1000
/** When somebody was last seen is told to the minute. */
const TOUCH_MS = 60_000

export interface CallersDependencies {
  readonly sessions: SessionStore
  readonly adminTokens: AdminTokenStore
  readonly nowMs: () => number
  /** That somebody was seen could not be written; the request goes on. */
  readonly onUntouched: (error: unknown) => void
}

export interface SessionCaller extends Caller {
  readonly member: NonNullable<Caller['member']>
  readonly sessionId: string
  readonly expiresAtMs: number
}

interface Remembered {
  readonly untilMs: number
  readonly caller: Promise<Caller | undefined>
}

export class Callers {
  readonly #dependencies: CallersDependencies
  readonly #remembered = new Map<string, Remembered>()
  readonly #touchedMs = new Map<string, number>()

  constructor(dependencies: CallersDependencies) {
    this.#dependencies = dependencies
  }

  /** Undefined: no such token, or it has ended. */
  async ofToken(token: string): Promise<Caller | undefined> {
    if (!token.startsWith(TOKEN_PREFIX)) return undefined
    const { adminTokens } = this.#dependencies
    return this.#found(token, async (digest) => {
      const record = await adminTokens.find(digest)
      if (record === undefined) return undefined
      const { name, lastUsedAtMs } = record
      this.#touch(`token ${name}`, lastUsedAtMs, () => adminTokens.touch(name))
      const caller = tokenCaller(record)
      const present = async (): Promise<Caller | undefined> => {
        const found = await adminTokens.find(digest)
        return found && tokenCaller(found)
      }
      return { ...caller, isInForce: async () => hasSameRights(caller, await present()) }
    })
  }

  /** Undefined: no such session, or it has ended. */
  async ofCookie(cookie: string): Promise<SessionCaller | undefined> {
    const { sessions } = this.#dependencies
    const caller = await this.#found(cookie, async (digest) => {
      const session = await sessions.find(digest)
      if (session === undefined) return undefined
      this.#touch(`session ${session.id}`, session.seenAtMs, () => sessions.touch(session.id))
      const own = sessionCaller(session)
      const present = async (): Promise<Caller | undefined> => {
        const found = await sessions.find(digest)
        return found && sessionCaller(found)
      }
      return { ...own, isInForce: async () => hasSameRights(own, await present()) }
    })
    return caller as SessionCaller | undefined
  }

  /** A session or a token was ended here: this node need not wait. */
  forget(): void {
    this.#remembered.clear()
  }

  #found(secret: string, look: (digest: Buffer) => Promise<Caller | undefined>): Promise<Caller | undefined> {
    const digest = digestOf(secret)
    const name = digest.toString('base64')
    const nowMs = this.#dependencies.nowMs()
    const known = this.#remembered.get(name)
    if (known && known.untilMs > nowMs) return known.caller
    const caller = look(digest)
    this.#remembered.delete(name)
    this.#remembered.set(name, { caller, untilMs: nowMs + REMEMBERED_MS })
    for (const [oldest, { untilMs }] of this.#remembered) {
      if (untilMs > nowMs && this.#remembered.size <= MAX_REMEMBERED) break
      this.#remembered.delete(oldest)
    }
    // Trouble with the store is asked about again.
    caller.catch(() => this.#remembered.delete(name))
    return caller
  }

  #touch(name: string, lastMs: number | undefined, touch: () => Promise<void>): void {
    const { nowMs, onUntouched } = this.#dependencies
    const dueMs = Math.max(lastMs ?? 0, this.#touchedMs.get(name) ?? 0) + TOUCH_MS
    if (nowMs() < dueMs) return
    if (this.#touchedMs.size >= MAX_REMEMBERED) this.#touchedMs.clear()
    this.#touchedMs.set(name, nowMs())
    touch().catch(onUntouched)
  }
}

function hasSameRights(before: Caller, now: Caller | undefined): boolean {
  return (
    now !== undefined &&
    now.role === before.role &&
    now.isReadOnly === before.isReadOnly &&
    JSON.stringify(now.projects) === JSON.stringify(before.projects)
  )
}

function tokenCaller({ name, role, projects, isReadOnly }: AdminTokenRecord): Caller {
  return { actor: `${TOKEN_ACTOR}${name}`, role, projects, isReadOnly }
}

function sessionCaller({ id, member, expiresAtMs }: SessionRecord): SessionCaller {
  const { name, email, role, projects } = member
  return {
    actor: email,
    role,
    projects,
    isReadOnly: false,
    member: { id: member.id, name, email },
    sessionId: id,
    expiresAtMs,
  }
}

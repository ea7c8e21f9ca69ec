/** Finds out who asks: by a token, or by the cookie of a session. */
import type { Caller } from './caller.ts'
import { digestOf } from './secret-text.ts'

/** How tokens of the store begin. Nothing else is looked up there, so strangers cause no query. */
export const TOKEN_PREFIX = 'tra_'

/** Time for which a caller is cached, and thus the delay until what ends on one node has ended on all others. */
const REMEMBERED_MS = 2000
/** Cached callers: more people and programs than use one install within two seconds. */
const MAX_REMEMBERED = 1000
/** Pause between two writes of "last seen", which is shown to the minute. */
const TOUCH_MS = 60_000

export interface SessionCaller extends Caller {
  readonly member: NonNullable<Caller['member']>
  readonly sessionId: string
  /** ISO 8601: when it ends if it is not used. */
  readonly expiresAt: string
}

/** A caller as the store knows it. */
export interface FoundCaller<Who extends Caller> {
  readonly caller: Who
  /** ISO 8601: its last use that was written. */
  readonly usedAt: string | null
  /** Writes that it is in use. */
  readonly touch: () => Promise<unknown>
}

/** Undefined: there is no such secret, or it has ended. */
type Look<Who extends Caller> = (digest: Buffer) => Promise<FoundCaller<Who> | undefined>

export interface CallersParts {
  readonly ofToken: Look<Caller>
  readonly ofCookie: Look<SessionCaller>
  readonly nowMs: () => number
  /** A use could not be written; the request goes on. */
  readonly onUntouched: (error: unknown) => void
}

interface Remembered {
  readonly untilMs: number
  readonly caller: Promise<Caller | undefined>
}

export class Callers {
  readonly #parts: CallersParts
  readonly #remembered = new Map<string, Remembered>()
  readonly #touchedMs = new Map<string, number>()

  constructor(parts: CallersParts) {
    this.#parts = parts
  }

  /** Undefined: no such token, or it has ended. */
  async ofToken(token: string): Promise<Caller | undefined> {
    return token.startsWith(TOKEN_PREFIX) ? this.#remember(token, this.#parts.ofToken) : undefined
  }

  /** Undefined: no such session, or it has ended. */
  async ofCookie(cookie: string): Promise<SessionCaller | undefined> {
    return (await this.#remember(cookie, this.#parts.ofCookie)) as SessionCaller | undefined
  }

  /** A session or a token was ended here: this node need not wait. */
  forget(): void {
    this.#remembered.clear()
  }

  #remember(secret: string, look: Look<Caller>): Promise<Caller | undefined> {
    const digest = digestOf(secret)
    const name = digest.toString('base64')
    const nowMs = this.#parts.nowMs()
    const known = this.#remembered.get(name)
    if (known && known.untilMs > nowMs) return known.caller
    const caller = this.#find(digest, name, look)
    this.#remembered.delete(name)
    this.#remembered.set(name, { caller, untilMs: nowMs + REMEMBERED_MS })
    for (const [oldest, { untilMs }] of this.#remembered) {
      if (untilMs > nowMs && this.#remembered.size <= MAX_REMEMBERED) break
      this.#remembered.delete(oldest)
    }
    // A failure of the store is not cached.
    caller.catch(() => this.#remembered.delete(name))
    return caller
  }

  async #find(digest: Buffer, name: string, look: Look<Caller>): Promise<Caller | undefined> {
    const found = await look(digest)
    if (found === undefined) return undefined
    this.#touch(name, found)
    const { caller } = found
    return { ...caller, isInForce: async () => hasSameRights(caller, (await look(digest))?.caller) }
  }

  #touch(name: string, { usedAt, touch }: FoundCaller<Caller>): void {
    const { nowMs, onUntouched } = this.#parts
    const lastMs = usedAt === null ? 0 : Date.parse(usedAt)
    if (nowMs() < Math.max(lastMs, this.#touchedMs.get(name) ?? 0) + TOUCH_MS) return
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

import { decisionOf } from '#core/limits/limit.ts'
import type { RateDecision, RateLimit, RateTake } from '#core/limits/limit.ts'
import type { RateLimiter } from '#ports/limiter.ts'
import { ReplyTimeout } from './connection.ts'
import type { RedisConnection } from './connection.ts'
import { argumentsOf, decisionsOf, TAKE_SCRIPT } from './take.ts'
import type { Correction, TakeCall } from './take.ts'

/** Requests per script call: such a call delays all others by 2 to 4 ms, and its keys stay far below the 8,000 that Lua can unpack. */
const MAX_REQUESTS_PER_CALL = 200
/** Longest wait of a correction for a call to ride on; the estimate that it corrects counts meanwhile. */
const CORRECTION_WAIT_MS = 50

export interface RedisLimiterOptions {
  /** Opened with `TAKE_SCRIPT` among its scripts. */
  readonly connection: RedisConnection
  /** Decides by this node's share while Redis is unreachable. */
  readonly fallback: RateLimiter
  /** For tests: the time that Redis uses, in microseconds. */
  readonly fixedNowMicroseconds?: (() => number) | undefined
}

/** Since the start, for metrics. */
interface Counts {
  /** Requests to decide. */
  takes: number
  /** Of those, the ones decided by this node's share. */
  localDecisions: number
  scriptCalls: number
  /** Script calls whose reply was late or lost. */
  timeouts: number
  /** Script calls that ended in another error, or with the connection. */
  errors: number
}

interface WaitingRequest {
  readonly takes: readonly RateTake[]
  readonly decide: (decision: RateDecision | Promise<RateDecision>) => void
}

/**
 * Rate limits that all nodes share. All requests of one turn of the event loop become one call of one script, which decides each on
 * its own; corrections ride along. While Redis is unreachable no request waits: the fallback decides at once. A failed call is never
 * sent again: the fallback decides its requests, and its corrections are lost. Keys carry their project as hash tag. On a Redis
 * Cluster a turn would become one call for each slot, its requests grouped by project, to which all limits of a request belong.
 */
export class RedisLimiter implements RateLimiter {
  readonly #options: RedisLimiterOptions
  readonly #counts: Counts = { takes: 0, localDecisions: 0, scriptCalls: 0, timeouts: 0, errors: 0 }
  #waiting: WaitingRequest[] = []
  #corrections = new Map<string, Correction>()
  #round: NodeJS.Immediate | undefined
  #correctionTimer: NodeJS.Timeout | undefined

  constructor(options: RedisLimiterOptions) {
    this.#options = options
  }

  get counts(): Readonly<Counts> {
    return this.#counts
  }

  state(): 'shared' | 'local' {
    return this.#options.connection.isReady ? 'shared' : 'local'
  }

  take(takes: readonly RateTake[]): RateDecision | Promise<RateDecision> {
    if (takes.length === 0) return decisionOf([], true, [])
    this.#counts.takes += 1
    if (this.state() === 'local') return this.#takeLocally(takes)
    return new Promise((decide) => {
      this.#waiting.push({ takes, decide })
      if (this.#waiting.length >= MAX_REQUESTS_PER_CALL) this.#send()
      else this.#round ??= setImmediate(() => this.#send())
    })
  }

  correct(limit: RateLimit, difference: number): void {
    if (this.state() === 'local') return this.#options.fallback.correct(limit, difference)
    const sum = (this.#corrections.get(limit.id)?.difference ?? 0) + difference
    this.#corrections.set(limit.id, { limit, difference: sum })
    this.#correctionTimer ??= setTimeout(() => this.#send(), CORRECTION_WAIT_MS).unref()
  }

  #send(): void {
    clearImmediate(this.#round)
    clearTimeout(this.#correctionTimer)
    this.#round = undefined
    this.#correctionTimer = undefined
    const waiting = this.#waiting
    const corrections = [...this.#corrections.values()]
    this.#waiting = []
    this.#corrections.clear()
    if (this.state() === 'local') {
      for (const { limit, difference } of corrections) this.#options.fallback.correct(limit, difference)
      for (const { takes, decide } of waiting) decide(this.#takeLocally(takes))
      return
    }
    this.#counts.scriptCalls += 1
    const call: TakeCall = {
      number: this.#counts.scriptCalls,
      corrections,
      requests: waiting.map(({ takes }) => takes),
      nowMicroseconds: this.#options.fixedNowMicroseconds?.(),
    }
    const { keys, json } = argumentsOf(call)
    this.#options.connection
      .run(TAKE_SCRIPT, keys, json, (reply) => decisionsOf(call, reply))
      .then(
        (decisions) => {
          for (const [index, decision] of decisions.entries()) waiting[index]?.decide(decision)
        },
        (error: unknown) => {
          if (error instanceof ReplyTimeout) this.#counts.timeouts += 1
          else this.#counts.errors += 1
          for (const { takes, decide } of waiting) decide(this.#takeLocally(takes))
        },
      )
  }

  #takeLocally(takes: readonly RateTake[]): RateDecision | Promise<RateDecision> {
    this.#counts.localDecisions += 1
    return this.#options.fallback.take(takes)
  }
}

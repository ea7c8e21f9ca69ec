/** When a probe text rides along in a live call of this process, and what became of it. */
import type { Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { RIDE_TEXT } from '#core/embedding/probe-texts.ts'
import type { Clock } from '#ports/clock.ts'
import type { DueRide, Rides } from '#request/embeddings/due-ride.ts'

/** The ride text in a call of its own. Rejects when there is no answer. */
type AskRide = (
  model: EmbeddingModel,
  deployment: Deployment,
) => Promise<{ readonly vector: Float32Array | undefined; readonly tokens: number }>

export interface RideParts {
  readonly clock: Clock
  /** Interval of rides of one deployment in this process. */
  readonly intervalMs: number
  readonly plainOffer: (model: EmbeddingModel, deployment: Deployment) => Offer
  readonly ask: AskRide
  /** Whether there is a reference to compare with. */
  readonly hasReference: (model: EmbeddingModel) => boolean
  readonly isOutside: (model: EmbeddingModel, deployment: Deployment) => boolean
  /** Judges a ride, and acts on it. True when it is within the space. */
  readonly judge: (model: EmbeddingModel, deployment: Deployment, ride: RideVector) => boolean
}

export interface RideVector {
  readonly vector: Float32Array
  /** Unix milliseconds. */
  readonly sentAtMs: number
}

interface RideState {
  /** When the next one is due at the latest, and when the last one was, on the monotonic clock. */
  dueMs: number
  rodeMs: number
  /** Of the calls since then. */
  usedTokens: number
  readonly plain: Offer
  /** Undefined until it went in a call of its own. */
  tokens: number | undefined
  /** Its calls take no riders, so each goes in a call of its own. */
  isRefused: boolean
}

/**
 * Tokens of calls that earn a ride, as a multiple of its own: a busy deployment has more rides, and all of them are a quarter of a
 * percent of its tokens.
 */
const EARNED_TIMES = 400
/** Shortest time between two rides, however busy a deployment is. */
const MIN_INTERVAL_MS = 1000
/** Time after which a ride that came to nothing is tried again: the next calls may fail for the same reason. */
const AGAIN_MS = 1000
/** Longest time that callers wait for a ride beside their call, counted from its start. */
const BESIDE_MS = 2000

export class RidingProbes implements Rides {
  readonly #parts: RideParts
  /** By deployment of a catalog: one that leads elsewhere starts over. */
  readonly #states = new WeakMap<Deployment, RideState>()

  constructor(parts: RideParts) {
    this.#parts = parts
  }

  due(model: EmbeddingModel, deployment: Deployment, isBackground: boolean): DueRide | undefined {
    if (!model.isGuarded) return undefined
    const { clock, intervalMs, hasReference, judge } = this.#parts
    const nowMs = clock.monotonicMs()
    const state = this.#states.get(deployment) ?? this.#begin(model, deployment, nowMs)
    const isTimely = nowMs >= state.dueMs || isEarned(state, nowMs)
    if (!isTimely && (!isBackground || state.isRefused)) return undefined
    if (!hasReference(model)) return undefined
    if (isTimely) {
      state.dueMs = nowMs + intervalMs
      state.rodeMs = nowMs
      state.usedTokens = 0
    }
    const isWithin = (vector: Float32Array, sentAtMs: number): boolean =>
      judge(model, deployment, { vector, sentAtMs })
    const missed = (): void => void (state.dueMs = Math.min(state.dueMs, clock.monotonicMs() + AGAIN_MS))
    return {
      text: RIDE_TEXT,
      plain: state.plain,
      tokens: state.isRefused ? undefined : state.tokens,
      isTimely,
      isWithin,
      missed,
      refused: () => void (state.isRefused = true),
      alone: () => this.#alone(model, deployment, state, missed),
    }
  }

  ended(model: EmbeddingModel, deployment: Deployment, tokens: number): boolean {
    const state = this.#states.get(deployment)
    if (state !== undefined) state.usedTokens += tokens
    return this.#parts.isOutside(model, deployment)
  }

  #begin(model: EmbeddingModel, deployment: Deployment, nowMs: number): RideState {
    const plain = this.#parts.plainOffer(model, deployment)
    const state = {
      dueMs: nowMs,
      rodeMs: nowMs,
      usedTokens: 0,
      plain,
      tokens: undefined,
      isRefused: false,
    }
    this.#states.set(deployment, state)
    return state
  }

  async #alone(
    model: EmbeddingModel,
    deployment: Deployment,
    state: RideState,
    missed: () => void,
  ): Promise<boolean> {
    const { ask, judge, clock } = this.#parts
    const sentAtMs = clock.nowMs()
    const asked = ask(model, deployment).then(
      ({ vector, tokens }) => {
        state.tokens = tokens
        return vector === undefined || judge(model, deployment, { vector, sentAtMs })
      },
      () => {
        missed()
        return true
      },
    )
    const { promise: tooLate, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(resolve, BESIDE_MS, true).unref()
    try {
      return await Promise.race([asked, tooLate])
    } finally {
      clearTimeout(timer)
    }
  }
}

/** A server that counts nothing earns nothing. */
function isEarned({ usedTokens, tokens, rodeMs }: RideState, nowMs: number): boolean {
  if (tokens === undefined || usedTokens === 0 || usedTokens < EARNED_TIMES * tokens) return false
  return nowMs >= rodeMs + MIN_INTERVAL_MS
}

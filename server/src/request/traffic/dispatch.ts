/**
 * Gives each call a deployment, or a place in line for one. Who can't be served soon is told so at once: a caller that waits
 * in vain is worse off than one that was refused.
 */
import type { Fault } from '#core/fault/fault.ts'
import { FairQueue, type Place } from '#core/schedule/fair-queue.ts'
import type { RetryBudget } from '#core/schedule/retry-budget.ts'
import type { CallEnd } from '#core/schedule/deployment.ts'
import type { Picked, Schedulable, Scheduler } from '#core/schedule/scheduler.ts'
import type { Limits } from '#core/settings.ts'
import type { Clock } from '#ports/clock.ts'
import { busyFault, callEndOf, isTimeOut, nobodyFault, TIMER_ERROR_MS } from './turn-ends.ts'

export interface DispatchParts {
  readonly scheduler: Scheduler
  readonly clock: Clock
  readonly random: () => number
  /** How long an event that is ready waits for its turn here: on a busy node calls seem to take longer than they do. */
  readonly ownWaitMs: () => number
  readonly limits: Pick<Limits, 'queueWaitMs' | 'maxQueued'>
  /** Rings after a while, unless it is cancelled by what is returned. */
  readonly after: (ms: number, ring: () => void) => () => void
  /** What calls of one model may be made again from. */
  readonly newBudget: () => Pick<RetryBudget, 'begun' | 'mayRetry'>
}

/** What a call asks for. */
export interface TurnRequest {
  readonly model: string
  readonly project: string
  /** About how many it will be charged. */
  readonly tokens: number
  readonly images: number
  /** On the monotonic clock. */
  readonly deadlineMs: number
  /** Its request has calls under way or paid for: refusing it would waste them, so it stands in line until its deadline. */
  readonly isBegun?: boolean
  /** A call for many requests, or for as many as will come: one place in line for all of them. */
  readonly isShared?: boolean
}

/** One call's turn at one deployment, to be ended once, in one of two ways. */
export interface Turn<Offer> {
  readonly offer: Offer
  /** How the call ended: an error, or nothing when all went well. */
  end(error?: unknown): void
  /** No call was made of it, and nothing was learnt of the deployment. */
  giveBack(): void
}

interface Waiting {
  readonly offers: readonly Schedulable[]
  readonly asked: TurnRequest
  /** Not made before: it earns credit for those that are made again. */
  readonly isFirst: boolean
  readonly begin: (turn: Turn<Schedulable>) => void
  readonly refuse: (fault: Fault) => void
}

/** Nobody is refused for a wait this short. */
const SHORT_WAIT_MS = 20
/** How long a wait is worth it, in times of what a call usually takes: longer is felt, and gets no more calls done. */
const WORTH_WAITING = 0.25
/** For a project of which fewer wait than of others: it is them who made the line. */
const WORTH_WAITING_MODEST = 1
/** For a call that many share: each place ahead is one call, however many it serves. */
const WORTH_WAITING_SHARED = 4
/** A line younger than this may be over soon: a deployment went away, or its limit is put to the test. It may be so long. */
const YOUNG_LINE_MS = 1000
const YOUNG_LINE_WAIT_MS = 200
/** After a refusal a line counts as old for so long, also when it has been empty for a moment. */
const OVERLOADED_MS = 1000
/** A call waits to be written, for its answer's head, and for its body. */
const WAITS_OF_A_CALL = 3
const OWN_SHARE = 0.25
/** The weight of one call in how long calls of a model usually take. */
const GAIN = 0.1
/** Room also comes without a call that ends: calls that hang stop counting, an ejection runs out. A line looks so often. */
const LOOK_EVERY_MS = 100

/** Those of one model who wait for the same deployments: who waits for others must not hold them up. */
class Line {
  readonly queue: FairQueue<Waiting>
  /** Since when somebody waits. */
  sinceMs = 0
  overloadedUntilMs = 0
  /** When it is next looked at. */
  wakesAtMs = Number.POSITIVE_INFINITY
  cancelWaking = (): void => {}

  constructor(maxEntries: number) {
    // How long a wait is worth it is decided here, not there.
    this.queue = new FairQueue({ maxEntries, maxWaitMs: Number.POSITIVE_INFINITY })
  }

  rest(): void {
    this.cancelWaking()
    this.wakesAtMs = Number.POSITIVE_INFINITY
  }
}

class ModelState {
  readonly budget: ReturnType<DispatchParts['newBudget']>
  /** By the deployments waited for: as many as there are kinds of requests that only some of them can serve. */
  readonly lines = new Map<string, Line>()
  usualMs: number | undefined

  constructor({ newBudget }: DispatchParts) {
    this.budget = newBudget()
  }
}

export class Dispatch {
  readonly #parts: DispatchParts
  readonly #models = new Map<string, ModelState>()
  /** Requests that were told that the line is too long, since the start. */
  refusals = 0

  constructor(parts: DispatchParts) {
    this.#parts = parts
  }

  /** A turn for the first call of some work. Immediate unless there is a line. */
  turn<Offer extends Schedulable>(
    offers: readonly Offer[],
    asked: TurnRequest,
  ): Turn<Offer> | Promise<Turn<Offer>> {
    const state = this.#stateOf(asked.model)
    const nowMs = this.#parts.clock.monotonicMs()
    if (this.#isLineEmpty(state, offers)) {
      const picked = this.#pick(offers, asked, nowMs)
      if (picked.kind === 'go') {
        state.budget.begun(nowMs)
        return this.#turnOf(picked, asked, nowMs)
      }
      if (picked.kind === 'none' && !this.#isSoon(picked.untilMs, asked, nowMs))
        throw nobodyFault(picked, asked.model, nowMs)
      const lookAtMs = picked.kind === 'none' ? picked.untilMs : nowMs + LOOK_EVERY_MS
      this.#serveAt(lookAtMs, this.#lineOf(state, offers), asked.model)
    }
    return this.#inLine(
      this.#lineOf(state, offers),
      { offers, asked, isFirst: true },
      state,
      nowMs,
    ) as Promise<Turn<Offer>>
  }

  /** A turn if there is one at this moment, for who has something else to wait for. */
  turnNow<Offer extends Schedulable>(offers: readonly Offer[], asked: TurnRequest): Turn<Offer> | undefined {
    const state = this.#stateOf(asked.model)
    const nowMs = this.#parts.clock.monotonicMs()
    if (!this.#isLineEmpty(state, offers)) return undefined
    const picked = this.#pick(offers, asked, nowMs)
    if (picked.kind !== 'go') return undefined
    state.budget.begun(nowMs)
    return this.#turnOf(picked, asked, nowMs)
  }

  /** A turn for a call that failed elsewhere; undefined when it is not to be made again. It may have to stand in line. */
  again<Offer extends Schedulable>(
    offers: readonly Offer[],
    asked: TurnRequest,
  ): Turn<Offer> | undefined | Promise<Turn<Offer>> {
    const nowMs = this.#parts.clock.monotonicMs()
    if (offers.length === 0) return undefined
    const picked = this.#pick(offers, asked, nowMs, true)
    if (picked.kind === 'none') return undefined
    const state = this.#stateOf(asked.model)
    const turn = picked.kind === 'go' ? this.#turnOf(picked, asked, nowMs) : undefined
    const line = turn === undefined ? this.#lineOf(state, offers) : undefined
    const hasRoom = line === undefined || line.queue.size < this.#parts.limits.maxQueued
    // Asked last: credit is only spent on a call that can be made.
    if (!hasRoom || !state.budget.mayRetry(nowMs)) {
      turn?.giveBack()
      return undefined
    }
    if (line === undefined) return turn
    this.#serveAt(nowMs + LOOK_EVERY_MS, line, asked.model)
    const begun = { ...asked, isBegun: true }
    return this.#inLine(line, { offers, asked: begun, isFirst: false }, state, nowMs) as Promise<Turn<Offer>>
  }

  /** Who waits, by model: for metrics. */
  waiting(): ReadonlyMap<string, number> {
    const sizeOf = ({ lines }: ModelState): number =>
      [...lines.values()].reduce((sum, { queue }) => sum + queue.size, 0)
    return new Map([...this.#models].map(([model, state]) => [model, sizeOf(state)]))
  }

  #pick<Offer extends Schedulable>(
    offers: readonly Offer[],
    { tokens, images }: TurnRequest,
    nowMs: number,
    isRetry = false,
  ): Picked<Offer> {
    const { scheduler, random } = this.#parts
    return scheduler.pick(offers, { nowMs, random, tokens, images, isRetry })
  }

  #turnOf<Offer extends Schedulable>(
    picked: Extract<Picked<Offer>, { kind: 'go' }>,
    { model, deadlineMs }: TurnRequest,
    begunMs: number,
  ): Turn<Offer> {
    const ended = (endOf: (durationMs: number, nowMs: number) => CallEnd): void => {
      const nowMs = this.#parts.clock.monotonicMs()
      picked.end(endOf(nowMs - begunMs, nowMs), nowMs)
      this.#serve(model)
    }
    return {
      offer: picked.offer,
      end: (error) =>
        ended((durationMs, nowMs) => {
          if (error === undefined) {
            if (this.#isOwnWait(durationMs)) return { kind: 'ok', durationMs: undefined }
            this.#learn(model, durationMs)
          }
          // The caller's own time was short: whether the deployment hangs is told by calls that are overdue.
          return isTimeOut(error) && nowMs >= deadlineMs - TIMER_ERROR_MS
            ? { kind: 'abandoned' }
            : callEndOf(error, durationMs)
        }),
      giveBack: () => ended(() => ({ kind: 'abandoned' })),
    }
  }

  /** Whether so much of a call's time may have been this node's that it tells nothing of the upstream. */
  #isOwnWait(durationMs: number): boolean {
    return this.#parts.ownWaitMs() * WAITS_OF_A_CALL > durationMs * OWN_SHARE
  }

  #learn(model: string, durationMs: number): void {
    const state = this.#stateOf(model)
    const { usualMs = durationMs } = state
    state.usualMs = usualMs + (durationMs - usualMs) * GAIN
  }

  #inLine(
    line: Line,
    wanted: Pick<Waiting, 'offers' | 'asked' | 'isFirst'>,
    state: ModelState,
    nowMs: number,
  ): Promise<Turn<Schedulable>> {
    const { asked } = wanted
    const { queueWaitMs } = this.#parts.limits
    const { queue } = line
    if (queue.size === 0) line.sinceMs = nowMs
    const mostMs = asked.isBegun === true ? Number.POSITIVE_INFINITY : queueWaitMs
    const expectedMs = queue.expectedWaitMs(asked.project, nowMs)
    if (asked.isBegun !== true && expectedMs > Math.min(mostMs, worthMs(asked, line, state, nowMs))) {
      line.overloadedUntilMs = nowMs + OVERLOADED_MS
      this.refusals += 1
      throw busyFault(asked.model, expectedMs)
    }
    const { promise, resolve, reject } = Promise.withResolvers<Turn<Schedulable>>()
    let cancel = (): void => {}
    const begin: Waiting['begin'] = (turn) => (cancel(), resolve(turn))
    const refuse: Waiting['refuse'] = (fault) => (cancel(), reject(fault))
    const joined = queue.join(asked.project, { ...wanted, begin, refuse }, nowMs)
    if (joined.kind === 'refused') throw busyFault(asked.model, joined.expectedWaitMs)
    if (joined.pushedOut !== undefined) refused(joined.pushedOut)
    const { place } = joined
    cancel = this.#parts.after(Math.min(mostMs, asked.deadlineMs - nowMs), () => {
      if (!queue.leave(place)) return
      refused(place)
      // It may have been what the next one waited for: it asked for more than there was.
      this.#serve(asked.model)
    })
    return promise
  }

  /** All lines of a model, a turn for each at a time. */
  #serve(model: string): void {
    const { lines } = this.#stateOf(model)
    if (lines.size === 0) return
    let waiting = [...lines.values()].filter(({ queue }) => queue.size > 0)
    while (waiting.length > 0) waiting = waiting.filter((line) => this.#serveOne(line, model))
    for (const line of lines.values()) if (line.queue.size === 0) line.rest()
  }

  /** Whether there may be more to serve. */
  #serveOne(line: Line, model: string): boolean {
    const { queue } = line
    const nowMs = this.#parts.clock.monotonicMs()
    const place = queue.peek()
    if (place === undefined) return false
    const { offers, asked, isFirst, begin, refuse } = place.entry
    const picked = this.#pick(offers, asked, nowMs)
    if (picked.kind === 'full') {
      this.#serveAt(nowMs + LOOK_EVERY_MS, line, model)
      return false
    }
    if (picked.kind === 'none' && this.#isSoon(picked.untilMs, asked, nowMs)) {
      this.#serveAt(picked.untilMs, line, model)
      return false
    }
    queue.take(nowMs)
    if (picked.kind === 'go') {
      if (isFirst) this.#stateOf(model).budget.begun(nowMs)
      begin(this.#turnOf(picked, asked, nowMs))
    } else refuse(nobodyFault(picked, model, nowMs))
    return true
  }

  /** One timer at most is of use: the earliest. */
  #serveAt(atMs: number, line: Line, model: string): void {
    const { clock, after } = this.#parts
    if (line.wakesAtMs <= atMs) return
    line.wakesAtMs = atMs
    line.cancelWaking()
    line.cancelWaking = after(Math.max(1, atMs - clock.monotonicMs()), () => {
      line.wakesAtMs = Number.POSITIVE_INFINITY
      this.#serve(model)
    })
  }

  #isLineEmpty(state: ModelState, offers: readonly Schedulable[]): boolean {
    return state.lines.size === 0 || this.#lineOf(state, offers).queue.size === 0
  }

  #lineOf({ lines }: ModelState, offers: readonly Schedulable[]): Line {
    const key = offers.length === 1 ? (offers[0]?.deployment.id ?? '') : offers.map(idOf).sort().join('\n')
    let line = lines.get(key)
    if (line === undefined) {
      line = new Line(this.#parts.limits.maxQueued)
      lines.set(key, line)
    }
    return line
  }

  #isSoon(untilMs: number, { deadlineMs, isBegun }: TurnRequest, nowMs: number): boolean {
    const isWorthIt = isBegun === true || untilMs - nowMs <= this.#parts.limits.queueWaitMs
    return isWorthIt && untilMs < deadlineMs
  }

  #stateOf(model: string): ModelState {
    let state = this.#models.get(model)
    if (state === undefined) {
      state = new ModelState(this.#parts)
      this.#models.set(model, state)
    }
    return state
  }
}

/** How long a wait is worth it. */
function worthMs(
  { project, isShared }: TurnRequest,
  line: Line,
  { usualMs }: ModelState,
  nowMs: number,
): number {
  const isYoung = nowMs - line.sinceMs < YOUNG_LINE_MS && nowMs >= line.overloadedUntilMs
  const single = line.queue.isModest(project) ? WORTH_WAITING_MODEST : WORTH_WAITING
  const worth = isShared === true ? WORTH_WAITING_SHARED : single
  const leastMs = isYoung ? YOUNG_LINE_WAIT_MS : SHORT_WAIT_MS
  return usualMs === undefined ? Number.POSITIVE_INFINITY : Math.max(leastMs, usualMs * worth)
}

function idOf({ deployment }: Schedulable): string {
  return deployment.id
}

function refused({ entry: { asked, refuse } }: Place<Waiting>): void {
  refuse(busyFault(asked.model, SHORT_WAIT_MS))
}

/**
 * Gives each call a deployment, or a place in the queue for one. Waiting is better than refusing: a request is refused only when
 * it can't be expected to get a turn within `queueWaitMs`, when its time is up, or when the queue is full.
 */
import type { Fault } from '#core/fault/fault.ts'
import { CallTimes } from '#core/schedule/call-times.ts'
import type { Place } from '#core/schedule/fair-queue.ts'
import type { RetryBudget } from '#core/schedule/retry-budget.ts'
import type { CallDemand, CallEnd } from '#core/schedule/deployment.ts'
import type { ClosedReason, PickResult, Schedulable, Scheduler } from '#core/schedule/scheduler.ts'
import type { Limits } from '#core/settings.ts'
import type { Clock } from '#ports/clock.ts'
import { callerLeft } from './caller.ts'
import { Lines, type Line, type WaitingCall } from './line.ts'
import { mayWait, type Turn, type TurnRequest } from './turn.ts'
import { busyFault, callEndOf, isTimeOut, unavailableFault, TIMER_ERROR_MS } from './turn-ends.ts'

export interface DispatchParts {
  readonly scheduler: Scheduler
  readonly clock: Clock
  readonly random: () => number
  /** How long the event loop delays a ready event: on a busy node calls seem to take longer than they do. */
  readonly ownWaitMs: () => number
  readonly limits: Pick<Limits, 'queueWaitMs' | 'maxQueued'>
  /** Calls `ring` after `ms`, unless the returned function cancels it. */
  readonly after: (ms: number, ring: () => void) => () => void
  /** The budget from which failed calls of one model are made again. */
  readonly newBudget: () => Pick<RetryBudget, 'begun' | 'mayRetry'>
}

/** Waits of a call: to be written, for the head of its answer, and for its body. */
const WAITS_OF_A_CALL = 3
const OWN_SHARE = 0.25
/** Interval at which a queue looks for a free slot: one is also freed when a hanging call stops counting or an ejection ends. */
const LOOK_EVERY_MS = 100

const UNCLEAR: CallEnd = { kind: 'unclear' }
const ABANDONED: CallEnd = { kind: 'abandoned' }

class ModelState {
  readonly times = new CallTimes()
  readonly budget: ReturnType<DispatchParts['newBudget']>
  readonly lines: Lines
  /** The same for background calls: they get a turn when no other call waits. */
  readonly background: Lines
  /** The start of the latest call that succeeded, on the monotonic clock. */
  succeededSinceMs = Number.NEGATIVE_INFINITY

  constructor({ newBudget, limits }: DispatchParts) {
    this.budget = newBudget()
    this.lines = new Lines(limits.maxQueued)
    this.background = new Lines(limits.maxQueued)
  }
}

export class Dispatch {
  readonly #parts: DispatchParts
  readonly #models = new Map<string, ModelState>()
  #waits = 0

  constructor(parts: DispatchParts) {
    this.#parts = parts
  }

  /** A turn for the first call of some work. Immediate unless there is a queue. */
  turn<Offer extends Schedulable>(
    offers: readonly Offer[],
    asked: TurnRequest,
  ): Turn<Offer> | Promise<Turn<Offer>> {
    const state = this.#stateOf(asked.model)
    const nowMs = this.#parts.clock.monotonicMs()
    let lookAtMs: number | undefined
    if (!hasToWait(state, offers, asked)) {
      const picked = this.#pick(offers, asked, nowMs)
      if (picked.kind === 'go') {
        state.budget.begun(nowMs)
        return this.#turnOf(picked, asked, nowMs)
      }
      if (picked.kind === 'none' && !this.#isSoon(picked.untilMs, asked, nowMs))
        throw unavailableFault(picked, asked.model, nowMs)
      lookAtMs = picked.kind === 'none' ? picked.untilMs : nowMs + LOOK_EVERY_MS
    }
    return this.#inLine({ offers, asked, isFirst: true }, nowMs, lookAtMs) as Promise<Turn<Offer>>
  }

  /** A turn if one is free now, for a call that has something else to wait for. */
  turnNow<Offer extends Schedulable>(offers: readonly Offer[], asked: TurnRequest): Turn<Offer> | undefined {
    const state = this.#stateOf(asked.model)
    const nowMs = this.#parts.clock.monotonicMs()
    if (hasToWait(state, offers, asked)) return undefined
    const picked = this.#pick(offers, asked, nowMs)
    if (picked.kind !== 'go') return undefined
    state.budget.begun(nowMs)
    return this.#turnOf(picked, asked, nowMs)
  }

  /**
   * A turn for work whose call failed elsewhere, perhaps after a wait in the queue. Undefined when no further call is to be made.
   */
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
    const waiting = turn === undefined ? (linesFor(state, asked).find(offers)?.queue.size ?? 0) : 0
    const hasRoom = waiting < this.#parts.limits.maxQueued
    // Comes last, so that retry credit is only spent on a call that can be made.
    if (!hasRoom || !state.budget.mayRetry(nowMs)) {
      turn?.giveBack()
      return undefined
    }
    if (turn !== undefined) return turn
    const wanted = { offers, asked: { ...asked, isBegun: true }, isFirst: false }
    return this.#inLine(wanted, nowMs, nowMs + LOOK_EVERY_MS) as Promise<Turn<Offer>>
  }

  /** Why a deployment gets no call like this one now. Undefined: it is ready for one. */
  closedBecauseOf(offer: Schedulable, asked: Omit<CallDemand, 'nowMs'>): ClosedReason | undefined {
    const { scheduler, clock } = this.#parts
    return scheduler.closedBecauseOf(offer, { ...asked, nowMs: clock.monotonicMs() })
  }

  /** Whether a call of the model succeeded that began after `sinceMs`, on the monotonic clock. */
  hasSucceededSince(model: string, sinceMs: number): boolean {
    return (this.#models.get(model)?.succeededSinceMs ?? Number.NEGATIVE_INFINITY) > sinceMs
  }

  /** Interactive calls that have had to wait in a queue so far. */
  get waits(): number {
    return this.#waits
  }

  /** Ratio by which background calls take too long, for the model where it is largest. Up to 1 they do not. */
  get excess(): number {
    const nowMs = this.#parts.clock.monotonicMs()
    let most = 0
    for (const { times } of this.#models.values()) most = Math.max(most, times.excess(nowMs))
    return most
  }

  /** Interactive calls in queues, by model. */
  waiting(): ReadonlyMap<string, number> {
    const sizeOf = ({ lines }: ModelState): number =>
      lines.all().reduce((sum, { queue }) => sum + queue.size, 0)
    return new Map([...this.#models].map(([model, state]) => [model, sizeOf(state)]))
  }

  /** Queues of all models: one for each combination of deployments for which a call waits. */
  get queues(): number {
    return [...this.#models.values()].reduce(
      (sum, { lines, background }) => sum + lines.size + background.size,
      0,
    )
  }

  #pick<Offer extends Schedulable>(
    offers: readonly Offer[],
    { tokens, images, project, isOfSeveralProjects, isBackground }: TurnRequest,
    nowMs: number,
    isRetry = false,
  ): PickResult<Offer> {
    const { scheduler, random } = this.#parts
    return scheduler.pick(offers, {
      nowMs,
      random,
      project: isOfSeveralProjects === true ? undefined : project,
      tokens,
      images,
      isBackground,
      isRetry,
    })
  }

  #turnOf<Offer extends Schedulable>(
    picked: Extract<PickResult<Offer>, { kind: 'go' }>,
    { model, deadlineMs, isBackground = false }: TurnRequest,
    begunMs: number,
    waitedMs = 0,
  ): Turn<Offer> {
    const ended = (end: CallEnd, nowMs: number): void => {
      picked.end(end, nowMs)
      this.#serve(model)
    }
    const { clock } = this.#parts
    return {
      offer: picked.offer,
      waitedMs,
      end: (error) => {
        const nowMs = clock.monotonicMs()
        if (error === undefined) {
          const state = this.#stateOf(model)
          state.times.ended(isBackground, nowMs - begunMs, nowMs)
          state.succeededSinceMs = Math.max(state.succeededSinceMs, begunMs)
        }
        ended(this.#endOf(error, nowMs - begunMs, deadlineMs - nowMs), nowMs)
      },
      endUnclear: () => ended(UNCLEAR, clock.monotonicMs()),
      giveBack: () => ended(ABANDONED, clock.monotonicMs()),
    }
  }

  /** What a call's end says about its deployment, given the time its caller had left. */
  #endOf(error: unknown, durationMs: number, leftMs: number): CallEnd {
    if (error === undefined)
      return { kind: 'ok', durationMs: this.#isOwnWait(durationMs) ? undefined : durationMs }
    // The caller's own time was short: overdue calls show whether the deployment hangs.
    return isTimeOut(error) && leftMs <= TIMER_ERROR_MS ? ABANDONED : callEndOf(error, durationMs)
  }

  /** Whether this node's own delay may be so large a share of a call's time that it says nothing about the upstream. */
  #isOwnWait(durationMs: number): boolean {
    return this.#parts.ownWaitMs() * WAITS_OF_A_CALL > durationMs * OWN_SHARE
  }

  #inLine(
    wanted: Pick<WaitingCall, 'offers' | 'asked' | 'isFirst'>,
    nowMs: number,
    lookAtMs: number | undefined,
  ): Promise<Turn<Schedulable>> {
    const { asked, offers } = wanted
    const { queueWaitMs } = this.#parts.limits
    const line = linesFor(this.#stateOf(asked.model), asked).open(offers)
    const { queue } = line
    const mostMs = mayWait(asked) ? Number.POSITIVE_INFINITY : queueWaitMs
    const expectedMs = queue.expectedWaitMs(asked.project, nowMs)
    if (expectedMs > mostMs) throw busyFault(asked.model, expectedMs)
    const { promise, resolve, reject } = Promise.withResolvers<Turn<Schedulable>>()
    let cancel = (): void => {}
    const begin: WaitingCall['begin'] = (turn) => (cancel(), resolve(turn))
    const refuse: WaitingCall['refuse'] = (fault) => (cancel(), reject(fault))
    const entry = { ...wanted, sinceMs: nowMs, begin, refuse }
    const joined = queue.join(asked.project, entry, nowMs, asked.batchId)
    if (joined.kind === 'refused') {
      line.rest()
      throw busyFault(asked.model, joined.expectedWaitMs)
    }
    if (lookAtMs !== undefined) this.#serveAt(lookAtMs, line, asked.model)
    if (asked.isBackground !== true) this.#waits += 1
    if (joined.pushedOut !== undefined) refused(joined.pushedOut)
    const { place } = joined
    const leave = (fault: Fault): void => {
      if (!queue.leave(place)) return
      line.rest()
      refuse(fault)
      // The next call may need less than this one, and may have been waiting behind it.
      this.#serve(asked.model)
    }
    const left = (): void => leave(callerLeft())
    const cancelTimer = this.#parts.after(Math.min(mostMs, asked.deadlineMs - nowMs), () =>
      leave(busyFault(asked.model, 0)),
    )
    asked.caller?.once('close', left)
    cancel = () => {
      cancelTimer()
      asked.caller?.off('close', left)
    }
    return promise
  }

  /** Serves all queues of a model, one turn for each at a time. */
  #serve(model: string): void {
    const { lines, background } = this.#stateOf(model)
    if (lines.size > 0) this.#serveAll(lines, model)
    if (background.size > 0 && lines.size === 0) this.#serveAll(background, model)
  }

  #serveAll(lines: Lines, model: string): void {
    let waiting = lines.all()
    while (waiting.length > 0) waiting = waiting.filter((line) => this.#serveOne(line, model))
  }

  /** Serves the first call of a queue. Returns whether there may be more to serve. */
  #serveOne(line: Line, model: string): boolean {
    const { queue } = line
    const nowMs = this.#parts.clock.monotonicMs()
    const place = queue.peek()
    if (place === undefined) return false
    const { offers, asked, isFirst, sinceMs, begin, refuse } = place.entry
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
    line.rest()
    if (picked.kind === 'go') {
      if (isFirst) this.#stateOf(model).budget.begun(nowMs)
      begin(this.#turnOf(picked, asked, nowMs, nowMs - sinceMs))
    } else refuse(unavailableFault(picked, model, nowMs))
    return true
  }

  /** A queue needs at most one timer: the earliest. */
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

  #isSoon(untilMs: number, asked: TurnRequest, nowMs: number): boolean {
    const isWorthIt = mayWait(asked) || untilMs - nowMs <= this.#parts.limits.queueWaitMs
    return isWorthIt && untilMs < asked.deadlineMs
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

function linesFor({ lines, background }: ModelState, { isBackground }: TurnRequest): Lines {
  return isBackground === true ? background : lines
}

/** Other calls wait for the same deployments, or any interactive call does and this one is not. */
function hasToWait(state: ModelState, offers: readonly Schedulable[], asked: TurnRequest): boolean {
  if (asked.isBackground === true && state.lines.size > 0) return true
  return linesFor(state, asked).find(offers) !== undefined
}

function refused({ entry: { asked, refuse } }: Place<WaitingCall>): void {
  refuse(busyFault(asked.model, 0))
}

import type { Input } from '#core/embedding/input.ts'
import type { Offer } from '#core/embedding/negotiate.ts'
import { callerLeft } from '../traffic/caller.ts'
import type { CalledWork } from '../traffic/ended-call.ts'
import type { Turn } from '../traffic/turn.ts'
import type { TriedWork } from '../traffic/next-deployment.ts'
import { endOf, type AdmittedRequest } from './admitted-request.ts'
import { tokensOfCall } from './one-call.ts'

/** Inputs that one call is to serve, if they fit into it. */
export interface Part extends TriedWork<Offer> {
  readonly input: Input
  readonly slots: readonly number[]
  /** The error of its last call. Undefined before the first failure. */
  readonly cause?: unknown
  readonly work: CalledWork
}

/** Undefined when one of the request's own calls must end before there is a turn to wait for. */
type AskedTurn = Turn<Offer> | undefined | Promise<Turn<Offer>>

/** Parts woken when a call ends. More than one, since another request may take the slot first. */
const WOKEN_AT_ONCE = 8

/** The calls of one request in progress, so that no deployment gets more of them than it takes concurrently. */
export class Calls {
  readonly #request: AdmittedRequest
  #hasFailed = false
  #failure: unknown
  #begun = 0
  #parts = 1
  readonly #underWay = new Map<string, number>()
  readonly #waiting: (() => void)[] = []
  /** Parts in the queue: at most as many as could get a turn together, or this request would fill the queue alone. */
  #inLine = 0

  constructor(request: AdmittedRequest) {
    this.#request = request
  }

  /** A part that was cut from another one. */
  cutFrom({ attempt }: CalledWork): CalledWork {
    this.#parts += 1
    return { part: this.#parts - 1, attempt }
  }

  /** The first failure ends the request: no further call begins, and calls in progress are left to end. */
  fail(error: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    this.#failure = error
    this.#wake(this.#waiting.length)
  }

  /** Throws when no further call is to begin: the request has failed, or its client has left. */
  check(): void {
    if (this.#hasFailed) throw this.#failure
    if (this.#request.caller?.destroyed === true) throw callerLeft()
  }

  /** Immediate unless the part has to wait. */
  turn(part: Part): Turn<Offer> | Promise<Turn<Offer>> {
    const asked = this.#askFor(part)
    if (asked === undefined || asked instanceof Promise) return this.#turnLater(part, asked)
    return this.#take(asked) ? asked : this.#turnLater(part, this.#askFor(part))
  }

  async #turnLater(part: Part, first: AskedTurn): Promise<Turn<Offer>> {
    for (let asked = first; ; asked = this.#askFor(part)) {
      const turn = asked instanceof Promise ? await this.#awaited(asked) : asked
      if (turn === undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve))
      else if (this.#take(turn)) return turn
    }
  }

  #askFor(part: Part): AskedTurn {
    this.check()
    const open = part.offers.filter((offer) => this.#hasRoom(offer))
    return open.length > 0 && this.#inLine < roomOf(open) ? this.#ask(part, open) : undefined
  }

  /**
   * False when another part took the slot or ended the request while this part was in the queue. The turn is
   * then given back.
   */
  #take(turn: Turn<Offer>): boolean {
    if (this.#hasFailed || !this.#hasRoom(turn.offer)) {
      turn.giveBack()
      return false
    }
    this.begin(turn)
    return true
  }

  /** The request takes over the turn. */
  begin({ offer: { deployment } }: Turn<Offer>): void {
    this.#underWay.set(deployment.id, (this.#underWay.get(deployment.id) ?? 0) + 1)
    this.#begun += 1
  }

  async #awaited(asked: Promise<Turn<Offer>>): Promise<Turn<Offer>> {
    this.#inLine += 1
    try {
      return await asked
    } finally {
      this.#inLine -= 1
    }
  }

  /** Undefined when one of the request's own calls frees a slot sooner than another request's. */
  #ask(part: Part, open: readonly Offer[]): AskedTurn {
    const { dispatch, model, project, deadlineMs, caller, isBackground, batchId } = this.#request
    const isWaitingForOwn = open.length < part.offers.length
    const asked = {
      model: model.id,
      project,
      tokens: tokensOfCall(this.#request, part.input),
      images: 0,
      deadlineMs,
      isBegun: this.#begun > 0,
      isBackground,
      batchId,
      // Background work leaves the queue when it must end, unless that would waste calls it has paid for.
      caller: isBackground === true && this.#begun > 0 ? undefined : caller,
    }
    if (part.cause === undefined)
      return isWaitingForOwn ? dispatch.turnNow(open, asked) : dispatch.turn(open, asked)
    const turn = dispatch.again(open, asked)
    if (turn !== undefined || isWaitingForOwn) return turn
    throw endOf(part.cause, this.#request)
  }

  ended(turn: Turn<Offer>, error?: unknown): void {
    this.#release(turn)
    turn.end(error)
    this.#wake(WOKEN_AT_ONCE)
  }

  gaveBack(turn: Turn<Offer>): void {
    this.#release(turn)
    turn.giveBack()
    this.#wake(WOKEN_AT_ONCE)
  }

  #release({ offer: { deployment } }: Turn<Offer>): void {
    this.#underWay.set(deployment.id, (this.#underWay.get(deployment.id) ?? 1) - 1)
  }

  #wake(count: number): void {
    for (const resolve of this.#waiting.splice(0, count)) resolve()
  }

  #hasRoom({ deployment }: Offer): boolean {
    return (this.#underWay.get(deployment.id) ?? 0) < deployment.capabilities.maxParallelCalls
  }
}

function roomOf(offers: readonly Offer[]): number {
  return offers.reduce((sum, { deployment }) => sum + deployment.capabilities.maxParallelCalls, 0)
}

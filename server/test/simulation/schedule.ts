/**
 * A node's scheduling under a seeded fate, beside an oracle that knows what each upstream will do with a call
 * before it is sent. The node does here what `request/` does: first call, failover within the retry budget, a
 * place in the queue.
 */
import assert from 'node:assert/strict'
import type { CallEnd } from '#core/schedule/deployment.ts'
import { FairQueue } from '#core/schedule/fair-queue.ts'
import { RetryBudget } from '#core/schedule/retry-budget.ts'
import { Scheduler, type DeploymentReport, type Schedulable } from '#core/schedule/scheduler.ts'
import { seeded } from '#test/support/seeded.ts'
import { Agenda } from './agenda.ts'
import { ATTEMPT_MS, QUEUE_MS, REQUEST_MS, SimulatedUpstream } from './schedule-world.ts'
import type { Arrival, Fate, Scenario } from './schedule-world.ts'

export interface SentCall {
  readonly atMs: number
  readonly deployment: string
  readonly isProbe: boolean
  readonly isRetry: boolean
  readonly state: DeploymentReport['state']
}

/** Receives events, for plots. */
export interface Spectator {
  sent(call: SentCall): void
  answered(atMs: number, isGood: boolean): void
  changed(atMs: number, deployment: string, state: DeploymentReport['state']): void
}

export interface Outcome {
  readonly requests: number
  readonly good: number
  readonly firstCalls: number
  readonly retries: number
  readonly probes: number
  /** Why requests failed. */
  readonly reasons: ReadonlyMap<string, number>
}

interface Request {
  readonly arrival: Arrival
  readonly deadlineMs: number
  readonly tried: Set<string>
}

const MAX_QUEUED = 1000

export function simulate(scenario: Scenario, spectator?: Spectator): Outcome {
  return new Node(scenario, spectator).run()
}

class Node {
  readonly #scenario: Scenario
  readonly #spectator: Spectator | undefined
  readonly #agenda = new Agenda()
  readonly #random: () => number
  readonly #upstreams: Map<string, SimulatedUpstream>
  readonly #offers: readonly Schedulable[]
  readonly #scheduler = new Scheduler({ nodes: () => 1 })
  readonly #budget = new RetryBudget()
  readonly #queue = new FairQueue<Request>({ maxEntries: MAX_QUEUED, maxWaitMs: QUEUE_MS })
  readonly #reasons = new Map<string, number>()
  readonly #probesOut = new Map<string, number>()
  readonly #watched = new Map<string, DeploymentReport['state']>()
  #good = 0
  #firstCalls = 0
  #retries = 0
  #probes = 0
  #wakeAtMs = Infinity

  constructor(scenario: Scenario, spectator: Spectator | undefined) {
    this.#scenario = scenario
    this.#spectator = spectator
    this.#random = seeded(scenario.seed + 1)
    this.#upstreams = upstreamsOf(scenario)
    this.#offers = scenario.upstreams.map(({ offer }) => offer)
  }

  run(): Outcome {
    inTurn(this.#agenda, this.#scenario.arrivals, (arrival) => {
      const deadlineMs = arrival.atMs + REQUEST_MS
      const request = { arrival, deadlineMs, tried: new Set<string>() }
      // No request overtakes those that wait.
      if (this.#queue.size > 0 || !this.#try(request, this.#offers)) this.#wait(request)
    })
    this.#agenda.run()
    const { length: requests } = this.#scenario.arrivals
    assert.equal(
      [...this.#reasons.values()].reduce((sum, times) => sum + times, this.#good),
      requests,
    )
    return {
      requests,
      good: this.#good,
      firstCalls: this.#firstCalls,
      retries: this.#retries,
      probes: this.#probes,
      reasons: this.#reasons,
    }
  }

  /** False when no deployment can take it now. */
  #try(request: Request, offers: readonly Schedulable[]): boolean {
    const { nowMs } = this.#agenda
    const isRetry = request.tried.size > 0
    const { tokens } = request.arrival
    const picked = this.#scheduler.pick(offers, { nowMs, random: this.#random, tokens, images: 0, isRetry })
    if (picked.kind === 'none') this.#wakeAt(picked.untilMs)
    if (picked.kind !== 'go') return false
    const { id } = picked.offer.deployment
    const state =
      this.#scheduler.states(nowMs).find(({ deployment }) => deployment === id)?.state ?? 'healthy'
    assert.ok(
      state === (picked.isProbe ? 'probing' : 'healthy'),
      `at ${nowMs} a ${picked.isProbe ? 'probe' : 'call'} went to ${id}, which was ${state}`,
    )
    if (isRetry) this.#retries += 1
    else {
      this.#firstCalls += 1
      this.#budget.begun(nowMs)
    }
    if (picked.isProbe) this.#noteProbe(id, nowMs)
    this.#spectator?.sent({ atMs: nowMs, deployment: id, isProbe: picked.isProbe, isRetry, state })
    this.#call(request, id, (end) => {
      if (picked.isProbe) this.#probesOut.delete(id)
      picked.end(end, this.#agenda.nowMs)
      this.#watchStates()
    })
    return true
  }

  /** Only for spectators: a change is seen when the next call ends. */
  #watchStates(): void {
    if (!this.#spectator) return
    const { nowMs } = this.#agenda
    for (const { deployment, state } of this.#scheduler.states(nowMs)) {
      if ((this.#watched.get(deployment) ?? 'healthy') === state) continue
      this.#watched.set(deployment, state)
      this.#spectator.changed(nowMs, deployment, state)
    }
  }

  /** One at a time, unless the last has been in progress long enough to count as failed. */
  #noteProbe(id: string, nowMs: number): void {
    const lastMs = this.#probesOut.get(id)
    assert.ok(lastMs === undefined || nowMs - lastMs >= 1000, `two probes at once to ${id} at ${nowMs}`)
    this.#probesOut.set(id, nowMs)
    this.#probes += 1
  }

  #call(request: Request, id: string, ended: (end: CallEnd) => void): void {
    const sentMs = this.#agenda.nowMs
    const upstream = this.#upstreams.get(id) as SimulatedUpstream
    const fate = upstream.fateOf(request.arrival, sentMs)
    upstream.accept(fate, sentMs)
    request.tried.add(id)
    const timeoutMs = Math.min(ATTEMPT_MS, request.deadlineMs - sentMs)
    const end = inTime(fate, timeoutMs)
    this.#agenda.at(sentMs + Math.min(fate.afterMs ?? Infinity, timeoutMs), () => {
      ended(end)
      if (end.kind === 'ok' || end.kind === 'refused') this.#answer(undefined)
      else this.#again(request, end)
      this.#serveQueue()
    })
  }

  /** At another deployment if there is one, else anywhere. */
  #again(request: Request, { kind }: CallEnd): void {
    const { nowMs } = this.#agenda
    const weather = [...request.tried].map((id) => this.#upstreams.get(id)?.spellAt(nowMs).weather).at(-1)
    const failure = `${kind} (${weather})`
    if (nowMs >= request.deadlineMs) return this.#answer(`deadline after ${failure}`)
    if (!this.#budget.mayRetry(nowMs)) return this.#answer(`no budget after ${failure}`)
    const others = this.#offers.filter(({ deployment }) => !request.tried.has(deployment.id))
    if (others.length > 0 && this.#try(request, others)) return
    if (others.length === 0 && request.tried.size > this.#offers.length) return this.#answer('all failed')
    this.#wait(request)
  }

  #wait(request: Request): void {
    const { nowMs } = this.#agenda
    const joined = this.#queue.join(request.arrival.project, request, nowMs)
    if (joined.kind === 'refused') return this.#answer(`queue ${joined.why}`)
    if (joined.pushedOut) this.#answer('pushed out of the queue')
    const { place } = joined
    this.#agenda.at(nowMs + QUEUE_MS, () => {
      if (this.#queue.leave(place)) this.#answer('waited too long')
    })
    this.#serveQueue()
  }

  #serveQueue(): void {
    for (let next = this.#queue.peek(); next; next = this.#queue.peek()) {
      if (!this.#try(next.entry, this.#offers)) return
      this.#queue.take(this.#agenda.nowMs)
    }
  }

  #wakeAt(atMs: number): void {
    const { nowMs } = this.#agenda
    if (this.#wakeAtMs <= atMs && this.#wakeAtMs > nowMs) return
    if (atMs - nowMs > QUEUE_MS) return
    this.#wakeAtMs = atMs
    this.#agenda.at(atMs, () => this.#serveQueue())
  }

  #answer(reason: string | undefined): void {
    this.#spectator?.answered(this.#agenda.nowMs, reason === undefined)
    if (reason === undefined) this.#good += 1
    else this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1)
  }
}

/** Each arrival schedules the next one, so that the agenda stays short. */
function inTurn(
  agenda: Agenda,
  arrivals: readonly Arrival[],
  run: (arrival: Arrival) => void,
  index = 0,
): void {
  const arrival = arrivals[index]
  if (!arrival) return
  agenda.at(arrival.atMs, () => {
    inTurn(agenda, arrivals, run, index + 1)
    run(arrival)
  })
}

function inTime({ end, afterMs }: Fate, timeoutMs: number): CallEnd {
  return afterMs === undefined || afterMs > timeoutMs ? { kind: 'failed', durationMs: timeoutMs } : end
}

function upstreamsOf({ upstreams, seed }: Scenario): Map<string, SimulatedUpstream> {
  return new Map(
    upstreams.map((plan, index) => [
      plan.offer.deployment.id,
      new SimulatedUpstream(plan, seed * 31 + index),
    ]),
  )
}

/** Interval at which a waiting request looks again. */
const ORACLE_STEP_MS = 25

/** Sends each request to the deployment that will answer first, if there is one now or before the queue's time is up. */
export function consultOracle(scenario: Scenario): number {
  const agenda = new Agenda()
  const upstreams = [...upstreamsOf(scenario).values()]
  let good = 0
  const attempt = (arrival: Arrival): void => {
    const { nowMs } = agenda
    let best: { readonly upstream: SimulatedUpstream; readonly fate: Fate } | undefined
    for (const upstream of upstreams) {
      const fate = upstream.fateOf(arrival, nowMs)
      const isAnswer = fate.end.kind === 'ok' || fate.end.kind === 'refused'
      if (!isAnswer || fate.afterMs === undefined || fate.afterMs > ATTEMPT_MS) continue
      if (!best || fate.afterMs < (best.fate.afterMs ?? Infinity)) best = { upstream, fate }
    }
    if (best) {
      best.upstream.accept(best.fate, nowMs)
      good += 1
    } else if (nowMs + ORACLE_STEP_MS <= arrival.atMs + QUEUE_MS)
      agenda.at(nowMs + ORACLE_STEP_MS, () => attempt(arrival))
  }
  inTurn(agenda, scenario.arrivals, attempt)
  agenda.run()
  return good
}

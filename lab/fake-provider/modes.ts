import { traitsOf, wellBehaved, type Behaviour } from './behaviour.ts'
import { scenarioOf, scenarioWith, type Scenario } from './traits.ts'

/** Longer than any test; older seconds are forgotten. */
const keptSeconds = 900

type Second = {
  /** Unix seconds. */
  at: number
  /** That arrived in it. */
  calls: number
  /** That were answered in it. */
  served: number
}

export type ModeCounters = {
  calls: number
  served: number
  /** Inputs and tokens of served calls. */
  inputs: number
  tokens: number
  /** Of all statuses and, as 0, of connections that ended or stay without an answer. */
  statuses: Record<string, number>
  inFlight: number
  peakInFlight: number
  perSecond: Second[]
}

export type ModeReport = Behaviour & ModeCounters & { name: string; url: string | null }

type Finished = { status: number | null; served: boolean; inputs: number; tokens: number }

/** One upstream whose behaviour changes while the server runs. */
export class Mode {
  readonly name: string
  /** Of its own port, if it has one. */
  url: string | null = null
  #behaviour: Behaviour = wellBehaved
  #traits: readonly string[] = []
  #sinceChange = 0
  #counters = emptyCounters()
  #hold: PromiseWithResolvers<void> | undefined

  constructor(name: string) {
    this.name = name
  }

  behave(behaviour: Behaviour): void {
    this.#behaviour = behaviour
    this.#traits = traitsOf(behaviour)
    this.#sinceChange = 0
    if (behaviour.mode === 'hold') this.#hold ??= Promise.withResolvers()
    else {
      this.#hold?.resolve()
      this.#hold = undefined
    }
  }

  /** Resolves when calls are held no longer. */
  async released(): Promise<void> {
    await this.#hold?.promise
  }

  /** The traits that the behaviour adds to one more call. */
  nextTraits(): readonly string[] {
    const { share, byChance } = this.#behaviour
    if (byChance) return Math.random() < share ? this.#traits : []
    const before = Math.floor(this.#sinceChange * share)
    this.#sinceChange += 1
    return Math.floor(this.#sinceChange * share) > before ? this.#traits : []
  }

  begin(): void {
    this.#counters.calls += 1
    this.#counters.inFlight += 1
    this.#counters.peakInFlight = Math.max(this.#counters.peakInFlight, this.#counters.inFlight)
    this.#thisSecond().calls += 1
  }

  finish({ status, served, inputs, tokens }: Finished): void {
    const word = String(status ?? 0)
    this.#counters.statuses[word] = (this.#counters.statuses[word] ?? 0) + 1
    if (!served) return
    this.#counters.served += 1
    this.#counters.inputs += inputs
    this.#counters.tokens += tokens
    this.#thisSecond().served += 1
  }

  /** The connection has carried its answer, or is gone. */
  leave(): void {
    this.#counters.inFlight -= 1
  }

  /** Calls in flight are those of the new count too, or they would end below zero. */
  resetCounters(): void {
    const { inFlight } = this.#counters
    this.#counters = { ...emptyCounters(), inFlight, peakInFlight: inFlight }
  }

  report(): ModeReport {
    const { name, url } = this
    return structuredClone({ name, url, ...this.#behaviour, ...this.#counters })
  }

  #thisSecond(): Second {
    const at = Math.floor(Date.now() / 1000)
    const { perSecond } = this.#counters
    const last = perSecond.at(-1)
    if (last !== undefined && last.at >= at) return last
    const second = { at, calls: 0, served: 0 }
    if (perSecond.push(second) > keptSeconds) perSecond.shift()
    return second
  }
}

/** All of them, by name. A name exists from its first call or its first change on. */
export class Modes {
  readonly #modes = new Map<string, Mode>()

  named(name: string): Mode {
    const mode = this.#modes.get(name) ?? new Mode(name)
    this.#modes.set(name, mode)
    return mode
  }

  all(): Mode[] {
    return [...this.#modes.values()]
  }

  /** Of the scenario in a path; null when it names none, or cannot be read. */
  inPath(pathname: string): Mode | null {
    const name = /^\/(?:[^/]*(?:\+|%2B))?mode-([\w.-]+)/i.exec(pathname)?.[1]
    return name === undefined ? null : this.named(name)
  }

  /** What a path prefix asks for, with what its mode adds to this call. */
  scenarioOf(prefix: string): Scenario {
    const scenario = scenarioOf(prefix)
    return scenario.mode === null ? scenario : scenarioWith(prefix, this.named(scenario.mode).nextTraits())
  }
}

function emptyCounters(): ModeCounters {
  return {
    calls: 0,
    served: 0,
    inputs: 0,
    tokens: 0,
    statuses: {},
    inFlight: 0,
    peakInFlight: 0,
    perSecond: [],
  }
}

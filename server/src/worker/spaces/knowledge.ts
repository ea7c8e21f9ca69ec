/** What this node knows about spaces, and what follows from it for each deployment. */
import { listModels, type Catalog, type Deployment, type EmbeddingModel } from '#core/catalog/catalog.ts'
import { ALL_TEXTS, goodBefore } from '#core/embedding/good-moments.ts'
import { CLOCK_SKEW_MS, type MadeVectors } from '#core/embedding/made-vectors.ts'
import type { HoldReason } from '#core/schedule/deployment.ts'
import { spaceIn } from '#core/embedding/space.ts'
import { checksum } from '#core/keys/key.ts'
import type { BadWindow, DeploymentStanding, GoodCheck, ProbeResult, SpaceReference } from '#ports/spaces.ts'
import { endpointOf } from '#core/catalog/upstream-address.ts'
import { GoodChecks, type Recorded } from './good-checks.ts'
import { readDeclared } from './names.ts'

/** `held-back`: not compared with the model's space yet, so nothing of it may be sent either. */
type StandingState = 'trusted' | 'warned' | 'held-back' | 'quarantined'

export interface GuardedStanding {
  readonly model: string
  readonly deployment: string
  readonly state: StandingState
  /** Whether nothing of it may be sent: it is quarantined or held back. */
  readonly isQuarantined: boolean
  readonly lastGoodAtMs: number | undefined
  /** The last good probe of all texts, by the class of size of its calls. */
  readonly goodSizes: Readonly<Record<string, number>>
  /** When its quarantines of earlier ended. */
  readonly returnedAtMs: readonly number[]
  readonly reason: string | undefined
  /** Undefined when it was never probed. */
  readonly last: ProbeResult | undefined
}

/** Why the scheduler must hold the deployment back. Undefined: it need not. */
export function holdOf({ state }: Pick<GuardedStanding, 'state'>): HoldReason | undefined {
  return state === 'quarantined' || state === 'held-back' ? state : undefined
}

/** Interval of probes of a quarantined deployment: an operator may be fixing it, and callers wait. */
export const AGAIN_MS = 60_000
/** Unrecorded results kept: hours of an outage in which every node probes a few deployments for itself. */
const MAX_UNRECORDED = 1000
/** Headers whose values may change at any time. */
const CREDENTIAL_HEADER = /auth|key|token|secret|password|credential|cookie|signature/

/** What follows from the knowledge for one catalog. */
interface Conclusions {
  readonly catalog: Catalog
  /** Standings of every guarded deployment of the catalog, by id. */
  readonly standings: ReadonlyMap<string, GuardedStanding>
  /** Times in which a deployment's vectors must not be used, by id; also for deployments that are gone. */
  readonly windows: ReadonlyMap<string, readonly BadWindow[]>
  /** The oldest stored good check that a bad one could still reach back to, by deployment. */
  readonly confirmedUntilMs: ReadonlyMap<string, number>
  /** The generation of each declared space, by its name. */
  readonly declared: ReadonlyMap<string, string>
  /** Standings of deployments as requests hold them, also from earlier catalogs. */
  readonly judged: WeakMap<Deployment, GuardedStanding>
}

export class SpaceKnowledge {
  #hasRead = false
  #references: ReadonlyMap<string, SpaceReference> = new Map()
  #rows: readonly DeploymentStanding[] = []
  /** Spaces named by standings when references were last read, including spaces that models have left since. */
  #lookedUp: ReadonlySet<string> = new Set()
  #unrecorded: readonly ProbeResult[] = []
  readonly good = new GoodChecks()
  /** Undefined when something was learnt since they were drawn. */
  #conclusions: Conclusions | undefined

  /** Whether the store was read once. Before that the node does not know which spaces exist. */
  get hasRead(): boolean {
    return this.#hasRead
  }

  referenceOf(model: string): SpaceReference | undefined {
    return this.#references.get(model)
  }

  /** 1 while there is no reference. */
  generationOf(model: string): number {
    return this.#references.get(model)?.generation ?? 1
  }

  /** Of the space that models declare. Undefined: none declares it. */
  declaredGeneration(catalog: Catalog, name: string): string | undefined {
    return this.#concluded(catalog).declared.get(name)
  }

  /** Whether these standings name a space whose reference is not known here. */
  isNews(rows: readonly DeploymentStanding[]): boolean {
    return !this.#hasRead || rows.some(({ space }) => space !== undefined && !this.#lookedUp.has(space))
  }

  learn(rows: readonly DeploymentStanding[], references?: readonly SpaceReference[]): void {
    this.#rows = rows
    this.#conclusions = undefined
    if (references === undefined) return
    this.#references = new Map(references.map((reference) => [reference.model, reference]))
    this.#lookedUp = new Set(rows.flatMap(({ space }) => space ?? []))
    this.#hasRead = true
  }

  learnReference(reference: SpaceReference): void {
    this.#references = new Map([...this.#references, [reference.model, reference]])
    this.#conclusions = undefined
  }

  /** Probes of this node that were not yet read back from the store, in their order. */
  get unrecorded(): readonly ProbeResult[] {
    return this.#unrecorded
  }

  /** This node has seen what the store does not know yet. */
  get hasUnwritten(): boolean {
    return this.#unrecorded.length > 0 || this.good.all.length > 0
  }

  /** The result counts on this node from now on, and on others once it is stored. */
  remember(result: ProbeResult): void {
    this.#unrecorded = bounded([...this.#unrecorded, result])
    this.#conclusions = undefined
  }

  /** A probe of a deployment in use was within its space. */
  noteGood(check: GoodCheck): void {
    this.good.add(check)
    this.#conclusions = undefined
  }

  /** This was stored, and the store was read since. */
  forget({ good, results }: Recorded): void {
    this.good.forget(good)
    this.#unrecorded = this.#unrecorded.filter((result) => !results.has(result))
    this.#conclusions = undefined
  }

  /** Of every deployment in the catalog, by id. */
  standings(catalog: Catalog): ReadonlyMap<string, GuardedStanding> {
    return this.#concluded(catalog).standings
  }

  /**
   * The standing of one deployment as a request holds it. Its catalog may be gone by now, and its id may be
   * gone or point elsewhere: the store outlives catalogs.
   */
  standingOf(catalog: Catalog, model: EmbeddingModel, deployment: Deployment): GuardedStanding {
    const { judged } = this.#concluded(catalog)
    const known = judged.get(deployment)
    if (known !== undefined) return known
    const { id } = deployment
    const name = nameOf({ model: model.id, deployment: id, target: targetOf(model, deployment) })
    const isIts = (one: DeploymentStanding | ProbeResult): boolean =>
      one.deployment === id && nameOf(one) === name
    const row = this.#rows.find(isIts)
    const standing = this.#judge(model, deployment, row, this.#unrecorded.filter(isIts))
    judged.set(deployment, standing)
    return standing
  }

  /** Last good moments of all deployments of this id that are not quarantined, as nodes with another configuration know them. */
  lastGoodAtMs(deployment: string): readonly (number | undefined)[] {
    const rows = this.#rows.filter((row) => row.deployment === deployment && !row.isQuarantined)
    return rows.map((row) => row.lastGoodAtMs)
  }

  /** Whether a vector that a deployment made at that time may be used. The deployment may be gone by now. */
  isTrusted(catalog: Catalog, deployment: string, madeAtMs: number): boolean {
    const concluded = this.#concluded(catalog)
    const standing = concluded.standings.get(deployment)
    const windows = concluded.windows.get(deployment)
    // Before the first read the node does not know what was bad before it started.
    if (!this.#hasRead || standing?.state === 'held-back') return false
    if (standing === undefined && windows === undefined) return false
    return !wasBad(standing, windows, { fromMs: madeAtMs, untilMs: madeAtMs })
  }

  /** Whether good checks have followed a vector that the deployment made at that time, so that no bad one can make it suspect. */
  isConfirmed(catalog: Catalog, deployment: string, madeAtMs: number): boolean {
    const { confirmedUntilMs } = this.#concluded(catalog)
    return madeAtMs <= (confirmedUntilMs.get(deployment) ?? -Infinity) - CLOCK_SKEW_MS
  }

  /** Whether a deployment was outside at some moment of this time. One that points elsewhere under its id now says nothing about it. */
  wasOutside(catalog: Catalog, { deployment, ...span }: Omit<MadeVectors, 'space'>): boolean {
    const { standings, windows } = this.#concluded(catalog)
    const standing = standings.get(deployment)
    return wasBad(standing?.state === 'held-back' ? undefined : standing, windows.get(deployment), span)
  }

  #concluded(catalog: Catalog): Conclusions {
    if (this.#conclusions?.catalog !== catalog) this.#conclusions = this.#conclude(catalog)
    return this.#conclusions
  }

  #conclude(catalog: Catalog): Conclusions {
    const rows = new Map(this.#rows.map((row) => [nameOf(row), row]))
    const unrecorded = Map.groupBy(this.#unrecorded, nameOf)
    const standings = new Map<string, GuardedStanding>()
    const confirmedUntilMs = new Map<string, number>()
    for (const { model, deployment } of embeddingDeployments(catalog)) {
      const target = targetOf(model, deployment)
      const name = nameOf({ model: model.id, deployment: deployment.id, target })
      const row = rows.get(name)
      standings.set(deployment.id, this.#judge(model, deployment, row, unrecorded.get(name) ?? []))
      const goods = [row?.goodAtMs[0] ?? row?.lastGoodAtMs, row?.goodSizes[ALL_TEXTS]]
      const known = goods.filter((atMs) => atMs !== undefined)
      if (known.length > 0) confirmedUntilMs.set(deployment.id, Math.min(...known))
    }
    const windows = new Map<string, readonly BadWindow[]>()
    for (const row of this.#rows) {
      const { deployment, badWindows, isQuarantined, last } = row
      // The window ends soon after the last probe: by then the deployment was probed again, or pointed
      // elsewhere. For a deployment that is gone it has no end.
      const untilMs = standings.has(deployment) ? last.atMs + AGAIN_MS : Infinity
      const open = isQuarantined ? [{ ...openWindow(row), untilMs }] : []
      windows.set(deployment, [...(windows.get(deployment) ?? []), ...badWindows, ...open])
    }
    const declared = readDeclared(catalog, (model) => this.generationOf(model))
    return { catalog, standings, windows, confirmedUntilMs, declared, judged: new WeakMap() }
  }

  #judge(
    model: EmbeddingModel,
    deployment: Deployment,
    row: DeploymentStanding | undefined,
    unrecorded: readonly ProbeResult[],
  ): GuardedStanding {
    const last = latest(unrecorded.at(-1), row?.last)
    const reference = this.#references.get(model.id)
    // A quarantined row knows since when: probes in other calls may have been good later.
    const isOwn = row !== undefined && reference !== undefined && !row.isQuarantined
    const moments = isOwn ? this.good.withOwn(row, spaceIn(reference)) : row
    const { lastGoodAtMs, goodSizes = {} } = moments ?? {}
    const standing = (
      state: StandingState,
      reason?: string,
      since: Pick<GuardedStanding, 'lastGoodAtMs'> = { lastGoodAtMs },
    ): GuardedStanding => ({
      model: model.id,
      deployment: deployment.id,
      state,
      isQuarantined: state === 'held-back' || state === 'quarantined',
      ...since,
      goodSizes,
      returnedAtMs: row?.badWindows.map(({ untilMs }) => untilMs) ?? [],
      reason,
      last,
    })
    if (reference === undefined) {
      // A single deployment is one space. Whether several are is known after the first probes.
      const [first = deployment] = inOrder(model.deployments)
      if (first === deployment) return standing('trusted')
      return standing('held-back', `not probed yet: until there is a reference, only ${first.id} serves`)
    }
    const space = spaceIn(reference)
    const compared = unrecorded.filter((result) => result.space === space && result.verdict !== 'failed')
    // Strict: a deployment returns once its good probe is stored, for every node to know.
    const outside = compared.find(({ verdict }) => verdict === 'quarantined')
    const isStored = row?.space === space && row.isQuarantined
    if (outside && !isStored) {
      const goods = [...(row?.goodAtMs ?? []), ...(lastGoodAtMs === undefined ? [] : [lastGoodAtMs])]
      const since = { lastGoodAtMs: goodBefore(outside, goods, goodSizes) }
      return standing('quarantined', outside.reason, since)
    }
    if (isStored) return standing('quarantined', outside?.reason ?? row.reason)
    const within = row?.space === space ? row : compared.at(-1)
    if (within) return standing(within.reason === undefined ? 'trusted' : 'warned', within.reason)
    const failure =
      last?.verdict === 'failed' ? `: the last probe failed (${last.reason ?? 'no reason'})` : ''
    return standing('held-back', `not probed yet${failure}`)
  }
}

function wasBad(
  standing: GuardedStanding | undefined,
  windows: readonly BadWindow[] = [],
  made: BadWindow,
): boolean {
  const meets = ({ fromMs, untilMs }: BadWindow): boolean =>
    made.untilMs > fromMs - CLOCK_SKEW_MS && made.fromMs <= untilMs
  return (standing?.isQuarantined === true && meets(openWindow(standing))) || windows.some(meets)
}

function openWindow({ lastGoodAtMs }: Pick<GuardedStanding, 'lastGoodAtMs'>): BadWindow {
  return { fromMs: lastGoodAtMs ?? -Infinity, untilMs: Infinity }
}

export function embeddingDeployments(
  catalog: Catalog,
): readonly { readonly model: EmbeddingModel; readonly deployment: Deployment }[] {
  return listModels(catalog).flatMap((model) =>
    model.kind === 'embedding' && model.isGuarded
      ? model.deployments.map((deployment) => ({ model, deployment }))
      : [],
  )
}

export function unguardedDeployments(catalog: Catalog): readonly Deployment[] {
  return listModels(catalog).flatMap((model) =>
    model.kind === 'embedding' && !model.isGuarded ? model.deployments : [],
  )
}

/** Deployments that requests go to first come first: most vectors that callers have are theirs. */
export function inOrder(deployments: readonly Deployment[]): readonly Deployment[] {
  return deployments.toSorted((one, other) => one.priority - other.priority)
}

/** Everything that decides which vectors come back. Credentials do not: they may change at any time. */
export function targetOf(
  { facts }: EmbeddingModel,
  { upstream, upstreamModel, capabilities }: Deployment,
): string {
  const { dialect, provider, apiVersion, settings } = upstream
  const headers = Object.entries(upstream.headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !CREDENTIAL_HEADER.test(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  const where = [dialect, provider, endpointOf(upstream), apiVersion, settings, headers, upstreamModel]
  const wire = capabilities.contents?.wire ?? []
  return checksum(JSON.stringify([...where, facts.dimensions, facts.inputType].concat(wire)))
}

function latest(one: ProbeResult | undefined, other: ProbeResult | undefined): ProbeResult | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.atMs < other.atMs ? other : one
}

/**
 * Of too many results the least useful is dropped: the oldest that failed, else the oldest good one, else the
 * oldest bad one after which the same deployment was bad again. A deployment that was seen outside therefore
 * stays outside.
 */
function bounded(results: readonly ProbeResult[]): readonly ProbeResult[] {
  if (results.length <= MAX_UNRECORDED) return results
  const bad = results.filter(({ verdict }) => verdict === 'quarantined')
  const latestBad = new Set(new Map(bad.map((result) => [nameOf(result), result])).values())
  const spares = [
    results.findIndex(({ verdict }) => verdict === 'failed'),
    results.findIndex(({ verdict }) => verdict !== 'quarantined'),
    results.findIndex((result) => !latestBad.has(result)),
  ]
  const spare = spares.find((index) => index !== -1)
  return spare === undefined ? results : results.toSpliced(spare, 1)
}

function nameOf({ model, deployment, target }: Pick<ProbeResult, 'model' | 'deployment' | 'target'>): string {
  return JSON.stringify([model, deployment, target])
}

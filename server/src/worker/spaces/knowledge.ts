/** What this node knows of spaces, and what follows from it for each deployment. */
import { listModels, type Catalog, type Deployment, type EmbeddingModel } from '#core/catalog.ts'
import { spaceIn } from '#core/embedding/space.ts'
import { checksum } from '#core/key.ts'
import type { BadWindow, DeploymentStanding, ProbeResult, SpaceReference } from '#ports/spaces.ts'
import { addressOf } from '#core/catalog.ts'

/** `held-back`: not compared with the model's space yet, so that nothing of it may leave either. */
type StandingState = 'trusted' | 'warned' | 'held-back' | 'quarantined'

export interface GuardedStanding {
  readonly model: string
  readonly deployment: string
  readonly state: StandingState
  /** Nothing of it may leave: quarantined, or held back. */
  readonly isQuarantined: boolean
  readonly lastGoodAtMs: number | undefined
  readonly reason: string | undefined
  /** Undefined: never probed. */
  readonly last: ProbeResult | undefined
}

/** Clocks of nodes differ: what was made shortly before the last good probe may have been made after it. */
const CLOCK_SKEW_MS = 5000
/** Somebody may be mending a quarantined one, and callers wait: it is asked again this soon. */
export const AGAIN_MS = 60_000
/** Hours of an outage in which every node probes a few deployments for itself. */
const MAX_UNRECORDED = 1000
/** Names of headers whose values may change at any time. */
const CREDENTIAL_HEADER = /auth|key|token|secret|password|credential|cookie|signature/

export class SpaceKnowledge {
  #hasRead = false
  #references: ReadonlyMap<string, SpaceReference> = new Map()
  #rows: readonly DeploymentStanding[] = []
  /** Spaces that standings named when references were last read, also those that models have left since. */
  #lookedUp: ReadonlySet<string> = new Set()
  #unrecorded: readonly ProbeResult[] = []
  /** What follows holds for this catalog; undefined: for none, look again. */
  #catalog: Catalog | undefined
  #standings: ReadonlyMap<string, GuardedStanding> = new Map()
  #windows: ReadonlyMap<string, readonly BadWindow[]> = new Map()
  /** Of deployments that were asked for by themselves, also of catalogs before this one. */
  #judged = new WeakMap<Deployment, GuardedStanding>()

  /** Whether the store was read once: before, nobody knows which space a model has, nor who is outside. */
  get hasRead(): boolean {
    return this.#hasRead
  }

  referenceOf(model: string): SpaceReference | undefined {
    return this.#references.get(model)
  }

  /** Whether these standings tell of a space whose reference is not known here. */
  isNews(rows: readonly DeploymentStanding[]): boolean {
    return !this.#hasRead || rows.some(({ space }) => space !== undefined && !this.#lookedUp.has(space))
  }

  learn(rows: readonly DeploymentStanding[], references?: readonly SpaceReference[]): void {
    this.#rows = rows
    this.#catalog = undefined
    if (references === undefined) return
    this.#references = new Map(references.map((reference) => [reference.model, reference]))
    this.#lookedUp = new Set(rows.flatMap(({ space }) => space ?? []))
    this.#hasRead = true
  }

  learnReference(reference: SpaceReference): void {
    this.#references = new Map([...this.#references, [reference.model, reference]])
    this.#catalog = undefined
  }

  /** Probes of this node that were not yet read back from the store, in their order. */
  get unrecorded(): readonly ProbeResult[] {
    return this.#unrecorded
  }

  /** Here the result counts from now on; elsewhere when it is written down. */
  remember(result: ProbeResult): void {
    this.#unrecorded = bounded([...this.#unrecorded, result])
    this.#catalog = undefined
  }

  /** They were written down, and the store was read since. */
  forget(results: ReadonlySet<ProbeResult>): void {
    this.#unrecorded = this.#unrecorded.filter((result) => !results.has(result))
    this.#catalog = undefined
  }

  /** Of every deployment in the catalog, by id. */
  standings(catalog: Catalog): ReadonlyMap<string, GuardedStanding> {
    if (catalog !== this.#catalog) this.#look(catalog)
    return this.#standings
  }

  /**
   * Of one deployment as a request has it: its catalog may be gone by now, and the id with it, or lead elsewhere. What stands
   * in the store outlives catalogs.
   */
  standingOf(catalog: Catalog, model: EmbeddingModel, deployment: Deployment): GuardedStanding {
    if (catalog !== this.#catalog) this.#look(catalog)
    const judged = this.#judged.get(deployment)
    if (judged !== undefined) return judged
    const { id } = deployment
    const name = nameOf({ model: model.id, deployment: id, target: targetOf(model, deployment) })
    const isIts = (one: DeploymentStanding | ProbeResult): boolean =>
      one.deployment === id && nameOf(one) === name
    const row = this.#rows.find(isIts)
    const standing = this.#judge(model, deployment, row, this.#unrecorded.filter(isIts))
    this.#judged.set(deployment, standing)
    return standing
  }

  /** Whether something that a deployment made then may still be used; it need not be in the catalog any more. */
  isTrusted(catalog: Catalog, deployment: string, madeAtMs: number): boolean {
    const standing = this.standings(catalog).get(deployment)
    const windows = this.#windows.get(deployment)
    // Before the store was read once, nobody knows what was bad before this process began.
    if (!this.#hasRead || standing?.state === 'held-back') return false
    if (standing === undefined && windows === undefined) return false
    const isWithin = ({ fromMs, untilMs }: BadWindow): boolean =>
      madeAtMs > fromMs - CLOCK_SKEW_MS && madeAtMs <= untilMs
    if (standing?.isQuarantined && isWithin(openWindow(standing))) return false
    return !windows?.some(isWithin)
  }

  #look(catalog: Catalog): void {
    const rows = new Map(this.#rows.map((row) => [nameOf(row), row]))
    const unrecorded = Map.groupBy(this.#unrecorded, nameOf)
    const standings = new Map<string, GuardedStanding>()
    for (const { model, deployment } of embeddingDeployments(catalog)) {
      const target = targetOf(model, deployment)
      const name = nameOf({ model: model.id, deployment: deployment.id, target })
      standings.set(deployment.id, this.#judge(model, deployment, rows.get(name), unrecorded.get(name) ?? []))
    }
    const windows = new Map<string, readonly BadWindow[]>()
    for (const row of this.#rows) {
      const { deployment, badWindows, isQuarantined, last } = row
      // If it leads elsewhere by now, or is gone, what it made before is as bad as it was. Until it was asked again, or led
      // elsewhere, it was still at work.
      const untilMs = standings.has(deployment) ? last.atMs + AGAIN_MS : Infinity
      const open = isQuarantined ? [{ ...openWindow(row), untilMs }] : []
      windows.set(deployment, [...(windows.get(deployment) ?? []), ...badWindows, ...open])
    }
    this.#standings = standings
    this.#windows = windows
    this.#judged = new WeakMap()
    this.#catalog = catalog
  }

  #judge(
    model: EmbeddingModel,
    deployment: Deployment,
    row: DeploymentStanding | undefined,
    unrecorded: readonly ProbeResult[],
  ): GuardedStanding {
    const last = latest(unrecorded.at(-1), row?.last)
    const standing = (state: StandingState, reason?: string): GuardedStanding => ({
      model: model.id,
      deployment: deployment.id,
      state,
      isQuarantined: state === 'held-back' || state === 'quarantined',
      lastGoodAtMs: row?.lastGoodAtMs,
      reason,
      last,
    })
    const reference = this.#references.get(model.id)
    if (reference === undefined) {
      // One deployment is one space. Whether several are, nobody knows before they were probed, a second after the start.
      const [first = deployment] = inOrder(model.deployments)
      if (first === deployment) return standing('trusted')
      return standing('held-back', `not probed yet: until there is a reference, only ${first.id} serves`)
    }
    const space = spaceIn(reference)
    const compared = unrecorded.filter((result) => result.space === space && result.verdict !== 'failed')
    // Strict: it returns when that is written down, and every node knows what it made meanwhile.
    const outside = compared.find(({ verdict }) => verdict === 'quarantined')
    if (outside) return standing('quarantined', outside.reason)
    if (row?.space === space && row.isQuarantined) return standing('quarantined', row.reason)
    const within = row?.space === space ? row : compared.at(-1)
    if (within) return standing(within.reason === undefined ? 'trusted' : 'warned', within.reason)
    const failure =
      last?.verdict === 'failed' ? `: the last probe failed (${last.reason ?? 'no reason'})` : ''
    return standing('held-back', `not probed yet${failure}`)
  }
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

/** Those that requests go to first come first: what they answer is most of what callers have. */
export function inOrder(deployments: readonly Deployment[]): readonly Deployment[] {
  return deployments.toSorted((one, other) => one.priority - other.priority)
}

/** All that decides which vectors come back; no credential, which may change at any time. */
export function targetOf({ facts }: EmbeddingModel, { upstream, upstreamModel }: Deployment): string {
  const { dialect, provider, apiVersion, settings } = upstream
  const headers = Object.entries(upstream.headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !CREDENTIAL_HEADER.test(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  const where = [dialect, provider, addressOf(upstream), apiVersion, settings, headers, upstreamModel]
  return checksum(JSON.stringify([...where, facts.dimensions, facts.inputType]))
}

function latest(one: ProbeResult | undefined, other: ProbeResult | undefined): ProbeResult | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.atMs < other.atMs ? other : one
}

/**
 * Where there are too many, the oldest goes that is missed least: one that failed, then a good one, then a bad one after which
 * the deployment was bad again. So whoever was seen outside stays outside.
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

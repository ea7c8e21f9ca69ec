/** Nodes with a space guard each, one store, and a clock that the test controls. */
import type { Catalog, Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import type { ContentCapabilities } from '#core/catalog/content-capabilities.ts'
import { PROBE_IMAGES, takesProbeImages } from '#core/embedding/probe-images.ts'
import type { CallSize } from '#core/embedding/call-size.ts'
import { PROBE_TEXTS, SHORT_INDEX } from '#core/embedding/probe-texts.ts'
import type { MadeVectors } from '#core/embedding/made-vectors.ts'
import { probeTokens } from '#core/embedding/probe-calls.ts'
import { widthFault } from '#core/embedding/vector.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { SpaceStore } from '#ports/spaces.ts'
import type { ProbeTerms } from '#request/embeddings/probe.ts'
import { MemoryAudit } from '#test/support/stores/audit.ts'
import { MemorySpaces } from '#test/support/stores/spaces.ts'
import { SpaceGuard } from '#worker/spaces/guard.ts'
import { aDeployment } from './deployments.ts'
import { behind, Link } from './losing-store.ts'
import { aModel } from './models.ts'
import { seeded } from './seeded.ts'

export const SECOND_MS = 1000
export const MINUTE_MS = 60_000
export const QUARTER_MS = 15 * MINUTE_MS
export const MODEL = 'embed-w8'
export const ONE = `${MODEL}/one`
export const TWO = `${MODEL}/two`

/** The answer of a deployment: vectors of a seed, of another width, or nothing. */
type Answers = number | 'away' | 'narrow' | 'empty'

export function vectorsOf(seed: number, probes: readonly unknown[] = PROBE_TEXTS): readonly Float32Array[] {
  const random = seeded(seed)
  return probes.map(() => Float32Array.from({ length: 8 }, () => random() - 0.5))
}

/** As long as the given vector, at this cosine to it. */
function turned(vector: Float32Array, cosine: number): Float32Array {
  const length = Math.hypot(...vector)
  const other = vector.toReversed()
  const along = other.reduce((sum, value, index) => sum + value * (vector[index] as number), 0) / length ** 2
  const across = other.map((value, index) => value - along * (vector[index] as number))
  const scale = (Math.sqrt(1 - cosine ** 2) * length) / Math.hypot(...across)
  return vector.map((value, index) => cosine * value + scale * (across[index] as number))
}

/** The vector of the short text. */
export function shortVectorOf(seed: number): Float32Array {
  return vectorsOf(seed)[SHORT_INDEX] as Float32Array
}

/** The failure that an upstream's dialect throws for a vector of this width. */
function brokenBy(deployment: string, width: number): UpstreamFailure {
  const { reason, wrongWidth } = widthFault(width, 8)
  return new UpstreamFailure('broken', reason, { deployment, wrongWidth })
}

export const CONTENTS: ContentCapabilities = {
  wire: 'openrouter',
  inputs: ['text', 'image'],
  fuses: true,
  maxParts: 2,
  formats: ['png', 'jpeg'],
  fetches: false,
}

/** By name, with a path after `@`; one that ends with `+images` takes them. */
export function catalogOf(...upstreams: readonly string[]): Catalog {
  const deployments = upstreams.map((spec) => {
    const [name = '', images] = spec.split('+')
    const [id = '', path = ''] = name.split('@')
    return aDeployment({
      id: `${MODEL}/${id}`,
      upstream: { name: id, baseUrl: `https://${id}.example/${path}` },
      ...(images !== undefined && { capabilities: { contents: CONTENTS } }),
    })
  })
  const model = aModel({ id: MODEL, deployments, isGuarded: true })
  return { models: new Map([[model.id, model]]), retired: new Map(), projects: [] }
}

/** Models with one deployment each, `<model>/one`, that declare one space. */
export function declaringCatalog(space: string, ids: readonly string[]): Catalog {
  const models = ids.map((id) => {
    const upstream = { name: 'one', baseUrl: `https://${id}.example/` }
    const deployments = [aDeployment({ id: `${id}/one`, upstream })]
    return [id, aModel({ id, space, deployments, isGuarded: true })] as const
  })
  return { models: new Map(models), retired: new Map(), projects: [] }
}

export function modelIn(catalog: Catalog, id = MODEL): EmbeddingModel {
  return catalog.models.get(id) as EmbeddingModel
}

export interface Cluster {
  readonly store: MemorySpaces
  readonly audit: MemoryAudit
  readonly clock: { readonly nowMs: () => number; readonly monotonicMs: () => number }
  readonly passes: (ms: number) => void
  readonly answers: Map<string, Answers>
  /** Seeds of the vectors of images, where a deployment takes them: those of texts unless there is one. */
  readonly images: Map<string, number | 'away'>
  /** Seeds of the further calls of one probe, in turn: a deployment may have replicas. */
  readonly replicas: Map<string, readonly number[]>
  /** Deployments that were asked, in order. */
  readonly asked: string[]
  /** How they were asked. */
  readonly terms: ProbeTerms[]
  /** Seeds of the vectors in large calls, where they are not those of all calls. `inputs`: what makes a call large. */
  readonly large: Map<string, { readonly inputs: number; readonly seed: number }>
  /** Further seeds of one text each, by its index. */
  readonly ofText: Map<string, { readonly text: number; readonly seed: number }>
  /** Those whose short text alone is near the edge of its space. */
  readonly edges: Set<string>
  /** Deployments that were probed because they are in use, in order. */
  readonly inUse: { readonly id: string; readonly size: CallSize | undefined }[]
  /** Probes of deployments in use get no answer. */
  isSilent: boolean
  /** The fewest inputs with which a call is refused. */
  refusesFrom: number
}

export function cluster(answers: Record<string, Answers>): Cluster {
  let nowMs = Date.UTC(2026, 10, 20)
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs - 12_345 }
  const audit = new MemoryAudit(clock)
  return {
    store: new MemorySpaces(audit, clock),
    audit,
    clock,
    passes: (ms) => void (nowMs += ms),
    answers: new Map(Object.entries(answers)),
    images: new Map(),
    replicas: new Map(),
    asked: [],
    terms: [],
    large: new Map(),
    ofText: new Map(),
    edges: new Set(),
    inUse: [],
    isSilent: false,
    refusesFrom: Infinity,
  }
}

/** The vectors of a deployment in calls of this size. */
function answeredBy(of: Cluster, id: string, seed: number, inputs: number): readonly Float32Array[] {
  const large = of.large.get(id)
  const texts = vectorsOf(large && inputs >= large.inputs ? large.seed : seed)
  const other = of.ofText.get(id)
  return other === undefined
    ? texts
    : texts.with(other.text, vectorsOf(other.seed)[other.text] as Float32Array)
}

export function node(
  of: Cluster,
  first: Catalog,
  options: {
    isProber?: boolean
    followMs?: number
    random?: () => number
    store?: SpaceStore
    answersAfter?: Promise<void>
    isAsleep?: () => boolean
  } = {},
) {
  const link = new Link()
  const standings: string[] = []
  const alerts: string[] = []
  const troubles: unknown[] = []
  const held = new Set<string>()
  const state = { catalog: first, isProber: options.isProber ?? true }
  const guard = new SpaceGuard({
    store: behind(link, options.store ?? of.store),
    catalog: () => state.catalog,
    clock: of.clock,
    isAsleep: options.isAsleep,
    isProber: async () => link.carry(async () => state.isProber),
    probeInUse: async (_model, { id, upstream }, { size }) => {
      of.inUse.push({ id, size })
      await options.answersAfter
      const answer = of.answers.get(upstream.baseUrl ?? '') ?? of.answers.get(id)
      if (typeof answer !== 'number' || of.isSilent) throw new Error('no answer at all')
      if ((size?.inputs ?? 1) >= of.refusesFrom)
        throw new UpstreamFailure('refused', 'too many inputs', { deployment: id })
      const short = answeredBy(of, id, answer, 1)[SHORT_INDEX] as Float32Array
      return {
        short: of.edges.has(id) ? turned(short, 0.995) : short,
        texts: size && answeredBy(of, id, answer, size.inputs),
        tokens: size === undefined ? 8 : probeTokens(size),
      }
    },
    probe: async (_model: EmbeddingModel, deployment: Deployment, terms: ProbeTerms) => {
      const { id, upstream } = deployment
      of.asked.push(id)
      of.terms.push(terms)
      await options.answersAfter
      const answer = of.answers.get(upstream.baseUrl ?? '') ?? of.answers.get(id) ?? 'away'
      if (typeof answer === 'number') {
        const texts = answeredBy(of, id, answer, PROBE_TEXTS.length)
        const seeds = of.replicas.get(id) ?? [answer]
        const repeats = Array.from({ length: terms.repeats }, (_, index) =>
          shortVectorOf(seeds[index % seeds.length] as number),
        )
        const sized = terms.size && answeredBy(of, id, answer, terms.size.inputs)
        if (!takesProbeImages(deployment)) return { texts, repeats, sized }
        const seed = of.images.get(id) ?? answer
        if (seed === 'away') return { texts, imageFailure: new Error('no images today') }
        return { texts, images: vectorsOf(seed, PROBE_IMAGES) }
      }
      if (answer === 'away') throw new Error('no answer at all')
      throw brokenBy(id, answer === 'narrow' ? 4 : 0)
    },
    onStanding: ({ deployment, state: standing, isQuarantined }) => {
      standings.push(`${deployment} ${standing}`)
      if (isQuarantined) held.add(deployment)
      else held.delete(deployment)
    },
    onAlert: ({ kind, deployment }) => alerts.push(`${kind} ${deployment}`),
    onTrouble: (error) => troubles.push(error),
    random: options.random ?? (() => 0),
    ...(options.followMs !== undefined && { followMs: options.followMs, lookMs: options.followMs }),
  })
  return { guard, link, standings, alerts, troubles, held, state }
}

export const stateOf = (guard: SpaceGuard, id: string) => guard.standingOf(id)?.state

export const hasLeft = (guard: SpaceGuard, made: MadeVectors): boolean => guard.judgeMade(made) === 'left'

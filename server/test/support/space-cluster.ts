/** Nodes with a space guard each, one store, and a clock that the test controls. */
import type { Catalog, Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import type { ContentCapabilities } from '#core/catalog/content-capabilities.ts'
import { PROBE_IMAGES, takesProbeImages } from '#core/embedding/probe-images.ts'
import { PROBE_TEXTS, RIDE_INDEX } from '#core/embedding/probe-texts.ts'
import { widthFault } from '#core/embedding/vector.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { SpaceStore } from '#ports/spaces.ts'
import { offerOf, type ProbeTerms } from '#request/embeddings/probe.ts'
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

/** The vector of the ride text. */
export function rideVectorOf(seed: number): Float32Array {
  return vectorsOf(seed)[RIDE_INDEX] as Float32Array
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
}

export function cluster(answers: Record<string, Answers>): Cluster {
  let nowMs = Date.UTC(2026, 10, 20)
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs - 12_345 }
  const audit = new MemoryAudit(clock)
  return {
    store: new MemorySpaces(audit),
    audit,
    clock,
    passes: (ms) => void (nowMs += ms),
    answers: new Map(Object.entries(answers)),
    images: new Map(),
    replicas: new Map(),
    asked: [],
    terms: [],
  }
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
    riding: {
      intervalMs: 20 * SECOND_MS,
      plainOffer: offerOf,
      ask: () => Promise.reject(new Error('not asked here')),
    },
    probe: async (_model: EmbeddingModel, deployment: Deployment, terms: ProbeTerms) => {
      const { id, upstream } = deployment
      of.asked.push(id)
      of.terms.push(terms)
      await options.answersAfter
      const answer = of.answers.get(upstream.baseUrl ?? '') ?? of.answers.get(id) ?? 'away'
      if (typeof answer === 'number') {
        const texts = vectorsOf(answer)
        const seeds = of.replicas.get(id) ?? [answer]
        const rides = Array.from({ length: terms.rides }, (_, index) =>
          rideVectorOf(seeds[index % seeds.length] as number),
        )
        if (!takesProbeImages(deployment)) return { texts, rides }
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

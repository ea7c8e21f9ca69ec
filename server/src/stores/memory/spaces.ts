import { BoundedMap } from '#core/bounded-map.ts'
import type { Actor } from '#ports/audit.ts'
import { spaceIn } from '#core/embedding/space.ts'
import {
  VERDICTS,
  type DeploymentStanding,
  type OldSpaces,
  type ProbeResult,
  type ProbeSlot,
  type SpaceReference,
  type SpaceStore,
} from '#ports/spaces.ts'
import { standingAfter } from '../space-standing.ts'
import type { MemoryAudit } from './audit.ts'

/** Spaces in memory, gone with the process: the next one begins with whatever its first deployment answers. */
export class MemorySpaces implements SpaceStore {
  readonly #audit: Pick<MemoryAudit, 'write'>
  readonly #references = new Map<string, SpaceReference>()
  readonly #standings = new Map<string, DeploymentStanding>()
  /** In the order they came. */
  readonly #points: BoundedMap<string, ProbeResult>

  /** `keeps`: so many points are remembered; then the oldest is forgotten. */
  constructor(audit: Pick<MemoryAudit, 'write'>, keeps = 10_000) {
    this.#audit = audit
    this.#points = new BoundedMap(keeps)
  }

  async references(): Promise<readonly SpaceReference[]> {
    return [...this.#references.values()]
  }

  async beginReference(reference: SpaceReference): Promise<SpaceReference> {
    const before = this.#references.get(reference.model)
    if (before === undefined) this.#references.set(reference.model, reference)
    return before ?? reference
  }

  async replaceReference(reference: SpaceReference, actor: Actor): Promise<void> {
    const { model, deployment, generation } = reference
    const before = this.#references.get(model)
    if (before && before.generation >= generation) return
    const detail = { deployment, before: before ? spaceIn(before) : null, after: spaceIn(reference) }
    this.#audit.write({ actor, action: 'space.accept', target: model, detail })
    this.#references.set(model, { ...reference, acceptedBy: actor.name })
  }

  async record(result: ProbeResult): Promise<void> {
    const { model, deployment, target } = result
    const point = pointOf(result)
    if (this.#points.has(point)) return
    this.#points.set(point, result)
    const reference = this.#references.get(model)
    const name = JSON.stringify([model, deployment, target])
    const space = reference && spaceIn(reference)
    this.#standings.set(name, standingAfter(this.#standings.get(name), result, space))
  }

  async standings(): Promise<readonly DeploymentStanding[]> {
    return [...this.#standings.values()]
  }

  async series(
    model: string,
    { sinceMs, limit }: { readonly sinceMs: number; readonly limit: number },
  ): Promise<readonly ProbeResult[]> {
    return [...this.#points.values()]
      .filter((point) => point.model === model && point.atMs >= sinceMs)
      .toSorted((one, other) => other.atMs - one.atMs || (one.deployment < other.deployment ? -1 : 1))
      .slice(0, limit)
  }

  async slots(
    model: string,
    { sinceMs, slotMs, limit }: { readonly sinceMs: number; readonly slotMs: number; readonly limit: number },
  ): Promise<readonly ProbeSlot[]> {
    const points = [...this.#points.values()].filter((one) => one.model === model && one.atMs >= sinceMs)
    const slots = Map.groupBy(points, ({ atMs, deployment, space }) =>
      JSON.stringify([Math.floor(atMs / slotMs) * slotMs, deployment, space]),
    )
    return [...slots.values()]
      .map((own) => slotOf(own, slotMs))
      .toSorted((a, b) => b.atMs - a.atMs || (nameOf(a) < nameOf(b) ? -1 : 1))
      .slice(0, limit)
  }

  async deleteOld(old: OldSpaces): Promise<void> {
    const points = [...this.#points.values()].filter(({ atMs }) => atMs < old.pointsBeforeMs)
    for (const point of points) this.#points.delete(pointOf(point))
    for (const [name, { last, isQuarantined, badWindows }] of this.#standings) {
      const isBad = isQuarantined || badWindows.length > 0
      if (last.atMs < (isBad ? old.badStandingsBeforeMs : old.standingsBeforeMs)) this.#standings.delete(name)
    }
  }
}

function pointOf({ model, deployment, target, atMs }: ProbeResult): string {
  return JSON.stringify([model, deployment, target, atMs])
}

function nameOf({ deployment, space }: ProbeSlot): string {
  return `${deployment} ${space}`
}

function slotOf(points: readonly ProbeResult[], slotMs: number): ProbeSlot {
  const [{ atMs, deployment, space }] = points as [ProbeResult]
  const of = (figure: (point: ProbeResult) => number | undefined): number[] =>
    points.flatMap((point) => figure(point) ?? [])
  const cosines = of(({ leastCosine }) => leastCosine)
  const drifts = of(({ normDrift }) => normDrift)
  const worst = Math.max(...points.map(({ verdict }) => VERDICTS.indexOf(verdict)))
  return {
    atMs: Math.floor(atMs / slotMs) * slotMs,
    deployment,
    space,
    looks: points.length,
    failed: points.filter(({ verdict }) => verdict === 'failed').length,
    verdict: VERDICTS[worst] ?? 'failed',
    leastCosine: cosines.length === 0 ? undefined : Math.min(...cosines),
    normDrift: drifts.length === 0 ? undefined : Math.max(...drifts),
  }
}

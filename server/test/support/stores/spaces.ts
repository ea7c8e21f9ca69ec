import { BoundedMap } from '#core/structure/bounded-map.ts'
import type { Actor } from '#ports/audit.ts'
import { spaceIn } from '#core/embedding/space.ts'
import type {
  DeploymentStanding,
  GoodCheck,
  OldSpaces,
  ProbeClaim,
  ProbeResult,
  SpaceReference,
  SpaceStore,
} from '#ports/spaces.ts'
import { systemClock } from '#runtime/clock.ts'
import { standingAfter, standingAfterGood } from '#stores/space-standing.ts'
import type { Clock } from '#ports/clock.ts'
import type { MemoryAudit } from './audit.ts'

/** Spaces in memory, gone with the process: the next one begins with whatever its first deployment answers. */
export class MemorySpaces implements SpaceStore {
  readonly #audit: Pick<MemoryAudit, 'write'>
  readonly #clock: Pick<Clock, 'nowMs'>
  /** When a probe was last taken on. */
  readonly #claimed = new Map<string, number>()
  readonly #references = new Map<string, SpaceReference>()
  readonly #standings = new Map<string, DeploymentStanding>()
  /** In the order they came. */
  readonly #points: BoundedMap<string, ProbeResult>

  /** `keeps`: points that are remembered; beyond them the oldest is forgotten. */
  constructor(audit: Pick<MemoryAudit, 'write'>, clock: Pick<Clock, 'nowMs'> = systemClock, keeps = 10_000) {
    this.#audit = audit
    this.#clock = clock
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

  async addImages({ model, generation, imageVectors }: SpaceReference): Promise<SpaceReference> {
    const before = this.#references.get(model)
    if (before === undefined) throw new TypeError(`${model} has no reference.`)
    const isWanted = before.generation === generation && before.imageVectors === undefined
    const after = isWanted && imageVectors ? { ...before, imageVectors } : before
    this.#references.set(model, after)
    return after
  }

  async record(result: ProbeResult): Promise<void> {
    const point = pointOf(result)
    if (this.#points.has(point)) return
    this.#points.set(point, result)
    const reference = this.#references.get(result.model)
    const name = nameOf(result)
    const space = reference && spaceIn(reference)
    this.#standings.set(name, standingAfter(this.#standings.get(name), result, space))
  }

  async recordGood(checks: readonly GoodCheck[]): Promise<void> {
    for (const check of checks) {
      const reference = this.#references.get(check.model)
      const before = this.#standings.get(nameOf(check))
      if (before)
        this.#standings.set(nameOf(check), standingAfterGood(before, check, reference && spaceIn(reference)))
    }
  }

  async claimProbe(probe: ProbeClaim, everyMs: number): Promise<boolean> {
    const name = `${nameOf(probe)} ${probe.name}`
    const nowMs = this.#clock.nowMs()
    if (!this.#standings.has(nameOf(probe)) || nowMs - (this.#claimed.get(name) ?? -Infinity) < everyMs)
      return false
    this.#claimed.set(name, nowMs)
    return true
  }

  async standings(): Promise<readonly DeploymentStanding[]> {
    return [...this.#standings.values()]
  }

  /** The probes of a model that were recorded, newest first. */
  series(model: string): readonly ProbeResult[] {
    return [...this.#points.values()]
      .filter((point) => point.model === model)
      .toSorted((one, other) => other.atMs - one.atMs || (one.deployment < other.deployment ? -1 : 1))
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

function pointOf({ model, deployment, target, atMs, isInUse }: ProbeResult): string {
  return JSON.stringify([model, deployment, target, atMs, isInUse === true])
}

function nameOf({ model, deployment, target }: Pick<ProbeResult, 'model' | 'deployment' | 'target'>): string {
  return JSON.stringify([model, deployment, target])
}

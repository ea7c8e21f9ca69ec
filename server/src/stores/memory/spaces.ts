import type { Actor } from '#ports/audit.ts'
import { spaceIn } from '#core/embedding/space.ts'
import type { DeploymentStanding, OldSpaces, ProbeResult, SpaceReference, SpaceStore } from '#ports/spaces.ts'
import { standingAfter } from '../space-standing.ts'
import type { MemoryAudit } from './audit.ts'

/** Spaces in memory, gone with the process: the next one begins with whatever its first deployment answers. */
export class MemorySpaces implements SpaceStore {
  readonly #audit: Pick<MemoryAudit, 'write'>
  readonly #keeps: number
  readonly #references = new Map<string, SpaceReference>()
  readonly #standings = new Map<string, DeploymentStanding>()
  /** In the order they came. */
  readonly #points = new Map<string, ProbeResult>()

  /** `keeps`: so many points are remembered; then the oldest is forgotten. */
  constructor(audit: Pick<MemoryAudit, 'write'>, keeps = 10_000) {
    this.#audit = audit
    this.#keeps = keeps
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
    this.#references.set(model, reference)
  }

  async record(result: ProbeResult): Promise<void> {
    const { model, deployment, target, atMs } = result
    const point = JSON.stringify([model, deployment, target, atMs])
    if (this.#points.has(point)) return
    this.#points.set(point, result)
    for (const oldest of this.#points.keys()) {
      if (this.#points.size <= this.#keeps) break
      this.#points.delete(oldest)
    }
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

  async deleteOld(old: OldSpaces): Promise<void> {
    for (const [name, { atMs }] of this.#points) if (atMs < old.pointsBeforeMs) this.#points.delete(name)
    for (const [name, { last, isQuarantined, badWindows }] of this.#standings) {
      const isBad = isQuarantined || badWindows.length > 0
      if (last.atMs < (isBad ? old.badStandingsBeforeMs : old.standingsBeforeMs)) this.#standings.delete(name)
    }
  }
}

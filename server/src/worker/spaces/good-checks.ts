/** Good probes of deployments in use by this process, until they are stored and read again. Of each size the last one counts. */
import { sizeName } from '#core/embedding/call-size.ts'
import { BoundedMap } from '#core/structure/bounded-map.ts'
import { SHORT, type DeploymentStanding, type GoodCheck, type ProbeResult } from '#ports/spaces.ts'

/** More deployments and sizes than one node uses. Beyond it the oldest are forgotten, and their windows begin earlier. */
const MAX_CHECKS = 10_000

/** What was stored. */
export interface Recorded {
  readonly good: readonly GoodCheck[]
  readonly results: ReadonlySet<ProbeResult>
}

export class GoodChecks {
  /** By deployment, space and size. */
  readonly #checks = new BoundedMap<string, GoodCheck>(MAX_CHECKS)

  add(check: GoodCheck): void {
    this.#checks.set(nameOf(check), check)
  }

  /** In the order in which they were made. */
  get all(): readonly GoodCheck[] {
    return [...this.#checks.values()]
  }

  /** The store knows them by now. */
  forget(checks: readonly GoodCheck[]): void {
    for (const check of checks)
      if (this.#checks.get(nameOf(check)) === check) this.#checks.delete(nameOf(check))
  }

  /** The later of what is known here and what is stored of a deployment in this space. */
  withOwn(stored: DeploymentStanding, space: string): Pick<DeploymentStanding, 'lastGoodAtMs' | 'goodSizes'> {
    const { model, deployment, target } = stored
    let { lastGoodAtMs } = stored
    const goodSizes: Record<string, number> = { ...stored.goodSizes }
    for (const one of this.#checks.values()) {
      if (one.deployment !== deployment || one.target !== target) continue
      if (one.model !== model || one.space !== space) continue
      lastGoodAtMs = Math.max(one.atMs, lastGoodAtMs ?? one.atMs)
      if (one.size === undefined) continue
      const name = sizeName(one.size)
      goodSizes[name] = Math.max(one.atMs, goodSizes[name] ?? one.atMs)
    }
    return { lastGoodAtMs, goodSizes }
  }
}

function nameOf({ model, deployment, target, space, size }: GoodCheck): string {
  return JSON.stringify([model, deployment, target, space, size === undefined ? SHORT : sizeName(size)])
}

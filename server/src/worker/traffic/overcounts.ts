/** Upstreams that counted more than was expected of their calls, for as long as an operator should look at it. */
import type { OvercountSummary } from '#core/traffic/node-summary.ts'

/** Time after which a deployment that counts as expected is no longer listed. */
const FORGOTTEN_AFTER_MS = 24 * 3_600_000
/** Deployments remembered, since each heartbeat may send a summary. More would show nothing new. */
const MAX_DEPLOYMENTS = 50

export class Overcounts {
  readonly #byDeployment = new Map<string, OvercountSummary>()

  add(deployment: string, isCut: boolean, nowMs: number): void {
    const known = this.#byDeployment.get(deployment)
    if (known === undefined && this.#byDeployment.size >= MAX_DEPLOYMENTS) return
    this.#byDeployment.set(deployment, {
      deployment,
      calls: (known?.calls ?? 0) + 1,
      cutCalls: (known?.cutCalls ?? 0) + (isCut ? 1 : 0),
      sinceMs: known?.sinceMs ?? nowMs,
      lastMs: nowMs,
    })
  }

  lately(nowMs: number): readonly OvercountSummary[] {
    for (const { deployment, lastMs } of this.#byDeployment.values())
      if (nowMs - lastMs > FORGOTTEN_AFTER_MS) this.#byDeployment.delete(deployment)
    return [...this.#byDeployment.values()]
  }
}

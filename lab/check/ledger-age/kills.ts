/** Kills the node, and now and then its stores, while it seals and exports. */
import { setTimeout as wait } from 'node:timers/promises'
import { seeded } from '../../../server/test/support/seeded.ts'
import type { TestServer } from '../../../server/test/support/servers.ts'
import { killFor } from '../../chaos/faults.ts'
import type { Torana } from '../../torana.ts'

/** With every such kill of the node, PostgreSQL or the S3 server dies as well, in turn. */
const SERVERS_EVERY = 10
const OUTAGE_MS = 500
/** One life in four may last as long as the work of a day: it may die at the end of the work as well as at its start. */
const LONG_LIFE_EVERY = 4
const SHORT_LIFE_SHARE = 0.35

export class Kills {
  /** What the node was doing when it died, and how often. */
  readonly at = new Map<string, number>()
  readonly #node: Torana
  readonly #servers: readonly TestServer[]
  readonly #random: () => number
  count = 0
  ofServers = 0

  constructor(node: Torana, servers: readonly TestServer[], seed: number) {
    this.#node = node
    this.#servers = servers
    this.#random = seeded(seed)
  }

  /** Until the work is done, or that many kills have happened. `workMs`: what the work takes without kills. */
  async during(
    kills: number,
    workMs: number,
    phase: () => Promise<string>,
    isDone: () => Promise<boolean>,
  ): Promise<void> {
    for (let left = kills; left > 0; left -= 1) {
      const isLong = this.count % LONG_LIFE_EVERY === 0
      const lifeMs = this.#random() * workMs * (isLong ? 1 : SHORT_LIFE_SHARE)
      const endMs = performance.now() + lifeMs
      while (performance.now() < endMs) {
        if (await isDone()) return
        await wait(Math.min(50, Math.max(1, endMs - performance.now())))
      }
      const doing = await phase()
      await this.#node.kill9()
      this.at.set(doing, (this.at.get(doing) ?? 0) + 1)
      this.count += 1
      if (this.count % SERVERS_EVERY === 0) await this.#killServer()
      await this.#node.start()
    }
  }

  async #killServer(): Promise<void> {
    const server = this.#servers[this.ofServers % this.#servers.length]
    this.ofServers += 1
    if (server !== undefined) await killFor(server, OUTAGE_MS)
  }
}

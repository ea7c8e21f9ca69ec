/** The nodes' `/metrics`, read periodically. */
import { every } from '../../../server/src/worker/every.ts'
import type { GatewayProcess } from '../gateway-process.ts'

interface Look {
  /** Unix time. */
  readonly atMs: number
  /** Sum over all nodes. */
  readonly storesUnreachable: number
  readonly spoolWaiting: number
  readonly spooled: number
  readonly limitersShared: number
  readonly localDecisions: number
}

export interface Watch {
  readonly looks: readonly Look[]
  stop(): Promise<void>
}

const LOOK_MS = 200

export function watchNodes(gateways: readonly GatewayProcess[]): Watch {
  const looks: Look[] = []
  const watching = every(
    LOOK_MS,
    async () => {
      const texts = await Promise.all(
        gateways.map(async ({ controlUrl }) => (await fetch(`${controlUrl}/metrics`)).text()),
      )
      const sum = (series: string): number => texts.reduce((total, text) => total + valueIn(text, series), 0)
      looks.push({
        atMs: Date.now(),
        storesUnreachable: sum('torana_store_away'),
        spoolWaiting: sum('torana_spool_waiting'),
        spooled: sum('torana_ledger_entries_total{where="spool"}'),
        limitersShared: sum('torana_limiter_shared'),
        localDecisions: sum('torana_limiter_local_decisions_total'),
      })
    },
    // A node short of CPU may cut the connection: the next look comes.
    () => {},
  )
  return { looks, stop: () => watching.stop() }
}

/** Missing series count as zero. */
function valueIn(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? 0 : Number(line.slice(series.length + 1))
}

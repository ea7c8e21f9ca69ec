/** What the nodes tell of themselves on `/metrics`, looked at again and again. */
import { every } from '#worker/every.ts'
import type { GatewayProcess } from '../gateway-process.ts'

export interface Look {
  /** Unix time. */
  readonly atMs: number
  /** Of all nodes. */
  readonly storesAway: number
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
        storesAway: sum('torana_store_away'),
        spoolWaiting: sum('torana_spool_waiting'),
        spooled: sum('torana_ledger_entries_total{where="spool"}'),
        limitersShared: sum('torana_limiter_shared'),
        localDecisions: sum('torana_limiter_local_decisions_total'),
      })
    },
    // A node that is short of processor time may cut the connection: the next look comes.
    () => {},
  )
  return { looks, stop: () => watching.stop() }
}

/** Series that are not there yet count nothing. */
function valueIn(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? 0 : Number(line.slice(series.length + 1))
}

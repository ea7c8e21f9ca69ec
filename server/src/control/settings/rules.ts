/** How long data is kept, and since when each store has been reachable or not. */
import type { Limits } from '#core/settings.ts'
import { DRIFT_KEPT_MS } from '#ports/spaces.ts'
import type { NodeLake } from '#ports/lake.ts'
import { HOURS_KEPT_DAYS, REQUEST_LOG_DAYS, type NodeFigures } from '#ports/upkeep.ts'
import { WEBHOOK_EVENTS_KEPT_MS } from '#ports/webhooks.ts'
import { DAY_MS, isoOf } from '../shared/times.ts'
import type { TableSize } from './queries.ts'

/** The requests are dropped by the day: the oldest go at midnight. `days` null: kept forever. */
export function retentionOf(
  sizes: readonly TableSize[],
  { assetRetentionMs }: Pick<Limits, 'assetRetentionMs'>,
  { keepDays }: Pick<NodeLake, 'keepDays'>,
  nowMs: number,
) {
  const kept = (what: string, tables: readonly string[], days: number | null, next: string | null = null) => {
    const own = sizes.filter(({ table }) => tables.includes(table))
    const rows = own.reduce((sum, one) => sum + one.rows, 0)
    const bytes = own.reduce((sum, one) => sum + one.bytes, 0)
    return { what, days, rows, bytes, next }
  }
  const midnight = isoOf((Math.floor(nowMs / DAY_MS) + 1) * DAY_MS)
  return [
    kept('requests', ['requests'], REQUEST_LOG_DAYS, midnight),
    kept('ledger', ['usage_events'], keepDays === 'forever' ? null : keepDays),
    kept('usage', ['usage_days', 'usage_label_days'], null),
    kept('hours', ['usage_hours', 'usage_label_hours'], HOURS_KEPT_DAYS),
    kept('audit', ['audit'], null),
    kept('pictures', ['image_jobs', 'image_job_calls'], Math.round(assetRetentionMs / DAY_MS)),
    kept('webhooks', ['webhook_events'], WEBHOOK_EVENTS_KEPT_MS / DAY_MS),
    kept('drift', ['space_probes'], DRIFT_KEPT_MS / DAY_MS),
  ]
}

type StoreName = 'postgres' | 'redis'

interface StoreState {
  readonly name: StoreName
  readonly state: 'there' | 'away'
  /** When this node noticed the state. */
  readonly since: string
}

/** Remembers when this node first saw each store in its current state. */
export class StoreStates {
  readonly #known = new Map<StoreName, StoreState>()

  list(
    { isStoreUnreachable, limiter }: Pick<NodeFigures, 'isStoreUnreachable' | 'limiter'>,
    nowMs: number,
  ): StoreState[] {
    const postgres = this.#noted('postgres', isStoreUnreachable, nowMs)
    return limiter === undefined
      ? [postgres]
      : [postgres, this.#noted('redis', limiter.state === 'local', nowMs)]
  }

  #noted(name: StoreName, isAway: boolean, nowMs: number): StoreState {
    const state = isAway ? 'away' : 'there'
    const known = this.#known.get(name)
    if (known?.state === state) return known
    const noted = { name, state, since: isoOf(nowMs) } as const
    this.#known.set(name, noted)
    return noted
  }
}

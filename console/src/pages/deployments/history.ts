/** The history of a deployment over a range, with the slots in which nothing happened. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { MINUTE_MS } from '../../time/day.ts'
import { useNow } from '../../time/now.ts'
import { rangeOf, sinceUntil, type RangeSearch } from '../../time/range.ts'
import { deploymentQueries } from '../../api/queries/deployments.ts'

interface Slot {
  readonly atMs: number
  readonly requests: number
  readonly failed: number
  readonly p95Ms: number | null
  readonly inFlight: number | null
  readonly limit: number | null
}

export function useSlots(id: string, search: RangeSearch) {
  // A minute does not change the picture, and one that is asked for each second would never be cached.
  const now = Math.floor(useNow() / MINUTE_MS) * MINUTE_MS
  const range = rangeOf(search, '24h', now)
  const { fromMs, toMs } = range
  const query = useQuery(deploymentQueries.history(id, sinceUntil(range)))
  const slotMs = (query.data?.slot_seconds ?? 300) * 1000
  // A chart begins where its first slot does.
  const startMs = Math.floor(fromMs / slotMs) * slotMs
  const slots = useMemo(() => {
    const known = new Map(query.data?.data.map((slot) => [Date.parse(slot.at), slot]))
    const all: Slot[] = []
    for (let atMs = startMs; atMs < toMs; atMs += slotMs) {
      const slot = known.get(atMs)
      all.push({
        atMs,
        requests: slot?.requests ?? 0,
        failed: slot?.failed ?? 0,
        p95Ms: slot?.p95_ms ?? null,
        inFlight: slot?.in_flight ?? null,
        limit: slot?.limit ?? null,
      })
    }
    return all
  }, [query.data, startMs, toMs, slotMs])
  return {
    slots,
    slotMs,
    fromMs: startMs,
    toMs,
    data: query.data,
    error: query.error,
    retry: () => void query.refetch(),
  }
}

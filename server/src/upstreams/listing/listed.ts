import { UpstreamFailure } from '#core/fault/failure.ts'
import { isRecord } from '#core/text/record.ts'
import type { ListedModels } from '#ports/model-listing.ts'

/** What a list says about one model. */
export interface ListedItem {
  readonly id: string
  /** As the upstream wrote it. */
  readonly shutdownDate?: unknown
}

/** `[{ id, shutdown_date }]`, or the same under a name. */
export function listedUnder(body: unknown, name: string, field: string): ListedItem[] {
  const list: unknown = Array.isArray(body) ? body : isRecord(body) ? body[name] : undefined
  if (!Array.isArray(list))
    throw new UpstreamFailure('broken', 'the answer is no list of models', { deployment: '' })
  return list.flatMap((item: unknown) => {
    const id = isRecord(item) ? item[field] : undefined
    return isRecord(item) && typeof id === 'string' ? [{ id, shutdownDate: item['shutdown_date'] }] : []
  })
}

type Ends = Pick<Extract<ListedModels, { kind: 'listed' }>, 'ends' | 'unreadEnds'>

export function endsOf(items: readonly ListedItem[]): Ends {
  const ends = new Map<string, string>()
  const unreadEnds: string[] = []
  for (const { id, shutdownDate = null } of items) {
    if (shutdownDate === null) continue
    const day = dayOf(shutdownDate)
    if (day === undefined) unreadEnds.push(id)
    else ends.set(id, day)
  }
  return { ends, unreadEnds }
}

/** The years in which a shutdown can be: a time in milliseconds is far beyond them. */
const YEARS = { first: 2000, last: 2199 }
/** A day, or a moment with its offset from UTC. */
const ISO = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/

/** The day in UTC of Unix seconds or of an ISO date. Undefined: it is neither, and Torana does not guess. */
export function dayOf(value: unknown): string | undefined {
  const isIso = typeof value === 'string' && ISO.test(value)
  const atMs = typeof value === 'number' ? value * 1000 : isIso ? Date.parse(value) : Number.NaN
  const date = new Date(atMs)
  const year = date.getUTCFullYear()
  if (!(year >= YEARS.first && year <= YEARS.last)) return undefined
  const day = date.toISOString().slice(0, 10)
  // `2026-02-30` is parsed as the second of March.
  return isIso && value.length === day.length && value !== day ? undefined : day
}

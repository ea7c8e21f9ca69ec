/** From the address of the page to what the log is asked for. */
import type { RequestFilters } from '../../api/queries/requests.ts'
import type { SearchOf } from '../../app/place.ts'
import { rangeOf, type RangeSearch, type Span } from '../../time/range.ts'
import { words } from '../../words/words.ts'
import type { requests } from './place.ts'

export type RequestSearch = SearchOf<typeof requests>

export const USUAL_SPAN: Span = '1h'

export interface Times {
  /** What the histogram shows. */
  readonly window: { readonly fromMs: number; readonly toMs: number }
  /** What is marked in it. Undefined: the list is of the whole window. */
  readonly marked: { readonly fromMs: number; readonly toMs: number } | undefined
}

/** `since` with `from` and `to` is a window with a mark in it; without `since` they are the window. */
export function timesOf({ since, from, to }: RangeSearch, nowMs: number): Times {
  if (since === undefined) return { window: rangeOf({ from, to }, USUAL_SPAN, nowMs), marked: undefined }
  const window = rangeOf({ since }, USUAL_SPAN, nowMs)
  if (from === undefined || to === undefined) return { window, marked: undefined }
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)]
  return { window, marked: fromMs < toMs ? { fromMs, toMs } : undefined }
}

const FILTER_NAMES = [
  'outcome',
  'kind',
  'source',
  'model',
  'deployment',
  'key',
  'status',
  'fault',
  'slower',
  'dearer',
  'tries',
  'client',
  'address',
  'user',
  'tag',
] as const
export type FilterName = (typeof FILTER_NAMES)[number]

export function hasFilters(search: RequestSearch): boolean {
  return FILTER_NAMES.some((name) => search[name] !== undefined)
}

/** All filters taken away. */
export const NO_FILTERS: Readonly<Record<FilterName, undefined>> = Object.fromEntries(
  FILTER_NAMES.map((name) => [name, undefined]),
) as Record<FilterName, undefined>

export function filtersOf(
  search: RequestSearch,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): RequestFilters {
  const { project, outcome, kind, source, model, deployment, key, status } = search
  const { fault, slower, dearer, tries, client, address, user, tag } = search
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    ...(project !== undefined && { project }),
    ...(outcome !== undefined && { outcome: [outcome] }),
    ...(kind !== undefined && { kind: kind === 'image' ? ['generation', 'edit'] : [kind] }),
    ...(source !== undefined && { source }),
    ...(model !== undefined && { model: [model] }),
    ...(deployment !== undefined && { deployment }),
    ...(key !== undefined && { key: [key] }),
    ...(status !== undefined && { status }),
    ...(fault !== undefined && { fault: [fault] }),
    ...(slower !== undefined && { slower_ms: slower }),
    ...(dearer !== undefined && { dearer_usd: dearer }),
    ...(tries !== undefined && { tries }),
    ...(client !== undefined && { client }),
    ...(address !== undefined && { address }),
    ...(user !== undefined && { user }),
    ...(tag !== undefined && { tag: [tag] }),
  }
}

/** Filters that one click sets. */
interface View {
  readonly name: string
  readonly search: Partial<Pick<RequestSearch, FilterName>>
}

/** Slower than most people like to wait. */
const SLOW_MS = 1000

export function builtInViews(): readonly View[] {
  const { views } = words.requests
  return [
    { name: views.all, search: {} },
    { name: views.failed, search: { outcome: 'failed' } },
    { name: views.slow, search: { slower: SLOW_MS } },
    { name: views.pictures, search: { kind: 'image' } },
  ]
}

export function isView({ search }: View, present: RequestSearch): boolean {
  return FILTER_NAMES.every((name) => `${search[name] ?? ''}` === `${present[name] ?? ''}`)
}

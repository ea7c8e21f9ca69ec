/** What a snapshot of each page holds: answers of the control API, asked for with the maker's own rights. */

export const PAGES = ['overview', 'requests', 'usage', 'budgets'] as const
export type SnapshotPage = (typeof PAGES)[number]

/** By the names of the parts, the routes that answer them. */
export const PARTS: Readonly<Record<SnapshotPage, Readonly<Record<string, string>>>> = {
  overview: { overview: '/overview', day: '/overview' },
  requests: { requests: '/requests', histogram: '/requests/histogram' },
  usage: { usage: '/usage' },
  budgets: { budgets: '/budgets' },
}

/** Rows of a list in a snapshot: what a person reads, far below the bound of bytes. */
const MAX_ROWS = 100
const LISTS: ReadonlySet<string> = new Set(['/requests', '/budgets'])

/** The address of a part, with no more rows than a snapshot holds, and always the first of them. */
export function addressOf(path: string, query: string): string {
  const search = new URLSearchParams(query)
  search.delete('after')
  if (LISTS.has(path))
    search.set('limit', String(Math.min(Number(search.get('limit')) || MAX_ROWS, MAX_ROWS)))
  return `/api/v1${path}?${search.toString()}`
}

/** The project that all parts are limited to. Undefined: one of them is limited to none. */
export function projectOf(queries: readonly string[]): string | undefined {
  const projects = new Set(queries.map((query) => new URLSearchParams(query).get('project') ?? undefined))
  return projects.size === 1 ? [...projects][0] : undefined
}

/** Fields about the people behind requests. A link may travel further than its maker thinks. */
const PERSONAL: ReadonlySet<string> = new Set([
  'user',
  'tags',
  'client_address',
  'client_request_id',
  'asset',
])

/** Without personal fields, which become null. */
export function withoutPeople(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPeople)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      PERSONAL.has(name) ? (name === 'tags' ? {} : null) : withoutPeople(field),
    ]),
  )
}

/** What a typed text can mean: a request, a filter, or a value that the log has. */
import type { Histogram } from '../../api/queries/requests.ts'
import type { FilterName } from './filters.ts'

export type Finding =
  | { readonly kind: 'request'; readonly id: string }
  | { readonly kind: 'filter'; readonly name: FilterName; readonly value: string }

const REQUEST_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
/** As the API reads it; `team=red` means the same. */
const TAG = /^([A-Za-z0-9][A-Za-z0-9._-]*)[:=](.+)$/
/** IPv4, or IPv6 with at least two colons. */
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|(?=.*:.*:)[\da-f:.]+)$/i
const ERROR_CODE = /^[a-z]+(?:_[a-z]+)+$/
/** Values of the log in a list that can be looked over. */
const MAX_KNOWN = 6
const KNOWN = ['fault', 'user', 'tag', 'model', 'key'] as const

/** The likeliest first. */
export function findingsFor(text: string, facets: Histogram['facets'] | undefined): readonly Finding[] {
  const typed = text.trim()
  if (typed === '') return []
  if (REQUEST_ID.test(typed)) {
    const id = typed.toLowerCase()
    return [
      { kind: 'request', id },
      { kind: 'filter', name: 'client', value: typed },
    ]
  }
  const tag = TAG.exec(typed)
  const filters: (readonly [FilterName, string])[] = [
    ...(ADDRESS.test(typed) ? [['address', typed] as const] : []),
    ...(tag && !ADDRESS.test(typed) ? [['tag', `${tag[1]}:${tag[2]}`] as const] : []),
    ...(ERROR_CODE.test(typed) ? [['fault', typed] as const] : []),
    ...knownWith(typed, facets),
    ['client', typed],
    ['user', typed],
  ]
  const seen = new Set<string>()
  return filters
    .filter(([name, value]) => !seen.has(`${name} ${value}`) && seen.add(`${name} ${value}`))
    .map(([name, value]) => ({ kind: 'filter', name, value }))
}

function knownWith(
  typed: string,
  facets: Histogram['facets'] | undefined,
): (readonly [FilterName, string])[] {
  const sought = typed.toLowerCase()
  return KNOWN.flatMap((name) =>
    Object.keys(facets?.[name] ?? {})
      .filter((value) => value.toLowerCase().includes(sought))
      .map((value) => [name, value] as const),
  ).slice(0, MAX_KNOWN)
}

/**
 * Search parameters of an address. Every value is text, or several texts; a reader makes of it what a page wants, or drops
 * it where it is wrong. A parameter without a reader is kept as it is.
 */
import { USAGE_GROUPS, type UsageGroup } from '../api/usage-groups.ts'
import { SPANS } from '../time/range.ts'

type Raw = string | string[] | undefined
type Reader<Value> = (raw: Raw) => Value | undefined

type Read<Readers> = {
  -readonly [Name in keyof Readers]?: (Readers[Name] extends Reader<infer Value> ? Value : never) | undefined
}

export type RawSearch = Record<string, string | string[]>

/** The `validateSearch` of a route. */
export function searchOf<Readers extends Record<string, Reader<unknown>>>(
  readers: Readers,
): (raw: Record<string, unknown>) => Read<Readers> {
  return (raw) => {
    const result: Record<string, unknown> = { ...raw }
    // A wrong value becomes undefined: the router would put a missing one back from the address.
    for (const [name, reader] of Object.entries(readers))
      if (name in raw) result[name] = reader(raw[name] as Raw)
    return result as Read<Readers>
  }
}

/** Longer ones are no value of ours. */
const MAX_LENGTH = 512

export function text(): Reader<string> {
  return (raw) => {
    const one = first(raw)
    return one !== undefined && one !== '' && one.length <= MAX_LENGTH ? one : undefined
  }
}

export function oneOf<const Value extends string>(...values: readonly Value[]): Reader<Value> {
  return (raw) => values.find((value) => value === first(raw))
}

/** Repeated parameters: `only=a&only=b`. */
export function texts(): Reader<string[]> {
  return (raw) => {
    const all = (Array.isArray(raw) ? raw : raw === undefined ? [] : [raw]).filter(
      (one) => one !== '' && one.length <= MAX_LENGTH,
    )
    return all.length === 0 ? undefined : all
  }
}

/** What usage is told apart by: `model`, `user`, or `tag:team`. */
export function usageGroup(): Reader<UsageGroup> {
  return (raw) => {
    const one = first(raw) as UsageGroup | undefined
    const isKnown =
      one !== undefined && (one.startsWith('tag:') || USAGE_GROUPS.some((group) => group === one))
    return isKnown ? one : undefined
  }
}

/** `1` is true; whatever else is nothing. */
export function flag(): Reader<true> {
  return (raw) => (first(raw) === '1' || (raw as unknown) === true ? true : undefined)
}

/** Not below zero. */
export function size(): Reader<number> {
  return (raw) => {
    const one = first(raw)
    const value = one === undefined || one === '' ? Number.NaN : Number(one)
    return Number.isFinite(value) && value >= 0 ? value : undefined
  }
}

/** Three digits, as 429. */
export function httpStatus(): Reader<number> {
  return (raw) => {
    const one = first(raw)
    return one !== undefined && /^[1-5]\d\d$/.test(one) ? Number(one) : undefined
  }
}

/** ISO 8601. */
export function time(): Reader<string> {
  return (raw) => {
    const one = first(raw)
    return one !== undefined && !Number.isNaN(Date.parse(one)) ? one : undefined
  }
}

/** The range of time that a page looks at. */
export const range = { since: oneOf(...SPANS), from: time(), to: time() }

/** What a chart of usage counts. */
export const usageMeasure = oneOf('usd', 'tokens', 'images', 'requests')

/** Also a value that was read before: a reader gets what it gave. */
function first(raw: Raw): string | undefined {
  const one = (Array.isArray(raw) ? raw[0] : raw) as string | number | undefined
  return one === undefined ? undefined : `${one}`
}

/** `?a=1&b=2&b=3` → `{ a: '1', b: ['2', '3'] }`. */
export function parseSearch(query: string): RawSearch {
  const result: RawSearch = {}
  for (const [name, value] of new URLSearchParams(query)) {
    const before = Object.hasOwn(result, name) ? result[name] : undefined
    if (before === undefined) result[name] = value
    else result[name] = [before, value].flat()
  }
  return result
}

/** With its question mark, or empty. Undefined, null and false leave no trace; true is `1`. */
export function stringifySearch(search: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (value === undefined || value === null || value === false || value === '') continue
    for (const one of Array.isArray(value) ? value : [value])
      query.append(name, one === true ? '1' : String(one))
  }
  // Ids and times are read by people: what an address may hold as it is stays as it is.
  const text = query.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',')
  return text === '' ? '' : `?${text}`
}

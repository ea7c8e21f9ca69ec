/** What an entry of the audit says changed: in short for a list, and field by field. */
import { usdOf } from '../../app/money.ts'

export type Detail = Readonly<Record<string, unknown>>

export interface FieldChange {
  readonly field: string
  readonly before: string
  readonly after: string
  readonly isChanged: boolean
}

/** Field by field, where an entry says what was before and what is now. Undefined: it says something else. */
export function fieldChanges(detail: Detail): readonly FieldChange[] | undefined {
  const { before, after } = detail
  if (!isObject(before) || !isObject(after)) return undefined
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return fields.map((field) => {
    const [old, now] = [shown(before[field]), shown(after[field])]
    return { field: nameOf(field), before: old, after: now, isChanged: old !== now }
  })
}

const MAX_SHOWN = 3

/** `budget $20 a month → $50 a month`; at most three, the rest counted. */
export function inShort(detail: Detail): string {
  const changes = fieldChanges(detail)
  if (changes !== undefined) {
    const changed = changes.filter(({ isChanged }) => isChanged)
    const parts = changed
      .slice(0, MAX_SHOWN)
      .map(({ field, before, after }) => `${field} ${before} → ${after}`)
    return withRest(parts, changed.length)
  }
  const changed = detail['changed']
  if (isObject(changed)) return namedChanges(changed)
  const said = Object.entries(detail).filter(([, value]) => !isNothing(value))
  const parts = said.slice(0, MAX_SHOWN).map(([field, value]) => `${nameOf(field)} ${shown(value)}`)
  return withRest(parts, said.length)
}

/** What a reload of torana.yaml changed: `+2 models, ±1 keys`. */
function namedChanges(changed: Detail): string {
  const signs = { added: '+', removed: '−', changed: '±' } as const
  return Object.entries(changed)
    .flatMap(([what, names]) =>
      Object.entries(signs).flatMap(([kind, sign]) => {
        const list = isObject(names) ? names[kind] : undefined
        return Array.isArray(list) && list.length > 0 ? [`${sign}${list.length} ${what}`] : []
      }),
    )
    .join(', ')
}

function withRest(parts: readonly string[], all: number): string {
  return [...parts, ...(all > parts.length ? [`+${all - parts.length}`] : [])].join(' · ')
}

/** `requestsPerMinute` → `requests per minute`. */
function nameOf(field: string): string {
  return field
    .replace(/NanoUsd$/, '')
    .replace(/AtMs$|Ms$/, '')
    .replaceAll(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
}

function shown(value: unknown): string {
  if (isNothing(value)) return '–'
  if (typeof value === 'string')
    return /^\d{4}-\d\d-\d\dT/.test(value) ? value.slice(0, 16).replace('T', ' ') : value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map(shown).join(', ')
  if (!isObject(value)) return ''
  const { limitNanoUsd, per, hard } = value
  if (typeof limitNanoUsd === 'string')
    return `$${usdOf(BigInt(limitNanoUsd)).replace(/\.?0+$/, '')} ${String(per)}${hard === true ? ' hard' : ''}`
  return Object.entries(value)
    .map(([field, one]) => `${nameOf(field)} ${shown(one)}`)
    .join(', ')
}

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (Array.isArray(value)) return value.length === 0
  return isObject(value) && Object.keys(value).length === 0
}

function isObject(value: unknown): value is Detail {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

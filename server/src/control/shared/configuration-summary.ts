/** A change of the configuration in one line, for the history: `BAAI/bge-m3: gpu-two concurrency 4 → 8`. */
import { isRecord } from '#core/text/record.ts'
import type { ChangedObject, StoredEntry } from '#ports/stored-configuration.ts'

/** Parts that are spelled out. */
const MAX_PARTS = 4
const MAX_VALUE = 60

/** What a field means that is not there. */
const ABSENT: Readonly<Record<string, string>> = {
  attemptTimeoutMs: 'default',
  cache: 'off',
  concurrency: 'learned',
  imagesPerMinute: 'no limit',
  microBatch: 'off',
  price: 'list price',
  requestsPerMinute: 'no limit',
  spaceGuard: 'true',
  tokensPerMinute: 'no limit',
  unknownFields: 'pass',
  unsupported: 'refuse',
  weight: '1',
}

export function summaryOf(objects: readonly ChangedObject[]): string {
  const parts = objects.flatMap(partsOf)
  const more = parts.length - MAX_PARTS
  return [...parts.slice(0, MAX_PARTS), ...(more > 0 ? [`${more} more`] : [])].join('; ')
}

function partsOf({ object, name, renamedFrom, before, after }: ChangedObject): readonly string[] {
  if (before === null) return [`Added ${object} ${name}${runsOn(object, after)}`]
  if (after === null) return [`Deleted ${object} ${name}`]
  const renamed = renamedFrom === undefined ? [] : [`Renamed ${object} ${renamedFrom} to ${name}`]
  const { deployments: were, ...own } = before
  const { deployments: are, ...others } = after
  const fields = fieldChanges(own, others).map((text) => `${name}: ${text}`)
  return [
    ...renamed,
    ...fields,
    ...deploymentChanges(listOf(were), listOf(are)).map((text) => `${name}: ${text}`),
  ]
}

function runsOn(object: string, after: StoredEntry | null): string {
  const names =
    object === 'model' ? listOf(after?.['deployments']).map(({ upstream }) => String(upstream)) : []
  return names.length === 0 ? '' : ` on ${names.join(', ')}`
}

function listOf(value: unknown): readonly StoredEntry[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** One upstream may serve a model several times. */
function placeOf({ upstream, model }: StoredEntry): string {
  return model === undefined ? String(upstream) : `${String(upstream)} (${shown(model)})`
}

const tierOf = ({ priority = 0 }: StoredEntry): string => `tier ${Number(priority) + 1}`

function deploymentChanges(before: readonly StoredEntry[], after: readonly StoredEntry[]): readonly string[] {
  const were = new Map(before.map((one) => [placeOf(one), one]))
  const are = new Map(after.map((one) => [placeOf(one), one]))
  const changes = [
    ...before.filter((one) => !are.has(placeOf(one))).map((one) => `removed ${placeOf(one)}`),
    ...after.flatMap((one) => {
      const place = placeOf(one)
      const was = were.get(place)
      if (was === undefined) return [`added ${place} to ${tierOf(one)}, weight ${shown(one['weight'] ?? 1)}`]
      const { priority: _was, ...own } = was
      const { priority: _is, ...others } = one
      const moved = tierOf(was) === tierOf(one) ? [] : [`${place} ${tierOf(was)} → ${tierOf(one)}`]
      return [...moved, ...fieldChanges(own, others).map((text) => `${place} ${text}`)]
    }),
  ]
  const isReordered = before.some((one, index) => placeOf(one) !== placeOf(after[index] ?? one))
  return changes.length === 0 && isReordered ? ['changed the order of its deployments'] : changes
}

/** Single fields of `limits`, `cache` and the like, not the whole of them. */
function fieldChanges(before: StoredEntry, after: StoredEntry): readonly string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) => {
    const [was, is] = [before[name], after[name]]
    if (JSON.stringify(was) === JSON.stringify(is)) return []
    if ((isRecord(was) && isRecord(is)) || name === 'limits') {
      const inside = fieldChanges(isRecord(was) ? was : {}, isRecord(is) ? is : {})
      return inside.map((text) => (name === 'limits' ? text : `${name} ${text}`))
    }
    const absent = ABSENT[name] ?? 'none'
    return [`${name} ${shown(was, absent)} → ${shown(is, absent)}`]
  })
}

function shown(value: unknown, absent = 'none'): string {
  if (value === undefined) return absent
  const text = typeof value === 'string' ? value : (onlyValue(value) ?? JSON.stringify(value))
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}

/** `{ ttl: '12h' }` is `12h`. */
function onlyValue(value: unknown): string | undefined {
  const values = isRecord(value) ? Object.values(value) : []
  const [only] = values
  return values.length === 1 && (typeof only === 'string' || typeof only === 'number')
    ? String(only)
    : undefined
}

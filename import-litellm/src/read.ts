/** Reads a foreign configuration: any value may be of any type, and a value of the wrong type counts as absent. */
import { holdsReference, modelId } from 'torana/config'

export type Fields = Readonly<Record<string, unknown>>

/** A mapping with what YAML's `<<` merges into it; anything else has no fields. */
export function fieldsOf(value: unknown, around: readonly unknown[] = []): Fields {
  // An anchor can be merged into itself.
  if (!isMapping(value) || around.includes(value)) return {}
  if (!Object.hasOwn(value, '<<')) return value
  const merged = [value['<<']].flat().toReversed()
  const layers = [...merged.map((layer) => fieldsOf(layer, [...around, value])), value]
  const entries = layers.flatMap((layer) => Object.entries(layer)).filter(([name]) => name !== '<<')
  return Object.fromEntries(entries)
}

export function isMapping(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Text that says something; numbers count, since `api_version: 2024` is meant as text. */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined
}

export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** LiteLLM reads YAML 1.1, where `yes` and `on` are true. */
export function isTrue(value: unknown): boolean {
  return value === true || (typeof value === 'string' && /^(true|yes|on|1)$/i.test(value.trim()))
}

/** Absent, off or empty: nothing is lost without it. */
export function saysNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true
  return Array.isArray(value) ? value.length === 0 : isMapping(value) && Object.keys(value).length === 0
}

/** The name in `os.environ/NAME`. */
export function variableOf(value: unknown): string | undefined {
  return typeof value === 'string' ? /^os\.environ\/(\S+)$/.exec(value.trim())?.[1] : undefined
}

/** Whether torana.yaml takes it as the id or an alias of a model, as it stands. */
export function isModelId(text: string): boolean {
  return modelId.safeParse(text).success && !holdsReference(text)
}

/** As it must be written in torana.yaml, where `$` begins a reference. */
export function literal(text: string): string {
  return text.replaceAll('$', '$$$$')
}

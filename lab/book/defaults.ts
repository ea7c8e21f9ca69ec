/** Defaults of `torana.yaml` as pages print them, from the schema that the code checks with. */
import { branchesOf, isSchema, type JsonSchema } from '../../server/src/config/file/json-schema.ts'
import { schemaOfFile } from '../../server/src/config/schema/json.ts'

const SCHEMA = schemaOfFile()

/** Each with the number of it up to which the next one is not used: `60 s`, `10 minutes`, `24 hours`, `7 days`. */
const DURATIONS = [
  ['ms', 1, 1000],
  ['s', 1000, 120],
  ['minute', 60_000, 60],
  ['hour', 3_600_000, 48],
  ['day', 24 * 3_600_000, Infinity],
] as const
const MILLION = 1_000_000

/** Of `limits.queueWaitMs`, or of `models.microBatch.maxItems`: names of entries are left out. Undefined: no such default. */
export function defaultText(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('.') + 1)
  const found = path.split('.').reduce<JsonSchema | undefined>(fieldOf, SCHEMA)?.default
  if (typeof found !== 'number') return undefined
  if (name.endsWith('Ms')) return durationText(found)
  if (name.endsWith('Seconds')) return durationText(found * 1000)
  if (name.endsWith('Bytes')) return bytesText(found)
  return found % MILLION === 0 && found > 0 ? `${found / MILLION} million` : counted(found)
}

/** The names of all limits: `queueWaitMs`. */
export function limitNames(): readonly string[] {
  const limits = fieldOf(SCHEMA, 'limits') ?? {}
  return branchesOf(limits).flatMap(({ properties = {} }) => Object.keys(properties))
}

/** A field of a mapping, or of the entries of one. */
function fieldOf(schema: JsonSchema | undefined, name: string): JsonSchema | undefined {
  if (schema === undefined) return undefined
  for (const branch of branchesOf(schema)) {
    const entry = branch.additionalProperties
    const field = branch.properties?.[name] ?? (isSchema(entry) ? fieldOf(entry, name) : undefined)
    if (isSchema(field)) return field
  }
  return undefined
}

function durationText(ms: number): string {
  const [unit, size] = DURATIONS.find(([, each, most]) => ms < each * most || ms === each) ?? DURATIONS[0]
  const count = ms / size
  return `${counted(count)} ${unit}${unit.length > 2 && count !== 1 ? 's' : ''}`
}

function bytesText(bytes: number): string {
  const power = Math.min(4, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${counted(bytes / 1024 ** power)} ${['bytes', 'KB', 'MB', 'GB', 'TB'][power]}`
}

function counted(number: number): string {
  return number.toLocaleString('en-US', { maximumFractionDigits: 1 })
}

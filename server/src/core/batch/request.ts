/** The body of a request to create a batch. `null` counts as absent. */
import { Fault } from '../fault/fault.ts'
import { shown } from '../fault/shown.ts'
import { isRecord } from '../text/record.ts'
import type { Tags } from '../money/labels.ts'

export interface BatchRequest {
  readonly inputFileId: string
  readonly endpoint: string
  readonly windowMs: number
  /** The caller's own notes, as in OpenAI's API. They are not tags: they may be sentences. */
  readonly metadata: Readonly<Record<string, string>> | undefined
  /** Tags of all its lines, from the header. */
  readonly tags?: Tags | undefined
  readonly resultsKeptMs: number
}

/** The routes whose requests a batch can run. */
export const BATCH_ENDPOINTS = ['/v1/embeddings', '/v1/images/generations', '/v1/images/edits'] as const
const ENDPOINTS: ReadonlySet<string> = new Set(BATCH_ENDPOINTS)

/** Whether its lines are image jobs. */
export function isOfPictures(endpoint: string): boolean {
  return endpoint.startsWith('/v1/images/')
}

export function isEdits(endpoint: string): boolean {
  return endpoint === '/v1/images/edits'
}

const HOUR_MS = 3_600_000
/** Longest window: a week is enough for any corpus. OpenAI knows `24h` alone. */
const MAX_WINDOW_HOURS = 168
/** OpenAI's own bounds. */
const MAX_METADATA = { pairs: 16, key: 64, value: 512 }
const KEPT_SECONDS = { least: 3600, most: 2_592_000 }

export function readBatchRequest(body: unknown): BatchRequest {
  if (!isRecord(body))
    throw new Fault(
      'invalid_json',
      'The body is not a JSON object. Send {"input_file_id": …, "endpoint": …}.',
    )
  return {
    inputFileId: textIn(body, 'input_file_id'),
    endpoint: endpointIn(body),
    windowMs: windowIn(body),
    metadata: metadataIn(body['metadata']),
    resultsKeptMs: keptIn(body['output_expires_after']),
  }
}

/** Equal texts ask for the same. */
export function canonicalBatch({
  inputFileId,
  endpoint,
  windowMs,
  metadata,
  resultsKeptMs,
  tags,
}: BatchRequest): string {
  const named = tags === undefined ? [] : [sortedPairs(tags)]
  return JSON.stringify([
    inputFileId,
    endpoint,
    windowMs,
    sortedPairs(metadata ?? {}),
    resultsKeptMs,
    ...named,
  ])
}

function sortedPairs(record: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))
}

type Fields = Readonly<Record<string, unknown>>

function textIn(body: Fields, name: string): string {
  const value = body[name] ?? undefined
  if (value === undefined) throw new Fault('missing_parameter', `${name} is missing.`, { param: name })
  if (typeof value === 'string' && value !== '') return value
  throw invalid(name, `${name} is ${shown(value)}; it must be a text.`)
}

function endpointIn(body: Fields): string {
  const endpoint = textIn(body, 'endpoint')
  if (ENDPOINTS.has(endpoint)) return endpoint
  throw invalid(
    'endpoint',
    `Invalid value for 'endpoint': ${shown(endpoint)}. Supported values: ${[...ENDPOINTS].map((one) => `'${one}'`).join(', ')}.`,
  )
}

function windowIn(body: Fields): number {
  const window = textIn(body, 'completion_window')
  const hours = /^\d{1,3}h$/.test(window) ? Number.parseInt(window, 10) : 0
  if (hours >= 1 && hours <= MAX_WINDOW_HOURS) return hours * HOUR_MS
  throw invalid(
    'completion_window',
    `Invalid value for 'completion_window': ${shown(window)}. Send '24h', or another number of hours up to '${MAX_WINDOW_HOURS}h'.`,
  )
}

function metadataIn(value: unknown): BatchRequest['metadata'] {
  if (value === undefined || value === null) return undefined
  if (!isRecord(value))
    throw invalid('metadata', `metadata is ${shown(value)}; it must be an object of texts.`)
  const pairs = Object.entries(value)
  if (pairs.length > MAX_METADATA.pairs)
    throw invalid(
      'metadata',
      `metadata has ${pairs.length} pairs; at most ${MAX_METADATA.pairs} are allowed.`,
    )
  for (const [key, text] of pairs) {
    if (key.length > MAX_METADATA.key)
      throw invalid(
        'metadata',
        `A key of metadata has ${key.length} characters; at most ${MAX_METADATA.key} are allowed.`,
      )
    if (typeof text !== 'string' || text.length > MAX_METADATA.value)
      throw invalid(
        'metadata',
        `Values of metadata must be texts of at most ${MAX_METADATA.value} characters.`,
      )
  }
  return value as Readonly<Record<string, string>>
}

function keptIn(value: unknown): number {
  if (value === undefined || value === null) return KEPT_SECONDS.most * 1000
  const { least, most } = KEPT_SECONDS
  const seconds = isRecord(value) && value['anchor'] === 'created_at' ? value['seconds'] : undefined
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= least && seconds <= most)
    return seconds * 1000
  throw invalid(
    'output_expires_after',
    `output_expires_after must be {"anchor": "created_at", "seconds": …} with ${least} to ${most} seconds.`,
  )
}

function invalid(param: string, message: string): Fault {
  return new Fault('invalid_parameter', message, { param })
}

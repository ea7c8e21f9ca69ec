/** Error bodies of the field: OpenAI's nested object, flat ones, FastAPI's `detail`, bare strings, HTML pages. */
import { isRecord } from '#core/record.ts'
import { scrubbed } from '#core/fault/failure.ts'

export interface ErrorBody {
  /** Scrubbed, one line. */
  readonly message: string
  readonly code: string | undefined
  readonly param: string | undefined
}

export function readErrorBody(body: string, apiKey?: string): ErrorBody {
  const plainText = (text: string): string => oneLine(text, apiKey)
  const codeIn = (value: unknown): string | undefined => codeOf(value, apiKey)
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return { message: plainText(body), code: undefined, param: undefined }
  }
  const error = isRecord(parsed) && 'error' in parsed ? parsed['error'] : parsed
  if (typeof error === 'string') return { message: plainText(error), code: undefined, param: undefined }
  if (!isRecord(error)) return { message: plainText(body), code: undefined, param: undefined }
  return {
    message: plainText(messageIn(error)),
    code: codeIn(error['code']) ?? codeIn(error['type']) ?? codeIn(error['status']),
    param: codeIn(error['param']),
  }
}

function messageIn(error: Readonly<Record<string, unknown>>): string {
  const { message, detail, msg } = error
  for (const candidate of [message, detail, msg]) {
    if (typeof candidate === 'string') return candidate
    if (isRecord(candidate)) return messageIn(candidate)
    if (Array.isArray(candidate)) {
      return candidate.map((entry) => (isRecord(entry) ? messageIn(entry) : String(entry))).join('; ')
    }
  }
  return typeof error['error'] === 'string' ? error['error'] : ''
}

/** A code or a field's name; a sentence is neither. */
const CODE = /^[\w.[\]-]{1,64}$/

function codeOf(value: unknown, apiKey: string | undefined): string | undefined {
  if (typeof value !== 'string' || !CODE.test(value)) return undefined
  return apiKey && value.includes(apiKey) ? undefined : value
}

function oneLine(text: string, apiKey: string | undefined): string {
  const line = text
    .replaceAll(/<(script|style)[\s\S]*?<\/\1>/gi, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line === '' ? 'it gave no reason.' : scrubbed(line, apiKey)
}

/** Longest wait we pass on: OpenAI's SDKs ignore or refuse longer ones. */
const MAX_RETRY_AFTER_MS = 60_000

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function retryAfterMsIn(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  nowMs: number,
): number | undefined {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN)
  const after = headers['retry-after']
  let waitMs = milliseconds
  if (!Number.isFinite(waitMs) && typeof after === 'string') {
    const seconds = Number(after)
    waitMs = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(after) - nowMs
  }
  return Number.isFinite(waitMs) ? Math.min(Math.max(0, waitMs), MAX_RETRY_AFTER_MS) : undefined
}

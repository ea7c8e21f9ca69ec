/** Error bodies of known servers: OpenAI's nested object, flat ones, FastAPI's `detail`, bare strings, HTML pages. */
import { withoutByteOrderMark } from '#core/text/json-text.ts'
import { isRecord } from '#core/text/record.ts'
import { FIREWALL_CODE, scrubbed, withoutSecrets } from '#core/fault/failure.ts'

export interface ErrorBody {
  /** One line without secrets. */
  readonly message: string
  readonly code: string | undefined
  readonly param: string | undefined
  /** Only OpenAI's type for a user's error: all others follow from the status. */
  readonly type?: typeof USER_ERROR
  /** OpenAI's `moderation_details`, limited to single terms. */
  readonly moderation?: Readonly<Record<string, unknown>>
}

/** OpenAI's error type for what only the caller can fix in an image request, whatever the status. */
export const USER_ERROR = 'image_generation_user_error'

export function readErrorBody(body: string, secrets: readonly string[] = []): ErrorBody {
  const plainText = (text: string): string => oneLine(text, secrets)
  const codeIn = (value: unknown): string | undefined => codeOf(value, secrets)
  let parsed: unknown
  try {
    parsed = JSON.parse(withoutByteOrderMark(body))
  } catch {
    return { message: plainText(body), code: undefined, param: undefined }
  }
  // Google's OpenAI-compatible wire wraps the object in a list.
  const answer: unknown = Array.isArray(parsed) ? parsed[0] : parsed
  const error = isRecord(answer) && 'error' in answer ? answer['error'] : answer
  if (typeof error === 'string') return { message: plainText(error), code: undefined, param: undefined }
  if (!isRecord(error)) return { message: plainText(body), code: undefined, param: undefined }
  return {
    message: plainText(messageIn(error)),
    code:
      codeIn(error['code']) ??
      codeIn(error['type']) ??
      (hasWrongKey(error['details']) ? WRONG_KEY : codeIn(error['status'])),
    param: codeIn(error['param']),
    ...(error['type'] === USER_ERROR ? { type: USER_ERROR } : {}),
    ...moderationIn(error['moderation_details'], codeIn),
  }
}

/** Bounds on details and their terms: OpenAI sends two fields, and a list of categories has some ten. */
const MAX_DETAILS = 8
const MAX_TERMS = 32

/** Only terms: a sentence may repeat what the caller sent. */
function moderationIn(
  details: unknown,
  termIn: (value: unknown) => string | undefined,
): Pick<ErrorBody, 'moderation'> {
  if (!isRecord(details)) return {}
  const kept = Object.entries(details)
    .slice(0, MAX_DETAILS)
    .flatMap(([name, value]) => {
      const terms = (Array.isArray(value) ? (value as unknown[]).slice(0, MAX_TERMS) : [value]).map(termIn)
      if (termIn(name) === undefined || terms.includes(undefined)) return []
      return [[name, Array.isArray(value) ? terms : terms[0]] as const]
    })
  return kept.length === 0 ? {} : { moderation: Object.fromEntries(kept) }
}

/** Cloudflare's codes: 1010 for a suspected bot, 1020 for a rule of its customer. */
const FIREWALL_ERROR = /\berror(?: code)?:?\s*(1\d{3})\b/i

/**
 * Reads a body with status 403. An API refuses a credential in JSON; a page, or Cloudflare's line of text,
 * comes from a firewall in front of it. Its words are not shown, since they name the address of the gateway.
 */
export function readForbidden(body: string, secrets: readonly string[] = []): ErrorBody {
  const read = readErrorBody(body, secrets)
  const error = FIREWALL_ERROR.exec(read.message)?.[1]
  const isPage = body.trimStart().startsWith('<')
  if (body.trimStart().startsWith('{') || (!isPage && error === undefined)) return read
  return error === undefined
    ? { message: 'it answered with a page', code: FIREWALL_CODE, param: undefined }
    : { message: `its error code is ${error}`, code: `${FIREWALL_CODE}_${error}`, param: undefined }
}

/** Google distinguishes a wrong key from a bad request only by a reason among its details. */
const WRONG_KEY = 'API_KEY_INVALID'

function hasWrongKey(details: unknown): boolean {
  return (
    Array.isArray(details) && details.some((detail) => isRecord(detail) && detail['reason'] === WRONG_KEY)
  )
}

/** Levels of messages within messages: one or two wrappers cause them. */
const MAX_LEVELS = 8
/** Complaints of a list that are shown. */
const MAX_COMPLAINTS = 32

function messageIn(error: Readonly<Record<string, unknown>>, levels = MAX_LEVELS): string {
  if (levels === 0) return ''
  const { message, detail, msg } = error
  for (const candidate of [message, detail, msg]) {
    if (typeof candidate === 'string') return candidate
    if (isRecord(candidate)) return messageIn(candidate, levels - 1)
    if (Array.isArray(candidate)) {
      return candidate
        .slice(0, MAX_COMPLAINTS)
        .map((entry: unknown) => (isRecord(entry) ? messageIn(entry, levels - 1) : plain(entry)))
        .join('; ')
    }
  }
  return typeof error['error'] === 'string' ? error['error'] : ''
}

/** A value may be nested too deeply to have a text. */
function plain(value: unknown): string {
  return typeof value === 'object' && value !== null ? '' : String(value)
}

/** A code or a field's name; a sentence is neither. */
const CODE = /^[\w.[\]-]{1,64}$/

function codeOf(value: unknown, secrets: readonly string[]): string | undefined {
  if (typeof value !== 'string' || !CODE.test(value)) return undefined
  return secrets.some((secret) => value.includes(secret)) ? undefined : value
}

function oneLine(text: string, secrets: readonly string[]): string {
  // Before anything is cut, so that no part of a secret remains at the end.
  const line = withoutMarkup(withoutSecrets(text, secrets))
  return line === '' ? 'it gave no reason.' : scrubbed(line)
}

/** Characters read of a page: twice what is shown, since credentials are removed from it. */
const MAX_CHARACTERS = 2048

const HIDDEN = /^<(script|style)/i
/** Characters of a tag's start that show whether its content is hidden. */
const HIDDEN_CHARACTERS = 7

/**
 * The words of a page on one line. The text is untrusted, so this is one pass: no position is searched twice,
 * whatever is there or missing.
 */
function withoutMarkup(text: string): string {
  let line = ''
  let place = 0
  const unclosed = new Set<string>()
  while (place < text.length && line.length < MAX_CHARACTERS) {
    const start = text.indexOf('<', place)
    const end = start < 0 ? -1 : text.indexOf('>', start)
    const words = text.slice(place, end < 0 ? text.length : start).slice(0, MAX_CHARACTERS)
    line += words.replaceAll(/\s+/g, ' ')
    // No tag ends after this position.
    if (end < 0) break
    if (!line.endsWith(' ')) line += ' '
    const hidden = HIDDEN.exec(text.slice(start, start + HIDDEN_CHARACTERS))?.[1]?.toLowerCase()
    place = (hidden === undefined ? undefined : endOfHidden(text, hidden, end, unclosed)) ?? end + 1
  }
  return line.replaceAll('  ', ' ').trim()
}

/** The position after a script or a style sheet. Undefined when it has no end. */
function endOfHidden(text: string, name: string, from: number, unclosed: Set<string>): number | undefined {
  if (unclosed.has(name)) return undefined
  const closing = new RegExp(`</${name}>`, 'gi')
  closing.lastIndex = from
  if (closing.test(text)) return closing.lastIndex
  unclosed.add(name)
  return undefined
}

/** `Please try again in 1m12.5s`, `Please retry after 7 seconds`: amounts with their units. */
const SAID_WAIT = /\b(?:try again|retry) (?:in|after) ((?:\d{1,6}(?:\.\d{1,6})?\s?(?:ms|mil|m|s)[a-z]*\s?)+)/i
const AMOUNT = /([\d.]+)\s?(ms|mil|m|s)/gi
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, mil: 1, m: 60_000, s: 1000 }

/** The wait that a message names, for upstreams that send no header. */
export function retryAfterMsSaid(message: string): number | undefined {
  const said = SAID_WAIT.exec(message)?.[1]
  if (said === undefined) return undefined
  let waitMs = 0
  for (const [, amount, unit = ''] of said.matchAll(AMOUNT))
    waitMs += Number(amount) * (UNIT_MS[unit.toLowerCase()] ?? 0)
  return Math.min(waitMs, MAX_RETRY_AFTER_MS)
}

/** Longest wait that is passed on: OpenAI's SDKs ignore or refuse longer ones. */
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

/**
 * Google gives the reason and the retry time in a list of typed details instead of a header; FastAPI servers
 * give a type with each complaint.
 */
export function detailsIn(body: string): { reasons: string[]; retryAfterMs: number | undefined } {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return { reasons: [], retryAfterMs: undefined }
  }
  const error = isRecord(parsed) ? parsed['error'] : undefined
  const details = isRecord(error) && Array.isArray(error['details']) ? error['details'].filter(isRecord) : []
  const complaints =
    isRecord(parsed) && Array.isArray(parsed['detail']) ? parsed['detail'].filter(isRecord) : []
  const reasons = [
    ...details.map((detail) => detail['reason']),
    ...complaints.map((complaint) => complaint['type']),
  ].filter((reason) => typeof reason === 'string')
  const delay = details.map((detail) => detail['retryDelay']).find((delay) => typeof delay === 'string')
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(delay ?? '')?.[1]
  // Read as the header would be, so that one upper bound holds for both.
  const retryAfterMs = seconds === undefined ? undefined : retryAfterMsIn({ 'retry-after': seconds }, 0)
  return { reasons, retryAfterMs }
}

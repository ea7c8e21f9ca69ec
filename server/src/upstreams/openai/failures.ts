/** Classifies HTTP calls without a good answer, for every kind of call alike. */
import type { Upstream } from '#core/catalog/catalog.ts'
import { BrokenAnswer } from '#core/fault/broken-answer.ts'
import { connectionWords } from '#core/fault/connection-words.ts'
import {
  failureKindOf,
  scrubbed,
  UpstreamFailure,
  type FailureDetail,
  type FailureKind,
} from '#core/fault/failure.ts'
import {
  detailsIn,
  readErrorBody,
  readForbidden,
  retryAfterMsIn,
  retryAfterMsSaid,
  USER_ERROR,
  type ErrorBody,
} from './error-body.ts'
import { kindOf, type ErrorKinds } from './error-kinds.ts'
import { secretsOf } from './secrets.ts'
import { HttpCut, HttpTimeout, HttpTooLarge, type HttpAnswer } from '../connect/http.ts'
import { BodyUnread } from '../connect/sent-body.ts'

interface CalledDeployment {
  readonly id: string
  readonly upstream: Upstream
}

/** The failure of an answer that is not 2xx. `kinds`: the provider's own codes. */
export function failureOfAnswer(
  answer: HttpAnswer,
  { id, upstream }: CalledDeployment,
  kinds?: ErrorKinds,
): UpstreamFailure {
  const { status, headers } = answer
  const known = { deployment: id, status, upstreamRequestId: requestIdIn(headers) }
  if (status < 400) return failureOfRedirect(status, known)
  const read = status === 403 ? readForbidden : readErrorBody
  const body = read(answer.errorBody, secretsOf(upstream))
  const { reasons, retryAfterMs } = detailsIn(answer.errorBody)
  const kind = isUserError(answer.errorBody)
    ? userErrorKind(body)
    : kindOf({ status, headers, code: body.code, reasons }, kinds)
  return new UpstreamFailure(kind, body.message, {
    ...known,
    ...wordsOf(body),
    retryAfterMs:
      retryAfterMsIn(headers, Date.now()) ??
      retryAfterMs ??
      (status === 429 ? retryAfterMsSaid(body.message) : undefined),
  })
}

/** Following it would send our credential elsewhere. Nothing was served. */
export function failureOfRedirect(status: number, known: FailureDetail): UpstreamFailure {
  const detail = { ...known, charge: 'none', isLasting: true } as const
  return new UpstreamFailure('broken', `status ${status}, a redirect, which Torana does not follow`, detail)
}

/** The failure of an error object inside an answer with a good status. */
export function failureOfErrorObject(
  error: unknown,
  upstream: Upstream,
  detail: FailureDetail,
): UpstreamFailure {
  const text = textOf(error)
  const body = readErrorBody(text, secretsOf(upstream))
  const kind = isUserError(text) ? userErrorKind(body) : kindWithoutStatus(body)
  return new UpstreamFailure(kind, body.message, { ...detail, ...wordsOf(body) })
}

function wordsOf({ code, param, type, moderation }: ErrorBody): Partial<FailureDetail> {
  return { code, param, type, moderation }
}

/** Empty for an object that is nested too deeply to have a text. */
function textOf(error: unknown): string {
  try {
    return JSON.stringify({ error })
  } catch {
    return ''
  }
}

function kindWithoutStatus({ code = '' }: ErrorBody): FailureKind {
  const kind = failureKindOf(500, code)
  if (kind !== 'failed') return kind
  if (code.startsWith('rate_limit')) return 'rateLimited'
  return code.startsWith('invalid_') ? 'refused' : kind
}

function isUserError(errorBody: string): boolean {
  return errorBody.includes(`"${USER_ERROR}"`)
}

function userErrorKind({ code = '' }: ErrorBody): FailureKind {
  // The upstream uses this status for our own bill too.
  if (failureKindOf(400, code) === 'rejectedUs') return 'rejectedUs'
  return /moderation|safety|content|policy/i.test(code) ? 'contentRefused' : 'refused'
}

/** Failures without an answer, or with an unreadable one. */
export function failureOfError(error: unknown, detail: FailureDetail): UpstreamFailure {
  if (error instanceof BodyUnread) {
    // The upstream is not to blame, but it was not reached, and another attempt may be able to read the files.
    const failure = new UpstreamFailure('unreachable', `${error.message} was to be sent`, detail)
    failure.cause = error
    return failure
  }
  if (error instanceof BrokenAnswer) {
    const { message, wrongWidth, isLasting } = error
    return new UpstreamFailure('broken', message, { ...detail, wrongWidth, isLasting })
  }
  if (error instanceof HttpTooLarge)
    return new UpstreamFailure('broken', error.message, { ...detail, isLasting: true })
  if (error instanceof HttpCut) return new UpstreamFailure('broken', error.message, detail)
  if (error instanceof HttpTimeout) return new UpstreamFailure('timedOut', error.message, detail)
  const { code, message, name } = error as { code?: unknown; message?: unknown; name?: unknown }
  if (name === 'HTTPParserError' || isUnreadable(code, message)) {
    return new UpstreamFailure('broken', 'an answer that is not HTTP', detail)
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new UpstreamFailure('timedOut', 'no connection in time', detail)
  if (typeof code === 'string' || error instanceof TypeError) {
    const reason = typeof message === 'string' && message !== '' ? message : String(code)
    const words = connectionWords(typeof code === 'string' ? [code] : [])
    return new UpstreamFailure('unreachable', words, detail, scrubbed(reason))
  }
  throw error
}

/** An answer had begun to arrive: the upstream was reached, and may have been paid. */
const UNREADABLE_CODES: ReadonlySet<unknown> = new Set([
  // Two lengths, or another one than received.
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_HEADERS_OVERFLOW',
])

function isUnreadable(code: unknown, message: unknown): boolean {
  return (
    UNREADABLE_CODES.has(code) ||
    (code === 'UND_ERR_SOCKET' && /^bad (response|upgrade)$/.test(String(message)))
  )
}

/** What ids are made of. A header with other characters may repeat what the caller sent. */
const ID = /^[\w.:/+=@-]+$/
const REQUEST_ID_HEADERS = [
  'x-request-id',
  'x-amzn-requestid',
  'request-id',
  'apim-request-id',
  'mistral-correlation-id',
]

export function requestIdIn(headers: HttpAnswer['headers']): string | undefined {
  for (const name of REQUEST_ID_HEADERS) {
    const id = headers[name]
    if (typeof id === 'string' && ID.test(id)) return id.slice(0, 128)
  }
  return undefined
}

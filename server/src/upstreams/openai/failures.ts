/** What a call over HTTP that brought no good answer is called, for every kind of call alike. */
import type { Upstream } from '#core/catalog.ts'
import { BrokenAnswer } from '#core/fault/broken-answer.ts'
import {
  failureKindOf,
  scrubbed,
  UpstreamFailure,
  type FailureDetail,
  type FailureKind,
} from '#core/fault/failure.ts'
import { readErrorBody, retryAfterMsIn, USER_ERROR, type ErrorBody } from './error-body.ts'
import { secretsOf } from './secrets.ts'
import { HttpCut, HttpTimeout, HttpTooLarge, type HttpAnswer } from '../connect/http.ts'

interface CalledDeployment {
  readonly id: string
  readonly upstream: Upstream
}

/** The failure of an answer that is not 2xx. */
export function failureOfAnswer(answer: HttpAnswer, { id, upstream }: CalledDeployment): UpstreamFailure {
  const { status, headers } = answer
  const body = readErrorBody(answer.errorBody, secretsOf(upstream))
  const kind = isUserError(answer.errorBody) ? userErrorKind(body) : failureKindOf(status, body.code)
  return new UpstreamFailure(
    kind,
    kind === 'broken' ? `status ${status} instead of an answer` : body.message,
    {
      deployment: id,
      status,
      ...wordsOf(body),
      retryAfterMs: retryAfterMsIn(headers, Date.now()),
      upstreamRequestId: requestIdIn(headers),
      // A redirect says that the work is done elsewhere: nothing was made here, and Torana follows none.
      charge: isRedirect(status) ? 'none' : undefined,
    },
  )
}

export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}

/** The failure of an error object that came inside an answer whose status says that all is well. */
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

function wordsOf({ message: _, ...words }: ErrorBody): Partial<FailureDetail> {
  return words
}

/** Empty for an object that is nested so deep that it has no text. */
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
  return /moderation|safety|content|policy/i.test(code) ? 'contentRefused' : 'refused'
}

/** Failures without an answer, or with one that could not be read. */
export function failureOfError(error: unknown, detail: FailureDetail): UpstreamFailure {
  if (error instanceof BrokenAnswer)
    return new UpstreamFailure('broken', error.message, { ...detail, wrongWidth: error.wrongWidth })
  if (error instanceof HttpTooLarge || error instanceof HttpCut) {
    return new UpstreamFailure('broken', error.message, detail)
  }
  if (error instanceof HttpTimeout) return new UpstreamFailure('timedOut', error.message, detail)
  const { code, message, name } = error as { code?: unknown; message?: unknown; name?: unknown }
  if (name === 'HTTPParserError') {
    return new UpstreamFailure('broken', 'an answer that is not HTTP', detail)
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new UpstreamFailure('timedOut', 'no connection in time', detail)
  if (typeof code === 'string' || error instanceof TypeError) {
    const reason = typeof message === 'string' && message !== '' ? message : String(code)
    return new UpstreamFailure('unreachable', scrubbed(reason), detail)
  }
  throw error
}

export function requestIdIn(headers: HttpAnswer['headers']): string | undefined {
  const id = headers['x-request-id'] ?? headers['request-id'] ?? headers['apim-request-id']
  return typeof id === 'string' ? id.slice(0, 128) : undefined
}

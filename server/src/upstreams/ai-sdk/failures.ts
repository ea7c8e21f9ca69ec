/** The SDK's errors in our words. They are recognised by name: several copies of its base package can be installed. */
import type { FailureKind } from '#core/fault/failure.ts'
import { connectionWords } from '#core/fault/connection-words.ts'
import { scrubbed, UpstreamFailure } from '#core/fault/failure.ts'
import type { Upstream } from '#core/catalog/catalog.ts'
import {
  detailsIn,
  readErrorBody,
  readForbidden,
  retryAfterMsIn,
  retryAfterMsSaid,
} from '../openai/error-body.ts'
import { kindOf, type ErrorKinds } from '../openai/error-kinds.ts'
import { failureOfRedirect, requestIdIn } from '../openai/failures.ts'
import { secretsOf } from '../openai/secrets.ts'

type Headers = Readonly<Record<string, string>>

/** The fields of a call that a failure mentions. */
interface FailedCall {
  readonly deployment: { readonly id: string; readonly upstream: Upstream }
  readonly timeoutMs: number
}

/** What a provider's errors mean where that differs from their common meaning. */
export interface ErrorWords {
  readonly kinds?: ErrorKinds
  /** Matches the message of an error that refuses the content. */
  readonly contentRefusal?: RegExp
  /** What an error means that neither the SDK nor the network raised; undefined when it is a defect of ours. */
  readonly strangers?: FailureKind
}

interface Expectation {
  /** What an answer should have held. */
  readonly answer: string
  /** The requested options, for people who read a refusal. */
  readonly asked: string
}

/** The fields read from an `AI_APICallError`. Its other fields hold the inputs. */
interface ApiCallError extends Error {
  readonly statusCode?: number
  readonly responseHeaders?: Headers
  readonly responseBody?: string
}

/** Length of an error body: enough for any message; an HTML page need not be kept. */
const MAX_BODY_CHARACTERS = 64 * 1024

const TIMEOUTS = /^(AbortError|TimeoutError|UND_ERR_(HEADERS|BODY)_TIMEOUT)$/
/** No connection was made, so nothing was sent. */
const UNSENT = /^(UND_ERR_CONNECT_TIMEOUT|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/
const NETWORK = /^(UND_ERR_|E(CONN|PIPE|TIMEDOUT|NOTFOUND|AI_|HOST|NET))/
/** An answer had begun to arrive: the upstream was reached, and may have been paid. */
const UNREADABLE = /^(HTTPParserError|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|UND_ERR_HEADERS_OVERFLOW)$/
/** Raised before anything is sent: an option the package does not take, or more inputs than it sends at once. */
const REFUSALS = /^AI_(InvalidArgument|TooManyEmbeddingValuesForCall|UnsupportedFunctionality)Error$/
const BROKEN =
  /^AI_(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|Download|NoImageGenerated)Error$/
const SETTINGS = /^AI_Load(APIKey|Setting)Error$/

/** The meaning of a failed call, or the error itself where it is a defect of ours. */
export function failureOf(
  error: unknown,
  call: FailedCall,
  provider: ErrorWords,
  expected: Expectation,
): unknown {
  if (!(error instanceof Error) || error instanceof UpstreamFailure) return error
  const { upstream, id } = call.deployment
  const fail = (kind: FailureKind, message: string, isLasting = false): UpstreamFailure =>
    new UpstreamFailure(kind, scrubbed(message, secretsOf(upstream)), {
      deployment: id,
      isLasting,
      charge: words.some((word) => UNSENT.test(word)) ? 'none' : undefined,
    })

  const { words, reason } = causesOf(error)
  const has = (pattern: RegExp): boolean => words.some((word) => pattern.test(word))
  if (has(TIMEOUTS)) return timedOut(call)
  if (has(/^UND_ERR_CONNECT_TIMEOUT$/)) return fail('timedOut', 'no connection in time')
  if (has(/^UND_ERR_RES_EXCEEDED_MAX_SIZE$/)) return fail('broken', 'an answer larger than we read', true)
  if (has(UNREADABLE)) return fail('broken', 'an answer that is not HTTP')
  if (error.name === 'AI_APICallError') return failureOfApiCall(error, call, provider, expected)
  if (REFUSALS.test(error.name)) return fail('refused', `${error.message}${expected.asked}`)
  if (BROKEN.test(error.name)) return fail('broken', brokenBy(error, expected))
  if (SETTINGS.test(error.name)) return fail('rejectedUs', `upstreams.${upstream.name}: ${error.message}`)
  if (error.message === 'fetch failed' || has(NETWORK)) return unreachable(words, reason, id)
  return provider.strangers === undefined ? error : fail(provider.strangers, error.message)
}

function unreachable(words: readonly string[], reason: string, deployment: string): UpstreamFailure {
  const charge = words.some((word) => UNSENT.test(word)) ? 'none' : undefined
  return new UpstreamFailure('unreachable', connectionWords(words), { deployment, charge }, scrubbed(reason))
}

export function timedOut({ deployment, timeoutMs }: FailedCall): UpstreamFailure {
  return new UpstreamFailure('timedOut', `no answer within ${Math.round(timeoutMs)} ms`, {
    deployment: deployment.id,
  })
}

function failureOfApiCall(
  error: ApiCallError,
  call: FailedCall,
  provider: ErrorWords,
  expected: Expectation,
): UpstreamFailure {
  const { id, upstream } = call.deployment
  const { statusCode: status, responseHeaders: headers = {}, responseBody = '' } = error
  if (status === undefined) {
    const { words, reason } = causesOf(error)
    return unreachable(words, reason, id)
  }
  const upstreamRequestId = requestIdIn(headers)
  if (status < 300)
    return new UpstreamFailure('broken', brokenBy(error, expected), {
      deployment: id,
      status,
      upstreamRequestId,
      // An answer of another shape, not a broken one.
      isLasting: causesOf(error).words.includes('AI_TypeValidationError'),
    })

  if (status < 400) return failureOfRedirect(status, { deployment: id, status, upstreamRequestId })
  const text = responseBody.slice(0, MAX_BODY_CHARACTERS)
  const read = status === 403 ? readForbidden : readErrorBody
  const { message, code, param } = read(text, secretsOf(upstream))
  const { reasons, retryAfterMs } = detailsIn(text)
  const kind = kindOf({ status, headers, code, reasons }, provider.kinds)
  const isContent = kind === 'refused' && provider.contentRefusal?.test(message)
  return new UpstreamFailure(isContent ? 'contentRefused' : kind, message, {
    deployment: id,
    status,
    code,
    param,
    upstreamRequestId,
    retryAfterMs:
      retryAfterMsIn(headers, Date.now()) ??
      retryAfterMs ??
      (status === 429 ? retryAfterMsSaid(message) : undefined),
  })
}

/** Describes a broken answer with a good status. The SDK's own messages repeat the whole answer. */
function brokenBy(error: Error, expected: Expectation): string {
  const { words } = causesOf(error)
  if (words.includes('AI_JSONParseError')) return 'an answer that is not JSON'
  if (words.includes('AI_TypeValidationError')) return `an answer that does not hold ${expected.answer}`
  if (words.includes('AI_NoImageGeneratedError')) return 'an answer without a picture'
  if (words.includes('AI_DownloadError')) return 'an address that nothing is fetched from'
  return 'an answer that was cut off'
}

/** Depth of a chain of causes: deeper ones are loops. */
const MAX_CAUSES = 8

/** Names and codes of an error and its causes, and what the last of them says. */
function causesOf(error: Error): { words: string[]; reason: string } {
  const words: string[] = []
  let reason = error.name
  let current: unknown = error
  for (let depth = 0; current instanceof Error && depth < MAX_CAUSES; depth += 1) {
    const { name, message, cause } = current
    const { code } = current as { code?: unknown }
    words.push(name)
    if (typeof code === 'string') words.push(code)
    // An error of several failed addresses has a code and no message.
    reason = message || (typeof code === 'string' ? code : name)
    current = cause
  }
  return { words, reason }
}

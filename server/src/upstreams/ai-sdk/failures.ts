/** The SDK's errors in our words. They are told by name: several copies of its base package can be installed. */
import { isRecord } from '#core/embedding/answer.ts'
import type { FailureKind } from '#core/failure.ts'
import { failureKindOf, scrubbed, UpstreamFailure } from '#core/failure.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { readErrorBody, retryAfterMsIn } from '../error-body.ts'
import type { Provider } from './providers.ts'

type Headers = Readonly<Record<string, string>>

/** An `AI_APICallError`, as far as it is read. Its other fields hold the inputs. */
interface ApiCallError extends Error {
  readonly statusCode?: number
  readonly responseHeaders?: Headers
  readonly responseBody?: string
}

/** Enough for any error message; an HTML page need not be kept. */
const MAX_BODY_CHARACTERS = 64 * 1024

const TIMEOUTS = /^(AbortError|TimeoutError|UND_ERR_(HEADERS|BODY)_TIMEOUT)$/
/** No connection was made, so nothing was sent. */
const UNSENT = /^(UND_ERR_CONNECT_TIMEOUT|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/
const NETWORK = /^(UND_ERR_|E(CONN|PIPE|TIMEDOUT|NOTFOUND|AI_|HOST|NET))/
/** Raised before anything is sent: an option the package does not take, or more inputs than it sends at once. */
const REFUSALS = /^AI_(InvalidArgument|TooManyEmbeddingValuesForCall|UnsupportedFunctionality)Error$/
const BROKEN = /^AI_(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody)Error$/
const SETTINGS = /^AI_Load(APIKey|Setting)Error$/

/** What a failed call means, or the error itself where it is a defect of ours. */
export function failureOf(error: unknown, call: EmbeddingCall, provider: Provider): unknown {
  if (!(error instanceof Error) || error instanceof UpstreamFailure) return error
  const { upstream, id } = call.deployment
  const fail = (kind: FailureKind, message: string): UpstreamFailure =>
    new UpstreamFailure(kind, scrubbed(message, upstream.apiKey), {
      deployment: id,
      charge: words.some((word) => UNSENT.test(word)) ? 'none' : undefined,
    })

  const { words, reason } = causesOf(error)
  const has = (pattern: RegExp): boolean => words.some((word) => pattern.test(word))
  if (has(TIMEOUTS)) return timedOut(call)
  if (has(/^UND_ERR_CONNECT_TIMEOUT$/)) return fail('timedOut', 'no connection in time')
  if (has(/^UND_ERR_RES_EXCEEDED_MAX_SIZE$/)) return fail('broken', 'an answer larger than we read')
  if (error.name === 'AI_APICallError') return failureOfApiCall(error, call, provider)
  if (REFUSALS.test(error.name)) return fail('refused', `${error.message}${askedBy(call)}`)
  if (BROKEN.test(error.name)) return fail('broken', brokenBy(error))
  if (SETTINGS.test(error.name)) return fail('rejectedUs', `upstreams.${upstream.name}: ${error.message}`)
  if (error.message === 'fetch failed' || has(NETWORK)) return fail('unreachable', reason)
  return provider.strangers === undefined ? error : fail(provider.strangers, error.message)
}

export function timedOut({ deployment, timeoutMs }: EmbeddingCall): UpstreamFailure {
  return new UpstreamFailure('timedOut', `no answer within ${Math.round(timeoutMs)} ms`, {
    deployment: deployment.id,
  })
}

function failureOfApiCall(error: ApiCallError, call: EmbeddingCall, provider: Provider): UpstreamFailure {
  const { id, upstream } = call.deployment
  const { statusCode: status, responseHeaders: headers = {}, responseBody = '' } = error
  if (status === undefined) {
    const { words, reason } = causesOf(error)
    const charge = words.some((word) => UNSENT.test(word)) ? 'none' : undefined
    return new UpstreamFailure('unreachable', scrubbed(reason), { deployment: id, charge })
  }
  const upstreamRequestId = requestIdIn(headers)
  if (status < 300)
    return new UpstreamFailure('broken', brokenBy(error), { deployment: id, status, upstreamRequestId })

  const text = responseBody.slice(0, MAX_BODY_CHARACTERS)
  const { message, code, param } = readErrorBody(text, upstream.apiKey)
  const { reasons, retryAfterMs } = googleDetails(text)
  const amazonType = headers['x-amzn-errortype']?.split(':')[0]
  const word = [...reasons, code, amazonType, String(status)].find((word) => word && provider.kinds?.[word])
  return new UpstreamFailure((word && provider.kinds?.[word]) || failureKindOf(status, code), message, {
    deployment: id,
    status,
    code,
    param,
    upstreamRequestId,
    retryAfterMs: retryAfterMsIn(headers, Date.now()) ?? retryAfterMs,
  })
}

/** Said of an answer with a good status. The SDK's own messages repeat the whole answer. */
function brokenBy(error: Error): string {
  const { words } = causesOf(error)
  if (words.includes('AI_JSONParseError')) return 'an answer that is not JSON'
  if (words.includes('AI_TypeValidationError')) return 'an answer that does not hold vectors of numbers'
  return 'an answer that was cut off'
}

/** Google says why, and when to come back, in a list of typed details instead of a header. */
function googleDetails(body: string): { reasons: string[]; retryAfterMs: number | undefined } {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return { reasons: [], retryAfterMs: undefined }
  }
  const error = isRecord(parsed) ? parsed['error'] : undefined
  const details = isRecord(error) && Array.isArray(error['details']) ? error['details'].filter(isRecord) : []
  const reasons = details.map((detail) => detail['reason']).filter((reason) => typeof reason === 'string')
  const delay = details.map((detail) => detail['retryDelay']).find((delay) => typeof delay === 'string')
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(delay ?? '')?.[1]
  // Read as the header would be, so that one upper bound holds for both.
  const retryAfterMs = seconds === undefined ? undefined : retryAfterMsIn({ 'retry-after': seconds }, 0)
  return { reasons, retryAfterMs }
}

const REQUEST_ID_HEADERS = ['x-request-id', 'x-amzn-requestid', 'request-id', 'mistral-correlation-id']

export function requestIdIn(headers: Headers): string | undefined {
  const name = REQUEST_ID_HEADERS.find((name) => headers[name] !== undefined)
  return name === undefined ? undefined : headers[name]?.slice(0, 128)
}

/** Deeper chains are loops. */
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
    // Several addresses tried in vain make an error with a code and no message.
    reason = message || (typeof code === 'string' ? code : name)
    current = cause
  }
  return { words, reason }
}

function askedBy({ dimensions, inputType }: EmbeddingCall): string {
  const asked = [
    ...(dimensions === undefined ? [] : [`dimensions ${dimensions}`]),
    ...(inputType === undefined ? [] : [`input type ${inputType}`]),
  ]
  return asked.length === 0 ? '' : ` (${asked.join(', ')})`
}

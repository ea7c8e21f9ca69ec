/** A fault as the caller sees it: OpenAI's error object with our additions inside it, and the headers SDKs obey. */
import { errorCodes } from 'fastify'
import { Fault } from '#core/fault/fault.ts'
import { ThreadBusy } from '#ports/asker.ts'
import { rateHeaders } from './rate-headers.ts'

/** An error that is not a fault is ours; its text stays in the log. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  if (error instanceof ThreadBusy) return busyFault(error)
  if (error instanceof errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE)
    return new Fault(
      'invalid_parameter',
      'The header content-type is empty or malformed. Send `content-type: application/json`, or leave the header out.',
      { param: 'content-type', cause: error },
    )
  return new Fault(
    'internal_error',
    'The gateway failed. The log has the cause under this request id; please report it.',
    { cause: error },
  )
}

/** Time in which part of the queue is done. */
const FULL_RETRY_MS = 1000

/** Work of the node itself, such as reading a large body, was not done. Nothing was sent to an upstream yet. */
function busyFault(cause: ThreadBusy): Fault {
  return cause.kind === 'full'
    ? new Fault(
        'node_overloaded',
        'This node already has as many large requests of this project in line as it may. Retry.',
        { cause, retryAfterMs: FULL_RETRY_MS },
      )
    : new Fault('upstream_timeout', 'The time of the request was over before it was read and counted.', {
        cause,
      })
}

export function faultBody(fault: Fault, requestId: string, docsUrl: string): string {
  const { upstream } = fault
  return JSON.stringify({
    error: {
      message: fault.message,
      type: fault.entry.type,
      param: fault.param ?? null,
      code: fault.code,
      request_id: requestId,
      doc_url: `${docsUrl}/docs/errors/${fault.code}`,
      ...(upstream && {
        upstream: {
          deployment: upstream.deployment,
          status: upstream.status,
          request_id: upstream.upstreamRequestId,
          ...(upstream.type !== undefined || upstream.moderation !== undefined
            ? { code: upstream.code, type: upstream.type, moderation_details: upstream.moderation }
            : {}),
        },
      }),
    },
  })
}

export function faultHeaders(fault: Fault, requestId: string): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': requestId,
    'x-should-retry': String(fault.mayRetry),
  }
  if (fault.jobId !== undefined) headers['x-torana-job'] = fault.jobId
  if (fault.allow !== undefined) headers['allow'] = fault.allow.join(', ')
  if (fault.retryAfterMs !== undefined) {
    headers['retry-after-ms'] = String(Math.ceil(fault.retryAfterMs))
    headers['retry-after'] = String(Math.ceil(fault.retryAfterMs / 1000))
  }
  const rates = rateHeaders(fault.rates)
  for (let index = 0; index < rates.length; index += 2)
    headers[rates[index] as string] = rates[index + 1] as string
  return headers
}

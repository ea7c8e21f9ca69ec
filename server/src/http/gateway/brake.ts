/** Refuses requests before they are read while the process is overloaded: a refusal costs a small part of an answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '#core/fault/fault.ts'
import { faultBody, faultHeaders } from '../faults.ts'
import { endUnread } from '../gate/unread.ts'

export interface Brake {
  /** True when the request was refused: nothing more is to be done for it. */
  refuses(request: IncomingMessage, response: ServerResponse): boolean
}

export interface BrakeParts {
  readonly refusedShare: () => number
  readonly random: () => number
  readonly nextId: () => string
  readonly docsUrl: () => string
  /** Counted, not logged: a log line for each would cost as much as the refusal saves. */
  readonly refused: () => void
}

/** Retry times are spread, so that clients that were refused together do not return together. */
const RETRY_FROM_MS = 1000
const RETRY_STEP_MS = 100
const RETRY_STEPS = 20

/** An answer that lacks only its request id: it is written thousands of times per second under overload. */
interface Prepared {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly before: string
  readonly after: string
}

const NO_ID = '{request id}'

export function brakeOf({ refusedShare, random, nextId, docsUrl, refused }: BrakeParts): Brake {
  let prepared: readonly Prepared[] = []
  let preparedFor: string | undefined
  const answers = (): readonly Prepared[] => {
    const url = docsUrl()
    if (url !== preparedFor) {
      prepared = Array.from({ length: RETRY_STEPS }, (_, step) => prepare(step, url))
      preparedFor = url
    }
    return prepared
  }
  return {
    refuses(request, response) {
      const share = refusedShare()
      if (share === 0 || request.method !== 'POST' || random() >= share) return false
      refused()
      const requestId = nextId()
      const all = answers()
      const { status, headers, before, after } = all[Math.floor(random() * all.length)] as Prepared
      const body = `${before}${requestId}${after}`
      // Node discards a small body after this answer; a new connection would cost more than that.
      if (!isSmall(request)) response.setHeader('connection', 'close')
      // With its length; otherwise it would be sent with chunked encoding.
      response.writeHead(status, {
        ...headers,
        'x-request-id': requestId,
        'content-length': Buffer.byteLength(body),
      })
      response.end(body)
      if (!isSmall(request)) endUnread(request, response)
      return true
    },
  }
}

/** Size of a body that fits into the packets after the headers. */
const SMALL_BYTES = 64 * 1024

function isSmall({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= SMALL_BYTES
}

function prepare(step: number, docsUrl: string): Prepared {
  const fault = new Fault(
    'node_overloaded',
    'This node has no CPU time left and refuses part of its requests. Retry.',
    {
      retryAfterMs: RETRY_FROM_MS + step * RETRY_STEP_MS,
    },
  )
  const [before = '', after = ''] = faultBody(fault, NO_ID, docsUrl).split(NO_ID)
  return { status: fault.entry.status, headers: faultHeaders(fault, NO_ID), before, after }
}

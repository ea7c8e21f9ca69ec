/** Refuses requests before they are read while the process has no time for them: a refusal costs a small part of an answer. */
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
  /** Counted, not logged: a line for each would cost what was to be saved. */
  readonly refused: () => void
}

/** Spread, so that those who were refused together do not come back together. */
const RETRY_FROM_MS = 1000
const RETRY_STEP_MS = 100
const RETRY_STEPS = 20

/** An answer that lacks its request id alone: it is written thousands of times a second when time is scarce. */
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
      // A small body is thrown away by Node once this is out; a new connection would cost more than that.
      if (!isSmall(request)) response.setHeader('connection', 'close')
      // With its length, or it would be sent in chunks.
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

/** What fits into the packets that follow the headers. */
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

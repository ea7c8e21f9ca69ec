/** What a caller says in its headers, and the faults that every handler has in common. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '#core/fault/fault.ts'
import { faultBody, faultHeaders } from '../../faults.ts'
import { endUnread, isUnread } from '../../gate/unread.ts'

const POLICIES = ['refuse', 'drop'] as const
const SWITCHES = ['true', '1', 'false', '0'] as const
const YES: ReadonlySet<string | undefined> = new Set(['true', '1'])

export function unsupportedIn({ headers }: IncomingMessage): 'refuse' | 'drop' | undefined {
  return oneOf(headers['x-torana-unsupported'], 'x-torana-unsupported', POLICIES)
}

export function isDryRun({ headers }: IncomingMessage): boolean {
  return YES.has(oneOf(headers['x-torana-dry-run'], 'x-torana-dry-run', SWITCHES))
}

function oneOf<Value extends string>(
  header: string | string[] | undefined,
  name: string,
  values: readonly Value[],
): Value | undefined {
  if (header === undefined) return undefined
  const known = values.find((value) => value === header)
  if (known !== undefined) return known
  throw new Fault('invalid_parameter', `${name} must be one of: ${values.join(', ')}.`, { param: name })
}

export function singleOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

export function secondsOf(header: string | string[] | undefined): number | undefined {
  const seconds = Number(header)
  return header !== undefined && Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined
}

/** Only the beginning of a caller's text goes to the log. */
export function clientRequestId({ headers }: IncomingMessage): string | undefined {
  return singleOf(headers['x-client-request-id'] ?? headers['x-request-id'])?.slice(0, 128)
}

/**
 * While the body is still arriving, the connection ends with the answer: a refused sender could otherwise hold it for as long as the
 * largest body may take. Returns the bytes of the answer.
 */
export function writeFault(
  response: ServerResponse,
  fault: Fault,
  requestId: string,
  docsUrl: string,
): number {
  const { req: request } = response
  // The answer has begun and can only be cut, so that no client takes half of it for the whole.
  if (response.headersSent) {
    response.destroy()
    return 0
  }
  if (isUnread(request)) response.setHeader('connection', 'close')
  response.writeHead(fault.entry.status, faultHeaders(fault, requestId))
  const body = faultBody(fault, requestId, docsUrl)
  response.end(body)
  endUnread(request, response)
  return Buffer.byteLength(body)
}

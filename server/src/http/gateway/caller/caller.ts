/** What a caller says beside the body, and what every handler refuses or answers alike. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '#core/fault/fault.ts'
import { faultBody, faultHeaders } from '../../faults.ts'
import { endUnread, isUnread } from './unread.ts'

export function refuseCompressed({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (!encoding || encoding.toLowerCase() === 'identity') return
  throw new Fault(
    'unsupported_media_type',
    `The body is compressed (${encoding.slice(0, 40)}). Send it uncompressed.`,
  )
}

export function refuseEncoded(request: IncomingMessage): void {
  refuseCompressed(request)
  const type = request.headers['content-type']
  // What nearly every client sends; an empty header says as much as none.
  if (!type || type === 'application/json') return
  if (!isJson(type))
    throw new Fault(
      'unsupported_media_type',
      `The content type is '${type.slice(0, 80)}'. Send application/json.`,
    )
  refuseCharset(type)
}

export function isJson(contentType: string): boolean {
  return contentType.toLowerCase().includes('json')
}

/** Every text in ASCII is one in UTF-8. */
const CHARSETS: ReadonlySet<string | undefined> = new Set([undefined, 'utf-8', 'utf8', 'us-ascii', 'ascii'])

/** JSON is UTF-8. In another charset the same bytes are another text, which would be embedded and charged. */
export function refuseCharset(contentType: string): void {
  const [, charset] = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType) ?? []
  if (CHARSETS.has(charset?.toLowerCase())) return
  throw new Fault(
    'unsupported_media_type',
    `The content type names the charset '${charset?.slice(0, 40)}'. Send JSON in UTF-8.`,
  )
}

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

/** A caller's text goes to the log only in part. */
export function clientRequestId({ headers }: IncomingMessage): string | undefined {
  return singleOf(headers['x-client-request-id'] ?? headers['x-request-id'])?.slice(0, 128)
}

/**
 * While the body is still arriving, the connection ends with the answer: a sender that is refused could otherwise hold it for as
 * long as the largest body may take.
 */
export function writeFault(response: ServerResponse, fault: Fault, requestId: string, docsUrl: string): void {
  const { req: request } = response
  // The answer had begun: all that is left is to cut it, so that nobody takes half of it for the whole.
  if (response.headersSent) {
    response.destroy()
    return
  }
  if (isUnread(request)) response.setHeader('connection', 'close')
  response.writeHead(fault.entry.status, faultHeaders(fault, requestId))
  response.end(faultBody(fault, requestId, docsUrl))
  endUnread(request, response)
}

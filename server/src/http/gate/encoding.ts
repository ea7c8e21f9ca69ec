/** The encoding of a body: the node reads plain bytes, and JSON in UTF-8. */
import type { IncomingMessage } from 'node:http'
import { Fault } from '#core/fault/fault.ts'
import { named } from '#core/fault/shown.ts'

export function refuseCompressed({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (!encoding || encoding.toLowerCase() === 'identity') return
  throw new Fault(
    'unsupported_media_type',
    `The body is compressed (${named(encoding, 40)}). Send it uncompressed.`,
  )
}

export function refuseEncoded(request: IncomingMessage): void {
  refuseCompressed(request)
  const type = request.headers['content-type']
  // What nearly every client sends; an empty header equals a missing one.
  if (!type || type === 'application/json') return
  if (!isJson(type))
    throw new Fault(
      'unsupported_media_type',
      `The content type is ${named(type, 80)}. Send application/json.`,
    )
  refuseCharset(type)
}

export function isJson(contentType: string): boolean {
  return contentType.toLowerCase().includes('json')
}

/** Every ASCII text is also UTF-8. */
const CHARSETS: ReadonlySet<string | undefined> = new Set([undefined, 'utf-8', 'utf8', 'us-ascii', 'ascii'])

/** JSON is UTF-8. In another charset the same bytes are a different text, which would be embedded and charged. */
export function refuseCharset(contentType: string): void {
  const [, charset] = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType) ?? []
  if (CHARSETS.has(charset?.toLowerCase())) return
  throw new Fault(
    'unsupported_media_type',
    `The content type names the charset ${named(charset ?? '', 40)}. Send JSON in UTF-8.`,
  )
}

/** Bodies whose media become base64 while they are sent. */
import { hasAddress, isText, type Media, type MediaFormat, type Part } from '#core/content/content.ts'
import { isExactNumber } from '#core/text/exact-json.ts'
import type { StreamedBody } from '../connect/sent-body.ts'
import { joinedBody, type JsonPart } from '../openai/json-body.ts'

/** A string of a body that ends with the base64 of media. */
export class Base64 {
  readonly media: Media
  readonly before: string

  /** `before` needs no escape. */
  constructor(media: Media, before = '') {
    this.media = media
    this.before = before
  }
}

const MIME_TYPES: Readonly<Record<MediaFormat, string>> = {
  png: 'image/png',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  pdf: 'application/pdf',
}

export function mimeTypeOf({ format }: Media): string {
  return MIME_TYPES[format]
}

export function dataUrl(media: Media): Base64 {
  return new Base64(media, `data:${mimeTypeOf(media)};base64,`)
}

/** The text, address or data URL of a part, for wires that hold each in a string. */
export function stringOf(part: Part): string | Base64 {
  if (isText(part)) return part.text
  return hasAddress(part) ? part.address : dataUrl(part.media)
}

/** The body as text where it has no media: most calls of a deployment are texts. */
export function bodyOf(fields: Readonly<Record<string, unknown>>): string | StreamedBody {
  const [only = '', ...more] = jsonParts(fields)
  return more.length === 0 && typeof only === 'string' ? only : joinedBody([only, ...more])
}

export function jsonParts(value: unknown): readonly JsonPart[] {
  const parts: JsonPart[] = []
  let text = ''
  const write = (value: unknown): void => {
    if (value instanceof Base64) {
      const { media, before } = value
      parts.push(`${text}"${before}`, { size: media.size, open: () => media.open() })
      text = '"'
    } else if (Array.isArray(value)) {
      writeAll('[', value.entries(), ']')
    } else if (typeof value === 'object' && value !== null && !isExactNumber(value)) {
      const present = Object.entries(value).filter(([, field]) => field !== undefined)
      writeAll('{', present, '}')
    } else text += JSON.stringify(value)
  }
  const writeAll = (open: string, entries: Iterable<[string | number, unknown]>, close: string): void => {
    let before = open
    for (const [name, entry] of entries) {
      text += typeof name === 'string' ? `${before}${JSON.stringify(name)}:` : before
      write(entry)
      before = ','
    }
    text += before === open ? `${open}${close}` : close
  }
  write(value)
  return [...parts, text]
}

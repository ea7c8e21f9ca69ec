/** Contents: inputs of one or more parts, each content being one vector. */
import { createHash } from 'node:crypto'
import { bytesOfBase64, formatOfType, mediaOf, type Content, type MediaKind, type Part } from './media.ts'
import { tokensOf, vectorOf } from './vectors.ts'
import { isFields, Refusal, unknownFields, type Fields, type Question } from './wire.ts'

/** What the log says of a part: never its bytes. */
export type ContentNote =
  | { kind: 'text'; bytes: number; sha256: string }
  | { kind: MediaKind; format: string | null; bytes: number; sha256: string }
  | { kind: MediaKind; address: string }

export function contentNotes(contents: readonly Content[]): ContentNote[][] {
  return contents.map((content) => content.map(noteOf))
}

function noteOf(part: Part): ContentNote {
  if ('address' in part) return part
  if ('text' in part) {
    const sha256 = createHash('sha256').update(part.text).digest('hex')
    return { kind: 'text', bytes: Buffer.byteLength(part.text), sha256 }
  }
  const { format, bytes, sha256 } = part.media
  return { kind: part.kind, format, bytes, sha256 }
}

/**
 * What the vector of a content is made of: its texts, and the sums of its media, in their order. A content of texts alone is those
 * texts, so that it has the vector that the same text has on a wire that takes texts. `imageSpace` stands before the sum of an image.
 */
export function keyOf(content: Content, imageSpace = ''): string {
  const keys = content.map((part) => {
    if ('text' in part) return part.text
    const space = part.kind === 'image' ? imageSpace : ''
    return `\u0000${space}${'address' in part ? part.address : part.media.sha256}\u0000`
  })
  return keys.join('')
}

/** The oracle: the vector of parts as a caller has them: texts, bytes, and addresses that are passed on. */
export function contentVector(parts: readonly (string | Uint8Array | URL)[], width: number): Float32Array {
  const content = parts.map((part): Part => {
    if (typeof part === 'string') return { kind: 'text', text: part }
    if (part instanceof URL) return { kind: 'file', address: part.href }
    return { kind: 'file', media: mediaOf(Buffer.from(part)), declared: null }
  })
  return vectorOf(keyOf(content), width)
}

/** Tokens of one image or of one page, of one second of audio and of video: Gemini's counts. */
const mediaTokens = { image: 258, file: 258, audio: 32, video: 263 } as const

export function tokensOfPart(part: Part): number {
  if ('text' in part) return tokensOf(part.text)
  if ('address' in part) return mediaTokens[part.kind]
  const { seconds = 1, pages = 1 } = part.media
  const count = { image: 1, file: pages, audio: seconds, video: seconds }[part.kind]
  return mediaTokens[part.kind] * Math.max(1, Math.ceil(count))
}

/** Of a whole call, by kind; kinds that no part has are absent. */
export function tokensByKind(
  contents: readonly Content[],
  tokensOfOne = tokensOfPart,
): Partial<Record<Part['kind'], number>> {
  const counts: Partial<Record<Part['kind'], number>> = {}
  for (const part of contents.flat()) counts[part.kind] = (counts[part.kind] ?? 0) + tokensOfOne(part)
  return counts
}

/** A question whose inputs came as parts. */
export function contentsQuestion(
  { model, fields, contents }: { model: string; fields: Fields; contents: readonly Content[] },
  {
    known,
    tokensOfOne = tokensOfPart,
    ...rest
  }: { known: readonly string[]; tokensOfOne?: (part: Part) => number } & Partial<
    Pick<Question, 'inputType' | 'dimensions' | 'encoding'>
  >,
): Question {
  return {
    model,
    contents,
    texts: contents.map((content) => content.map((part) => ('text' in part ? part.text : '')).join('')),
    tokens: contents.map((content) => content.reduce((sum, part) => sum + tokensOfOne(part), 0)),
    tokenArrays: false,
    inputType: null,
    dimensions: null,
    encoding: null,
    unknownFields: unknownFields(fields, known),
    fields,
    ...rest,
  }
}

export function textPart(text: unknown, where: string): Part {
  if (typeof text !== 'string' || text === '')
    throw new Refusal(400, `'${where}' must be a non-empty string.`)
  return { kind: 'text', text }
}

/** Base64 alone, with the format that its caller declares beside it. */
export function inlineMedia(
  kind: MediaKind,
  base64: unknown,
  { where, declared = null }: { where: string; declared?: string | null },
): Part {
  const content = typeof base64 === 'string' ? bytesOfBase64(base64) : null
  if (content === null) throw new Refusal(400, `'${where}' is not valid base64.`)
  return { kind, media: mediaOf(content), declared: declared === null ? null : formatOfType(declared) }
}

export type Source = 'data-uri' | 'address' | 'base64'

const allSources: readonly Source[] = ['data-uri', 'address', 'base64']

/** A data URI, an address or base64 alone, as far as the wire takes them. */
export function mediaPart(
  kind: MediaKind,
  value: unknown,
  { where, sources = allSources }: { where: string; sources?: readonly Source[] },
): Part {
  if (typeof value !== 'string' || value === '') throw new Refusal(400, `'${where}' must be a string.`)
  if (/^(https?|gs|s3|oss):\/\//i.test(value)) {
    if (sources.includes('address')) return { kind, address: value }
    throw new Refusal(400, `'${where}' must be base64, not an address.`)
  }
  const [head, type] = /^data:([^;,]+)(?:;[^;,]*)*;base64,/i.exec(value.slice(0, 200)) ?? []
  if (head === undefined) {
    if (sources.includes('base64')) return inlineMedia(kind, value, { where })
    throw new Refusal(400, `'${where}' must be a data URI or an address.`)
  }
  if (!sources.includes('data-uri')) throw new Refusal(400, `'${where}' must not be a data URI.`)
  return inlineMedia(kind, value.slice(head.length), { where, declared: type ?? null })
}

/** A list of objects that is not empty. */
export function objectsField(fields: Fields, name: string): Fields[] {
  const value = fields[name]
  if (Array.isArray(value) && value.length > 0 && value.every(isFields)) return value
  throw new Refusal(400, `'${name}' must be a list of at least one object.`)
}

export function objectField(fields: Fields, name: string): Fields {
  const value = fields[name]
  if (isFields(value)) return value
  throw new Refusal(400, `'${name}' must be an object.`)
}

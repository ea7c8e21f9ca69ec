import { createHash } from 'node:crypto'
import type { Part } from '../form.ts'
import { maxKeptBytes } from '../inbox.ts'
import { bytesOfBase64 } from '../media.ts'
import { isFields, Refusal, type Fields } from '../wire.ts'

/** What of a mask says "edit this": pixels that are transparent, white, or black. */
export type Polarity = 'alpha' | 'white' | 'black'

/** The pictures that came with a question. */
export type Given = {
  /** All of them, as they came. */
  parts: Part[]
  /** What is to be edited; the mask belongs to the first. */
  images: Part[]
  mask: Part | null
  polarity: Polarity
}

/** What the log says of a file. */
export type PartNote = Omit<Part, 'content'>

export function partNoteOf({ name, filename, type, bytes, sha256, url }: Part): PartNote {
  return { name, filename, type, bytes, sha256, ...(url === undefined ? {} : { url }) }
}

/** Undefined for a question in words alone. */
export function givenOf(
  images: readonly (Part | null)[],
  mask: { part: Part | null; polarity: Polarity } = { part: null, polarity: 'alpha' },
): { given?: Given } {
  const pictures = images.filter((part) => part !== null)
  const parts = mask.part === null ? pictures : [...pictures, mask.part]
  if (parts.length === 0) return {}
  return { given: { parts: bounded(parts), images: pictures, mask: mask.part, polarity: mask.polarity } }
}

/** Of too many bytes none are kept, whatever the form in which they came. */
export function bounded(parts: Part[]): Part[] {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  if (bytes > maxKeptBytes) for (const part of parts) part.content = null
  return parts
}

/** A picture in a field of a JSON body; null when the field is not there. `within` is the path to the fields. */
export function pictureField(
  fields: Fields,
  name: string,
  forms: { base64?: boolean; within?: string } = {},
): Part | null {
  const value = fields[name] ?? null
  return value === null ? null : pictureOf(value, `${forms.within ?? ''}${name}`, forms)
}

/** A list of pictures in a field of a JSON body. */
export function pictureList(
  fields: Fields,
  name: string,
  forms: { base64?: boolean; key?: string; within?: string } = {},
): Part[] {
  const list = fields[name] ?? []
  if (!Array.isArray(list)) throw new Refusal(400, `'${name}' must be a list.`, { param: name })
  return list.map((item: unknown, position) => {
    const value = forms.key === undefined || !isFields(item) ? item : item[forms.key]
    return pictureOf(value, `${forms.within ?? ''}${name}/${position}`, forms)
  })
}

/** A data URL, an address, or base64 alone where the wire takes it so. */
export function pictureOf(value: unknown, name: string, { base64 = false } = {}): Part {
  if (typeof value !== 'string' || value === '') throw unreadable(name)
  if (/^https?:\/\//i.test(value)) {
    return { name, filename: null, type: null, bytes: 0, sha256: null, url: value, content: null }
  }
  const comma = value.indexOf(',')
  const [, type] = /^data:([^;,]*)(?:;[^;,]*)*;base64$/i.exec(value.slice(0, Math.max(0, comma))) ?? []
  if (type === undefined && !base64) throw unreadable(name)
  return inlinePart(
    name,
    type === undefined || type === '' ? null : type,
    value.slice(type === undefined ? 0 : comma + 1),
  )
}

export function inlinePart(name: string, type: string | null, base64: string): Part {
  const content = bytesOfBase64(base64)
  if (content === null) throw unreadable(name)
  const sha256 = createHash('sha256').update(content).digest('hex')
  return { name, filename: null, type, bytes: content.length, sha256, content }
}

function unreadable(name: string): Refusal {
  return new Refusal(400, `Invalid '${name}': expected a picture as base64 or an http(s) address.`, {
    code: 'invalid_value',
    param: name,
  })
}

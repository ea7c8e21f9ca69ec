/**
 * Contents in all the forms in which clients send them (docs/embed-images.md). The documented one is `{content: [parts]}`; the
 * others say the same in the words of one provider, and none of them needs a guess.
 */
import { isRecord } from '../text/record.ts'
import { onlyTextOf, type Content, type Media, type MediaKind, type Part } from '../content/content.ts'
import { nameOf, type Place } from '../content/place.ts'
import { Fault, type FaultCode } from '../fault/fault.ts'
import { named } from '../fault/shown.ts'
import { readPlainText, type Input } from './input.ts'
import { PART_READERS, SHORT_NAMES, type SourceReader } from './part-forms.ts'

/** The media that were taken out of the body, by place: `input/0/content/1/image_url/url`. */
export type MediaAt = (place: string) => Media | undefined

/** Parts of one content: a document of sixty pages with an image on each. More is a corpus, and needs several vectors. */
const MAX_PARTS = 64

type Fields = Readonly<Record<string, unknown>>

const FORMS =
  'Send a string, or {"content": [{"type": "text", "text": …}, {"type": "image_url", "image_url": {"url": "data:…"}}]}.'

/** Whether the body asks for vectors of more than texts or token ids, as far as its form says. */
export function holdsContents(body: Fields): boolean {
  const { input, inputs, messages, modality } = body
  if (isGiven(inputs) || isGiven(messages) || (isGiven(modality) && modality !== 'text')) return true
  if (!Array.isArray(input)) return isRecord(input) && !ArrayBuffer.isView(input)
  const entries: readonly unknown[] = input
  // Token ids may be a million, and large bodies bring them packed.
  if (typeof entries[0] === 'number' || Array.isArray(entries[0]) || ArrayBuffer.isView(entries[0]))
    return false
  return entries.some(isRecord)
}

/** Fields of a body that are forms of `input`. */
export const INPUT_FIELDS: readonly string[] = ['input', 'inputs', 'messages', 'modality']

/** Throws a fault. Contents that are texts alone are texts: every model reads those. */
export function readContents(body: Fields, maxInputs: number, mediaAt: MediaAt): Input {
  const reader = new ContentReader(mediaAt)
  const contents = reader.read(body, maxInputs)
  const texts = contents.map(onlyTextOf)
  return texts.every((text) => text !== undefined) ? { kind: 'texts', texts } : { kind: 'contents', contents }
}

class ContentReader {
  readonly #mediaAt: MediaAt

  constructor(mediaAt: MediaAt) {
    this.#mediaAt = mediaAt
  }

  read({ input, inputs, messages, modality }: Fields, maxInputs: number): readonly Content[] {
    // Media as the whole input were taken out of the body.
    const isMedia = this.#mediaAt('input') !== undefined
    const given = [isMedia || input, inputs, messages].filter(isGiven).length
    if (given > 1) throw invalidInput('input', 'Send one of input, inputs and messages, not several.')
    if (given === 0) throw refused('missing_parameter', 'input', `input is missing. ${FORMS}`)
    if (isGiven(messages)) return [this.#conversation(messages)]
    const [field, value] = isGiven(inputs) ? (['inputs', inputs] as const) : (['input', input] as const)
    const entries: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (entries.length === 0)
      throw refused('empty_input', field, `${field} is an empty array. Send at least one text or content.`)
    if (entries.length > maxInputs)
      throw refused(
        'too_many_inputs',
        field,
        `${field} has ${entries.length} entries; one request may have ${maxInputs}. Send several requests.`,
      )
    const kind = isGiven(modality) ? modalityOf(modality) : undefined
    return entries.map((entry, index) => {
      const at = Array.isArray(value) ? [field, index] : [field]
      return kind === undefined ? this.#entry(entry, at) : { parts: [this.#ofModality(kind, entry, at)] }
    })
  }

  /** One message makes one vector. Several have roles, which no other wire knows. */
  #conversation(messages: unknown): Content {
    const [only, ...others] = Array.isArray(messages) ? (messages as unknown[]) : []
    if (others.length > 0 || !isRecord(only))
      throw invalidInput(
        'messages',
        'messages must have exactly one message, {"role": "user", "content": […]}: it makes one vector. For several vectors, send input.',
      )
    return this.#entry(only, ['messages', 0])
  }

  #entry(entry: unknown, at: Place): Content {
    if (typeof entry === 'string')
      return { parts: [{ kind: 'text', text: readPlainText(entry, nameOf(at)) }] }
    if (!isRecord(entry)) {
      if (this.#mediaAt(at.join('/')) !== undefined)
        throw refused('ambiguous_input', nameOf(at), ambiguousWords(nameOf(at)))
      throw invalidInput(nameOf(at), `${nameOf(at)} is neither a string nor an object. ${FORMS}`)
    }
    if ('content' in entry) return this.#content(entry, at)
    if (typeof entry['type'] === 'string') return { parts: [this.#part(entry, at)] }
    return this.#named(entry, at)
  }

  #content({ content, role, ...others }: Fields, at: Place): Content {
    const [stranger] = Object.keys(others)
    if (stranger !== undefined) throw unknownField(at, stranger)
    if (isGiven(role) && role !== 'user')
      throw invalidInput(nameOf(at), `${nameOf(at)}.role is not 'user'. Send the message of the user alone.`)
    if (typeof content === 'string')
      return { parts: [{ kind: 'text', text: readPlainText(content, `${nameOf(at)}.content`) }] }
    if (!Array.isArray(content) || content.length === 0)
      throw invalidInput(`${nameOf(at)}.content`, `${nameOf(at)}.content is not a list of parts. ${FORMS}`)
    if (content.length > MAX_PARTS)
      throw refused(
        'too_many_parts',
        `${nameOf(at)}.content`,
        `${nameOf(at)}.content has ${content.length} parts; one vector may be made of ${MAX_PARTS}.`,
      )
    return { parts: content.map((part: unknown, index) => this.#part(part, [...at, 'content', index])) }
  }

  #part(part: unknown, at: Place): Part {
    if (typeof part === 'string') return { kind: 'text', text: readPlainText(part, nameOf(at)) }
    if (!isRecord(part)) throw invalidInput(nameOf(at), `${nameOf(at)} is not a part. ${FORMS}`)
    const { type, ...fields } = part
    const form =
      typeof type === 'string' && Object.hasOwn(PART_READERS, type) ? PART_READERS[type] : undefined
    if (form === undefined) {
      const known = Object.keys(PART_READERS).join(', ')
      throw invalidInput(nameOf(at), `${nameOf(at)} has a type that Torana does not know. It knows ${known}.`)
    }
    return this.#formed(form, fields, at)
  }

  /** `{text}`, `{image}`, `{pdf}`…: each field is a part, in their order. */
  #named(entry: Fields, at: Place): Content {
    const names = Object.keys(entry)
    if (names.length === 0) throw invalidInput(nameOf(at), `${nameOf(at)} is an empty object. ${FORMS}`)
    return {
      parts: names.map((name) => {
        const form = Object.hasOwn(SHORT_NAMES, name) ? SHORT_NAMES[name] : undefined
        if (form === undefined) throw unknownField(at, name)
        return this.#formed(form, { [name]: entry[name] }, at)
      }),
    }
  }

  #formed({ field, kind, ignored }: SourceReader, fields: Fields, at: Place): Part {
    const stranger = Object.keys(fields).find((name) => name !== field && !ignored.includes(name))
    if (stranger !== undefined) throw unknownField(at, stranger)
    const value = fields[field]
    if (kind === 'text') {
      if (typeof value !== 'string') throw invalidInput(nameOf(at), `${nameOf(at)}.${field} is not a string.`)
      return { kind, text: readPlainText(value, nameOf(at), false) }
    }
    return this.#source(kind, value, [...at, field], at)
  }

  /** A data URL, base64, an address, or an object that holds one of them. */
  #source(kind: MediaKind | 'any', value: unknown, place: Place, at: Place): Part {
    if (isRecord(value)) {
      const isThere = (name: string): boolean =>
        isGiven(value[name]) || this.#mediaAt([...place, name].join('/')) !== undefined
      const inner = Object.keys(value).filter((name) => isThere(name) && !DESCRIBING.has(name))
      const [name] = inner
      const stranger = inner.find((one) => !HOLDING.has(one))
      if (stranger !== undefined) throw unknownField(at, stranger)
      if (name === undefined || inner.length > 1)
        throw invalidInput(
          nameOf(at),
          `${nameOf(place)} must hold its data once: as url, or as data in base64.`,
        )
      return this.#source(kind, value[name], [...place, name], at)
    }
    const media = this.#mediaAt(place.join('/'))
    if (media !== undefined) return taken(kind, media, at)
    if (typeof value === 'string' && ADDRESS.test(value) && value.length <= MAX_ADDRESS_LENGTH)
      return { kind: kind === 'any' ? 'file' : kind, address: value }
    throw invalidInput(
      nameOf(at),
      `${nameOf(at)} is neither a data URL in base64 (data:image/png;base64,…) nor an https address of at most ${MAX_ADDRESS_LENGTH} characters.`,
    )
  }

  #ofModality(kind: MediaKind, entry: unknown, at: Place): Part {
    return this.#source(kind, entry, at, at)
  }
}

/** The longest address that common servers accept. */
const MAX_ADDRESS_LENGTH = 8192
const ADDRESS = /^(?:https?|gs|s3):\/\//i

/** Names under which an object holds data or an address, and names that only describe them. */
const HOLDING: ReadonlySet<string> = new Set(['url', 'data', 'bytes', 'file_data', 'uri'])
const DESCRIBING: ReadonlySet<string> = new Set(['format', 'filename', 'mime_type', 'media_type', 'mimeType'])

function taken(kind: MediaKind | 'any', media: Media, at: Place): Part {
  if (kind !== 'any' && kind !== media.kind)
    throw refused(
      'invalid_media',
      nameOf(at),
      `${nameOf(at)} is declared as ${kind}, and its bytes are ${media.format.toUpperCase()}, ${media.kind}. Declare what it is.`,
    )
  return { kind: media.kind, media }
}

function modalityOf(modality: unknown): MediaKind {
  if (modality === 'image' || modality === 'audio' || modality === 'video') return modality
  throw refused('invalid_parameter', 'modality', "modality must be 'text', 'image', 'audio' or 'video'.")
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function refused(code: FaultCode, param: string, message: string): Fault {
  return new Fault(code, message, { param })
}

function invalidInput(param: string, message: string): Fault {
  return refused('invalid_input', param, message)
}

function unknownField(at: Place, field: string): Fault {
  return invalidInput(
    nameOf(at),
    `${nameOf(at)} has a field ${named(field, 80)} that Torana does not know. It may change the vector: remove it.`,
  )
}

function ambiguousWords(name: string): string {
  return `${name} is a data URI as a string, and a string is a text to Torana. Send {"content": [{"type": "image_url", "image_url": {"url": "data:…"}}]}.`
}

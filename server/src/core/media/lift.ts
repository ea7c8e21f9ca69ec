/** Lifts the files out of a parsed body: their texts can be freed, and what remains is small. */
import { holdsContents } from '../embedding/read-contents.ts'
import type { ContentsBounds, JsonBounds } from '../text/json-bounds.ts'
import { JsonRefused, JsonTooLong } from '../text/json-refused.ts'
import { isRecord } from '../text/record.ts'

export interface LiftedFile {
  /** Names and positions from the outside in, joined by `/`: `images/0/image_url`. In a name, `~` is `~0` and `/` is `~1`. */
  readonly place: string
  /** Undefined when it is not base64. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined
}

export interface Lifted {
  /** The body, with null in place of each file. */
  readonly value: unknown
  readonly files: readonly LiftedFile[]
  /** Characters of names and texts that are left. */
  readonly characters: number
}

/** OpenAI takes 16 images and a mask. A client that sends a few more still reaches the check that reports them. */
const MAX_EDIT_FILES = 64
/**
 * Characters of names and texts beside the images of an edit: as much as in a request without images. The longest prompts
 * have 32,000.
 */
const MAX_EDIT_CHARACTERS = 1024 * 1024
/** Characters before the comma of a data URL. No client sends more about a file. */
const MAX_HEADER_CHARACTERS = 1000

/** The body of an edit without its files: every data URL in base64, wherever it is. */
export function liftImages(body: unknown): Lifted {
  return lifted(body, {
    maxFiles: MAX_EDIT_FILES,
    maxCharacters: MAX_EDIT_CHARACTERS,
    startOf: base64Start,
    tooLong: () =>
      new JsonRefused(
        `It has more than ${MAX_EDIT_CHARACTERS} characters beside its images, which are data URLs in base64.`,
      ),
  })
}

/** Fields of a body in which media are. */
const CONTENT_FIELDS: ReadonlySet<string> = new Set(['input', 'inputs', 'messages'])
const INPUT: ReadonlySet<string> = new Set(['input'])

/** Fields whose numbers need no exact form, since no upstream gets them as they came. */
export function inputFields({ contents }: JsonBounds): ReadonlySet<string> {
  return contents === undefined ? INPUT : CONTENT_FIELDS
}

/**
 * The media of a body of `bytes` bytes. Undefined for one without contents, which is left as it is. Texts stay texts: a data URL
 * in a place for a text is the caller's mistake, which is reported where the text is read.
 */
export function liftMedia(body: unknown, bytes: number, bounds: ContentsBounds): Lifted | undefined {
  const { maxTextBytes, maxFiles } = bounds
  if (!isRecord(body) || !holdsContents(body)) {
    if (bytes > maxTextBytes) throw longBody(maxTextBytes)
    return undefined
  }
  const textNames = 'modality' in body ? TEXT_NAMES : new Set([...TEXT_NAMES, ...LIST_NAMES])
  return lifted(body, {
    maxFiles,
    maxCharacters: maxTextBytes,
    startOf: (text, names) =>
      CONTENT_FIELDS.has(names[0] ?? '') && !textNames.has(names.at(-1) ?? '')
        ? mediaStart(text, names)
        : undefined,
    tooLong: () =>
      new JsonTooLong(
        `The body has more than ${maxTextBytes} characters beside its media, which are data URLs or texts in base64. ${ADVICE}`,
      ),
  })
}

const ADVICE = 'Send the inputs in several requests.'

export function longBody(maxTextBytes: number): JsonTooLong {
  return new JsonTooLong(`The body is larger than ${maxTextBytes} bytes. ${ADVICE}`)
}

const TEXT_NAMES: ReadonlySet<string> = new Set(['text'])
/** Lists and fields whose strings are texts, unless the body says otherwise by its modality. */
const LIST_NAMES: readonly string[] = ['input', 'inputs', 'messages', 'content']
/** Fields that hold media in base64 without the start of a data URL. */
const MEDIA_NAMES: ReadonlySet<string> = new Set([
  'image',
  'audio',
  'video',
  'pdf',
  'bytes',
  'image_base64',
  'video_base64',
  'audio_base64',
  'file_data',
])
/** Objects whose `data` is such a field. */
const DATA_PARENTS: ReadonlySet<string> = new Set([
  'input_audio',
  'input_video',
  'input_file',
  'image',
  'audio',
  'video',
  'file',
])
/** Beginnings of addresses, in the places of media. */
const ADDRESSES: readonly string[] = ['http://', 'https://', 'gs://', 's3://']
const LONGEST_ADDRESS_START = 8

function mediaStart(text: string, names: readonly string[]): number | undefined {
  const start = base64Start(text)
  if (start !== undefined) return start
  const [name = '', parent = ''] = [names.at(-1), names.at(-2)]
  if (!MEDIA_NAMES.has(name) && !(name === 'data' && DATA_PARENTS.has(parent))) return undefined
  const beginning = text.slice(0, LONGEST_ADDRESS_START).toLowerCase()
  return ADDRESSES.some((address) => beginning.startsWith(address)) ? undefined : 0
}

interface Rules {
  readonly maxFiles: number
  readonly maxCharacters: number
  /** Where the base64 of a file begins in a text. Undefined: it is no file. `names` are those of the fields it is in, from the outside in. */
  readonly startOf: (text: string, names: readonly string[]) => number | undefined
  readonly tooLong: () => JsonRefused
}

function lifted(body: unknown, rules: Rules): Lifted {
  const lifting = new Lifting(rules)
  const value = lifting.without(body, [], [])
  return { value, files: lifting.files, characters: lifting.characters }
}

class Lifting {
  readonly files: LiftedFile[] = []
  characters = 0
  readonly #rules: Rules

  constructor(rules: Rules) {
    this.#rules = rules
  }

  /** Replaces each file with null immediately: its text can be freed while the next is decoded. */
  without(value: unknown, place: readonly string[], names: readonly string[]): unknown {
    if (typeof value === 'string') return this.#text(value, place, names)
    if (typeof value !== 'object' || value === null) return value
    const fields = value as Record<string, unknown>
    // An entry has the name of its list.
    const isList = Array.isArray(value)
    for (const name of Object.keys(fields)) {
      this.#count(name)
      const inner = [...place, name.replaceAll('~', '~0').replaceAll('/', '~1')]
      fields[name] = this.without(fields[name], inner, isList ? names : [...names, name])
    }
    return value
  }

  #text(text: string, place: readonly string[], names: readonly string[]): string | null {
    const { startOf, maxFiles } = this.#rules
    const start = startOf(text, names)
    if (start === undefined) {
      this.#count(text)
      return text
    }
    if (this.files.length === maxFiles) throw new JsonRefused(`It has more than ${maxFiles} files.`)
    this.files.push({ place: place.join('/'), bytes: decoded(text.slice(start)) })
    return null
  }

  #count(text: string): void {
    this.characters += text.length
    if (this.characters > this.#rules.maxCharacters) throw this.#rules.tooLong()
  }
}

/**
 * Where the data of a data URL in base64 begins: after the first comma, by the standard. Without regular
 * expressions: they keep the last matched text in memory.
 */
function base64Start(text: string): number | undefined {
  if (text.slice(0, 5).toLowerCase() !== 'data:') return undefined
  const comma = text.indexOf(',')
  if (comma < 0 || comma > MAX_HEADER_CHARACTERS) return undefined
  const semicolon = text.lastIndexOf(';', comma)
  if (semicolon < 0) return undefined
  const encoding = text
    .slice(semicolon + 1, comma)
    .trim()
    .toLowerCase()
  return encoding === 'base64' ? comma + 1 : undefined
}

/** Python's `encodebytes`, `openssl` and mail programs break base64 into lines. */
const LINE_BREAKS = /[\r\n]+/g

/**
 * Decodes base64 with or without padding and line breaks, but not its form for URLs: the standard allows only
 * `+` and `/` in data URLs, so an upstream would refuse the other form.
 */
function decoded(data: string): Uint8Array<ArrayBuffer> | undefined {
  const text = data.includes('\n') || data.includes('\r') ? data.replaceAll(LINE_BREAKS, '') : data
  let bytes
  try {
    bytes = Uint8Array.fromBase64(text)
  } catch {
    return undefined
  }
  const characters = text.length - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)
  // The decoder skips other white space as well. The text then has a length that no base64 has, or space for
  // more bytes than came out.
  return characters % 4 !== 1 && bytes.length === Math.floor((characters * 3) / 4) ? bytes : undefined
}

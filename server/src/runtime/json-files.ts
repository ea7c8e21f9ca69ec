import { boundsOf } from '#core/text/json-bounds.ts'
import { JsonRefused, type LiftedFile } from '#ports/json.ts'
import { parsedText, type JsonText } from './json-text.ts'

const BOUNDS = boundsOf(undefined)
/** Fields that contain files. Their base64 looks like numbers. */
const PICTURES: ReadonlySet<string> = new Set(['images', 'mask', 'markup'])
/**
 * Characters of names and texts other than files: as much as in a request without images. The longest prompts
 * have 32,000.
 */
const MAX_CHARACTERS = 1024 * 1024
/** OpenAI takes 16 images and a mask. A client that sends a few more still reaches the check that reports them. */
const MAX_FILES = 64
/** Characters before the comma of a data URL. No client sends more about an image. */
const MAX_HEADER_CHARACTERS = 1000

export interface JsonWithFiles extends JsonText {
  readonly files: readonly LiftedFile[]
}

export function parsedWithFiles(bytes: Buffer): JsonWithFiles {
  const { value, exactTexts } = parsedText(bytes, BOUNDS, PICTURES)
  const tally: Tally = { files: [], characters: 0 }
  return { value: lifted(value, [], tally), files: tally.files, exactTexts }
}

interface Tally {
  readonly files: LiftedFile[]
  characters: number
}

/** Replaces each file with null immediately: its text can be freed while the next is decoded. */
function lifted(value: unknown, place: readonly string[], tally: Tally): unknown {
  if (typeof value === 'string') return liftedText(value, place, tally)
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string, unknown>
  for (const name of Object.keys(fields)) {
    count(name, tally)
    const inner = [...place, name.replaceAll('~', '~0').replaceAll('/', '~1')]
    fields[name] = lifted(fields[name], inner, tally)
  }
  return value
}

function liftedText(text: string, place: readonly string[], tally: Tally): string | null {
  const start = base64Start(text)
  if (start === undefined) {
    count(text, tally)
    return text
  }
  if (tally.files.length === MAX_FILES) throw new JsonRefused(`It has more than ${MAX_FILES} files.`)
  tally.files.push({ place: place.join('/'), bytes: decoded(text.slice(start)) })
  return null
}

function count(text: string, tally: Tally): void {
  tally.characters += text.length
  if (tally.characters > MAX_CHARACTERS)
    throw new JsonRefused(
      `It has more than ${MAX_CHARACTERS} characters beside its images, which are data URLs in base64.`,
    )
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

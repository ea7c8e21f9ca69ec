/**
 * Bounds on the JSON of a request, checked in one pass over its bytes before anything is parsed: small values take a
 * hundred times their size in memory, and many fields or levels take seconds to parse and to copy. Invalid JSON may be
 * counted wrongly where the parser stops; up to there, every count is exact.
 */
export interface JsonBounds {
  /** Requests need three levels. Each is a level of recursion for code that copies or writes the value later. */
  readonly maxDepth: number
  /** Top-level fields. Requests of every kind have at most two dozen; a form may have as many. */
  readonly maxFields: number
  /** All values, the body itself included. Requests need a hundred; ten thousand take some milliseconds. */
  readonly maxValues: number
  /**
   * Texts and lists that the field `input` may hold beside the other values, and any amount of numbers, which are packed
   * instead of copied. Undefined: this kind of body has no such field.
   */
  readonly maxInputs: number | undefined
  /** Nesting depth of `input`. Default 1: in the body itself. */
  readonly inputDepth?: number | undefined
  /** Bounds on contents with media. Undefined: this kind of body has none. */
  readonly contents?: ContentsBounds | undefined
}

export interface ContentsBounds {
  /** Bytes of a body without media, and characters beside media. */
  readonly maxTextBytes: number
  readonly maxFiles: number
}

const BODY_BOUNDS = { maxDepth: 32, maxFields: 64, maxValues: 10_000 } as const

export function boundsOf(maxInputs: number | undefined): JsonBounds {
  return { ...BODY_BOUNDS, maxInputs }
}

/** Values of a content with one image: an object and a list around it, the part, its type, and the image in two levels. */
const VALUES_PER_CONTENT = 6

/** The same for a body that may have contents: as many as texts. */
export function contentBoundsOf(maxInputs: number, contents: ContentsBounds): JsonBounds {
  const maxValues = BODY_BOUNDS.maxValues + maxInputs * VALUES_PER_CONTENT
  return { ...BODY_BOUNDS, maxValues, maxInputs, contents }
}

/** The same for a body that is longer than token ids may be: its numbers are counted as its other values are. */
export function withCountedNumbers(bounds: JsonBounds): JsonBounds {
  return { ...bounds, maxValues: bounds.maxValues + (bounds.maxInputs ?? 0), maxInputs: undefined }
}

const SPACE = 0
const COMMA = 1
const NUMBER = 2
const QUOTE = 3
const COLON = 4
const OPEN = 5
const CLOSE = 6
const OTHER = 7
const OBJECT_BYTE = 0x7b
const QUOTE_BYTE = 0x22
const BACKSLASH_BYTE = 0x5c

/** By byte: what it begins outside of texts. */
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  if (' \t\r\n'.includes(character)) return SPACE
  if (character === '"') return QUOTE
  if ('[{'.includes(character)) return OPEN
  if (']}'.includes(character)) return CLOSE
  if (character === ',') return COMMA
  if (character === ':') return COLON
  return '-0123456789'.includes(character) ? NUMBER : OTHER
})

export interface JsonScan {
  /** The bound that the body exceeds, as a sentence that repeats nothing of the body. Undefined: none. */
  readonly excess: string | undefined
  /** Whether a number beside `input` has a form that JavaScript may write differently. */
  readonly mayRound: boolean
}

const PLAIN: JsonScan = { excess: undefined, mayRound: false }
const MAY_ROUND: JsonScan = { excess: undefined, mayRound: true }

/** Integers of up to this many digits are always written as they came. */
const SAFE_DIGITS = 15

export function scanJson(bytes: Uint8Array, bounds: JsonBounds): JsonScan {
  const { maxDepth, maxFields, maxValues, maxInputs, inputDepth = 1 } = bounds
  const mostValues = maxValues + (maxInputs ?? 0)
  let [depth, fields, values] = [0, 0, 0]
  /** One bit for each level, the innermost last: 1 for an object. */
  let objects = 0
  /** Whether a value begins next. Otherwise a text is a name. */
  let expectsValue = true
  let isInput = false
  let mayRound = false
  const texts = new TextEnds(bytes)
  for (let at = 0; at < bytes.length; at += 1) {
    const kind = KINDS[bytes[at] as number]
    if (kind === SPACE) continue
    if (kind === COMMA) {
      expectsValue = (objects & 1) === 0
      continue
    }
    if (kind === COLON) {
      expectsValue = true
      continue
    }
    if (kind === CLOSE) {
      depth -= 1
      objects >>>= 1
      expectsValue = false
      continue
    }
    const start = at
    if (kind === QUOTE) at = texts.after(at + 1)
    // The other digits, in a separate loop: bodies of token ids are mostly digits.
    else if (kind === NUMBER) while (KINDS[bytes[at + 1] as number] === NUMBER) at += 1
    if (expectsValue) {
      expectsValue = false
      if (kind === NUMBER) {
        if (isInput) continue
        mayRound ||= at - start >= SAFE_DIGITS || isFraction(bytes[at + 1])
      }
      values += 1
      if (values > mostValues) return exceeding(tooManyValues(bounds))
      if (kind !== OPEN) continue
      depth += 1
      if (depth > maxDepth) return exceeding(`It is nested deeper than ${maxDepth} levels.`)
      const isObject = bytes[at] === OBJECT_BYTE
      objects = (objects << 1) | Number(isObject)
      expectsValue = !isObject
    } else if (kind === QUOTE && depth <= inputDepth) {
      if (depth === 1) fields += 1
      if (fields > maxFields) return exceeding(`It has more than ${maxFields} fields.`)
      isInput = depth === inputDepth && maxInputs !== undefined && isNamedInput(bytes, start, at)
    }
  }
  return mayRound ? MAY_ROUND : PLAIN
}

function exceeding(excess: string): JsonScan {
  return { excess, mayRound: false }
}

const POINT_BYTE = 0x2e
const CAPITAL_E_BYTE = 0x45
const SMALL_E_BYTE = 0x65

/** Whether a number continues after its digits, with a fraction or an exponent. */
function isFraction(next: number | undefined): boolean {
  return next === POINT_BYTE || next === SMALL_E_BYTE || next === CAPITAL_E_BYTE
}

function tooManyValues({ maxValues, maxInputs }: JsonBounds): string {
  const beside = maxInputs === undefined ? '' : ` beside the ${maxInputs} texts or lists that input may have`
  return `It has more than ${maxValues} values${beside}.`
}

/** Up to here a loop is faster than a search. */
const SHORT_TEXT_BYTES = 32

/**
 * Finds the ends of texts. Most of a body is text: it is searched instead of walked, and results ahead are remembered, so
 * that no byte is searched twice.
 */
class TextEnds {
  readonly #bytes: Uint8Array
  #nextQuote = -1
  #nextBackslash = -1

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The position of the closing quote, or the end of the bytes. */
  after(start: number): number {
    const bytes = this.#bytes
    let at = start
    for (;;) {
      const soon = Math.min(at + SHORT_TEXT_BYTES, bytes.length)
      for (; at < soon; at += 1) {
        const byte = bytes[at]
        if (byte === QUOTE_BYTE) return at
        if (byte === BACKSLASH_BYTE) at += 1
      }
      if (at >= bytes.length) return bytes.length
      if (this.#nextQuote < at) this.#nextQuote = placeOf(QUOTE_BYTE, bytes, at)
      if (this.#nextBackslash < at) this.#nextBackslash = placeOf(BACKSLASH_BYTE, bytes, at)
      if (this.#nextQuote <= this.#nextBackslash) return this.#nextQuote
      at = this.#nextBackslash + 2
    }
  }
}

function placeOf(byte: number, bytes: Uint8Array, from: number): number {
  const place = bytes.indexOf(byte, from)
  return place === -1 ? bytes.length : place
}

const INPUT = 'input'
const INPUT_BYTES = Uint8Array.from(INPUT, (letter) => letter.charCodeAt(0))
/** Each letter may be written as `\u0069`. */
const MAX_WRITTEN_LENGTH = INPUT.length * 6

function isNamedInput(bytes: Uint8Array, open: number, close: number): boolean {
  const length = close - open - 1
  if (length === INPUT.length) return INPUT_BYTES.every((byte, at) => bytes[open + 1 + at] === byte)
  if (length < INPUT.length || length > MAX_WRITTEN_LENGTH) return false
  // Few names have a backslash, and decoding a name takes longer than looking for one.
  if (!hasBackslash(bytes, open + 1, close)) return false
  const written = String.fromCharCode(...bytes.subarray(open + 1, close))
  try {
    return JSON.parse(`"${written}"`) === INPUT
  } catch {
    return false
  }
}

function hasBackslash(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH_BYTE) return true
  return false
}

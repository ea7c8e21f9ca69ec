/**
 * What the JSON of a request may be made of, found in one pass over its bytes before anything is parsed: small values take a
 * hundred times their size in memory, and many fields or levels take seconds to parse and to copy. What is not JSON may be
 * counted wrongly where the parser stops; up to there, every count is exact.
 */
export interface JsonBounds {
  /** Requests need three. Each level is a level of recursion for whatever copies or writes the value later. */
  readonly maxDepth: number
  /** Of the body itself. Requests of every kind have at most two dozen; a form may have as many. */
  readonly maxFields: number
  /** In all, the body itself included. Requests need a hundred; ten thousand take some milliseconds. */
  readonly maxValues: number
  /**
   * The field `input` alone may hold more: so many texts and lists beside the other values, and any amount of numbers, which
   * are packed instead of copied. Undefined: this kind of body has no such field.
   */
  readonly maxInputs: number | undefined
}

const BODY_BOUNDS = { maxDepth: 32, maxFields: 64, maxValues: 10_000 } as const

export function boundsOf(maxInputs: number | undefined): JsonBounds {
  return { ...BODY_BOUNDS, maxInputs }
}

const [OTHER, SPACE, QUOTE, OPEN, CLOSE, COMMA, COLON, NUMBER] = [0, 1, 2, 3, 4, 5, 6, 7] as const
const OBJECT_BYTE = 0x7b
const QUOTE_BYTE = 0x22
const BACKSLASH_BYTE = 0x5c
const I_BYTE = 0x69

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

/** Which bound the body exceeds, as a sentence that holds nothing of the body. Undefined: none. */
export function excessIn(bytes: Uint8Array, bounds: JsonBounds): string | undefined {
  const { maxDepth, maxFields, maxValues, maxInputs } = bounds
  const mostValues = maxValues + (maxInputs ?? 0)
  let [depth, fields, values] = [0, 0, 0]
  /** One bit for each level, the innermost last: 1 for an object. */
  let objects = 0
  /** Whether what begins next is a value. A text that is none is a name. */
  let expectsValue = true
  let isInput = false
  const texts = new TextEnds(bytes)
  for (let at = 0; at < bytes.length; at += 1) {
    switch (KINDS[bytes[at] as number]) {
      case QUOTE: {
        const end = texts.after(at + 1)
        if (expectsValue) {
          values += 1
          expectsValue = false
        } else if (depth === 1) {
          fields += 1
          if (fields > maxFields) return `It has more than ${maxFields} fields.`
          isInput = maxInputs !== undefined && isNamedInput(bytes, at, end)
        }
        at = end
        break
      }
      case OPEN: {
        const isObject = bytes[at] === OBJECT_BYTE
        values += 1
        depth += 1
        if (depth > maxDepth) return `It is nested deeper than ${maxDepth} levels.`
        objects = (objects << 1) | Number(isObject)
        expectsValue = !isObject
        break
      }
      case CLOSE:
        depth -= 1
        objects >>>= 1
        expectsValue = false
        break
      case COMMA:
        expectsValue = (objects & 1) === 0
        break
      case COLON:
        expectsValue = true
        break
      case NUMBER:
        if (expectsValue && !isInput) values += 1
        expectsValue = false
        break
      case OTHER:
        if (expectsValue) values += 1
        expectsValue = false
    }
    if (values > mostValues) return tooManyValues(bounds)
  }
  return undefined
}

function tooManyValues({ maxValues, maxInputs }: JsonBounds): string {
  const beside = maxInputs === undefined ? '' : ` beside the ${maxInputs} texts or lists that input may have`
  return `It has more than ${maxValues} values${beside}.`
}

/** Up to here a loop is quicker than a search. */
const SHORT_TEXT_BYTES = 32

/**
 * Finds where texts end. Most of a body is text: it is searched instead of walked, and what was found ahead is
 * remembered, so that no byte is searched twice.
 */
class TextEnds {
  readonly #bytes: Uint8Array
  #nextQuote = -1
  #nextBackslash = -1

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Where the quote stands that ends the text, or where the bytes end. */
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
/** Each letter may be written as `\u0069`. */
const MAX_WRITTEN_LENGTH = INPUT.length * 6

function isNamedInput(bytes: Uint8Array, open: number, close: number): boolean {
  const length = close - open - 1
  if (length < INPUT.length || length > MAX_WRITTEN_LENGTH) return false
  if (bytes[open + 1] !== I_BYTE && bytes[open + 1] !== BACKSLASH_BYTE) return false
  const written = String.fromCharCode(...bytes.subarray(open + 1, close))
  if (length === INPUT.length) return written === INPUT
  try {
    return JSON.parse(`"${written}"`) === INPUT
  } catch {
    return false
  }
}

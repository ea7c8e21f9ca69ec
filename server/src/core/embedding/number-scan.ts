/**
 * Checks the JSON text of a vector without making numbers of it: an answer that goes out as it came in need not be parsed.
 * The grammar is JSON's own (no `NaN`, no leading zeros, no lone point), and the array may hold nothing but numbers.
 */
export interface NumberScan {
  readonly count: number
  /** False where the digits alone do not show that the vector is finite in float32 and not all zero. */
  readonly plainlySound: boolean
}

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const PLUS = 0x2b
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const UPPER_E = 0x45
const OPEN = 0x5b
const CLOSE = 0x5d
const LOWER_E = 0x65

/** Digits before the point: more could exceed float32's largest value, 3.4e38. */
const PLAIN_INTEGER_DIGITS = 30
/** Digits after the point: more, or a smaller exponent, could be a value that float32 rounds to zero. */
const PLAIN_FRACTION_DIGITS = 30
const PLAIN_EXPONENT_DIGITS = 1

/** Undefined when `bytes` from `start` to `end` is not a JSON array of numbers. */
export function scanNumbers(bytes: Uint8Array, start: number, end: number): NumberScan | undefined {
  if (bytes[start] !== OPEN) return undefined
  let at = start + 1
  let count = 0
  let nonZero = 0
  let huge = false

  for (;;) {
    let byte = bytes[at] as number
    // Nearly every number is written like -0.0123, followed by a comma: those need no other check.
    let ahead = byte === MINUS ? at + 1 : at
    if (bytes[ahead] === ZERO && bytes[ahead + 1] === POINT) {
      const fractionStart = ahead + 2
      ahead = fractionStart
      let bits = 0
      let digit = ((bytes[ahead] as number) - ZERO) >>> 0
      while (digit < 10) {
        bits |= digit
        digit = ((bytes[++ahead] as number) - ZERO) >>> 0
      }
      const length = ahead - fractionStart
      if (bytes[ahead] === COMMA && length > 0 && length <= PLAIN_FRACTION_DIGITS) {
        nonZero |= bits
        count += 1
        at = ahead + 1
        continue
      }
    }
    while (isSpace(byte)) byte = bytes[++at] as number
    if (byte === CLOSE && count === 0) break
    if (byte === MINUS) byte = bytes[++at] as number

    let digits = 0
    let countable = true
    const integerStart = at
    if (byte === ZERO) byte = bytes[++at] as number
    else {
      while (byte >= ZERO && byte <= NINE) {
        digits |= byte - ZERO
        byte = bytes[++at] as number
      }
      if (at === integerStart) return undefined
      if (at - integerStart > PLAIN_INTEGER_DIGITS) huge = true
    }
    if (byte === POINT) {
      const fractionStart = at + 1
      byte = bytes[++at] as number
      while (byte >= ZERO && byte <= NINE) {
        digits |= byte - ZERO
        byte = bytes[++at] as number
      }
      if (at === fractionStart) return undefined
      if (at - fractionStart > PLAIN_FRACTION_DIGITS) countable = false
    }
    if (byte === LOWER_E || byte === UPPER_E) {
      byte = bytes[++at] as number
      if (byte !== MINUS) huge = true
      if (byte === PLUS || byte === MINUS) byte = bytes[++at] as number
      const exponentStart = at
      while (byte >= ZERO && byte <= NINE) byte = bytes[++at] as number
      if (at === exponentStart) return undefined
      if (at - exponentStart > PLAIN_EXPONENT_DIGITS) countable = false
    }
    if (countable) nonZero |= digits
    count += 1
    while (isSpace(byte)) byte = bytes[++at] as number
    if (byte === CLOSE) break
    if (byte !== COMMA) return undefined
    at += 1
  }
  return at === end - 1 ? { count, plainlySound: nonZero !== 0 && !huge } : undefined
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB
}

/**
 * float32 → JSON text: the shortest of 7, 8 or 9 significant digits that reads back as the same float32. Written straight
 * into bytes, because an answer of 2,048 × 1,536 numbers would otherwise be three million short-lived strings.
 */

/** 9 digits, sign, point, five leading zeros; the slow way needs at most 15 (`-3.40282347e+38`). */
const MAX_NUMBER_BYTES = 18
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30

/** 10^k for k ≤ 22 is exact in float64, so n / 10^k is the correctly rounded value of the decimal, as a JSON parser reads it. */
const POWERS = Float64Array.from({ length: 23 }, (_, exponent) => 10 ** exponent)

/** `000` … `999` as bytes: three digits a step instead of one. */
const TRIPLES = new Uint8Array(3000)
for (let value = 0; value < 1000; value += 1) {
  TRIPLES[value * 3] = ZERO + Math.floor(value / 100)
  TRIPLES[value * 3 + 1] = ZERO + (Math.floor(value / 10) % 10)
  TRIPLES[value * 3 + 2] = ZERO + (value % 10)
}

export function numberTextOf(values: Float32Array): Uint8Array {
  const bytes = new Uint8Array(values.length * (MAX_NUMBER_BYTES + 1) + 2)
  bytes[0] = 0x5b
  let at = 1
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) bytes[at++] = COMMA
    at = writeNumber(bytes, at, values[index] as number)
  }
  bytes[at++] = 0x5d
  return bytes.slice(0, at)
}

function writeNumber(bytes: Uint8Array, start: number, value: number): number {
  let at = start
  let size = value
  if (value < 0) {
    bytes[at++] = MINUS
    size = -value
  }
  // Embedding values nearly all lie here. Outside, and for -0, the exact slow way.
  if (!(size >= 1e-6 && size < 1)) return writeText(bytes, start, slowText(value))

  let zeros = 0 // zeros after the point
  while (size * (POWERS[zeros + 1] as number) < 1) zeros += 1
  // Everything below is under 2^31, so `| 0` is floor, and integer arithmetic is what makes this quick.
  let digits = 9
  let scaled = (size * (POWERS[zeros + 9] as number) + 0.5) | 0
  const eight = ((scaled + 5) / 10) | 0
  if (Math.fround(eight / (POWERS[zeros + 8] as number)) === size) {
    const seven = ((scaled + 50) / 100) | 0
    const fewer = Math.fround(seven / (POWERS[zeros + 7] as number)) === size
    digits = fewer ? 7 : 8
    scaled = fewer ? seven : eight
  }
  // Rounding up to the next power of ten would need another digit.
  if (scaled >= (POWERS[digits] as number)) return writeText(bytes, start, slowText(value))

  bytes[at++] = ZERO
  bytes[at++] = POINT
  for (let zero = 0; zero < zeros; zero += 1) bytes[at++] = ZERO
  return writeDigits(bytes, at, scaled, digits)
}

/** The digits without trailing zeros. */
function writeDigits(bytes: Uint8Array, start: number, scaled: number, digits: number): number {
  const nine = digits === 9 ? scaled : digits === 8 ? scaled * 10 : scaled * 100
  const high = (nine / 1_000_000) | 0
  const rest = nine - high * 1_000_000
  const middle = (rest / 1000) | 0
  writeTriple(bytes, start, high)
  writeTriple(bytes, start + 3, middle)
  writeTriple(bytes, start + 6, rest - middle * 1000)
  let end = start + digits
  while (bytes[end - 1] === ZERO) end -= 1
  return end
}

function writeTriple(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = TRIPLES[value * 3] as number
  bytes[at + 1] = TRIPLES[value * 3 + 1] as number
  bytes[at + 2] = TRIPLES[value * 3 + 2] as number
}

/** Any finite float32, in exponent form so that its length is bounded. */
function slowText(value: number): string {
  if (Object.is(value, -0)) return '-0'
  for (let digits = 1; digits < 9; digits += 1) {
    const text = value.toExponential(digits - 1)
    if (Math.fround(Number(text)) === value) return text
  }
  return value.toExponential(8)
}

function writeText(bytes: Uint8Array, start: number, text: string): number {
  for (let index = 0; index < text.length; index += 1) bytes[start + index] = text.charCodeAt(index)
  return start + text.length
}

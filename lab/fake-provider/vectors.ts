import { endianness } from 'node:os'

/** A vector that depends on nothing but the text and the width: unit length, every value a float32. */
export function vectorOf(text: string, width: number): Float32Array {
  // xoshiro128** in plain local variables: 2,048 vectors of 1,536 values must come in well under a second.
  let [a, b, c, d] = seedOf(text, width)
  const values = new Float64Array(width)
  let squares = 0
  for (let position = 0; position < width; position++) {
    let sum = -131_070
    // The sum of four uniform 16-bit values is close enough to a bell curve, and needs only two draws.
    for (let draw = 0; draw < 2; draw++) {
      const product = Math.imul(b, 5)
      const bits = Math.imul((product << 7) | (product >>> 25), 9)
      const shifted = b << 9
      c ^= a
      d ^= b
      b ^= c
      a ^= d
      c ^= shifted
      d = (d << 11) | (d >>> 21)
      sum += (bits & 0xffff) + (bits >>> 16)
    }
    values[position] = sum
    squares += sum * sum
  }
  return scaled(values, Math.sqrt(squares))
}

/** The first values, scaled back to unit length: what a Matryoshka model answers to `dimensions`. */
export function truncated(vector: Float32Array, dimensions: number): Float32Array {
  const head = vector.subarray(0, dimensions)
  let squares = 0
  for (const value of head) squares += value * value
  const norm = Math.sqrt(squares)
  return norm === 0 ? Float32Array.from(head) : scaled(head, norm)
}

/** Little-endian float32, whatever this machine's own order. */
export function base64Of(vector: Float32Array): string {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)
  return (endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32()).toString('base64')
}

export function fromBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64')
  return Float32Array.from({ length: bytes.length / 4 }, (_, position) => bytes.readFloatLE(position * 4))
}

/** A JSON array with the shortest decimals that read back as the same float32 values. */
export function numberText(vector: Float32Array): string {
  return arrayText(vector, writeShortest)
}

/** A JSON array of the values widened to doubles, as servers write that forget they hold float32. */
export function wideNumberText(vector: Float32Array): string {
  return arrayText(vector, (bytes, start, value) => start + bytes.write(String(value), start, 'latin1'))
}

export function tokensOf(text: string): number {
  return Math.max(1, Math.ceil(Buffer.byteLength(text) / 4))
}

function scaled(values: Float32Array | Float64Array, norm: number): Float32Array {
  const result = new Float32Array(values.length)
  for (let position = 0; position < result.length; position++) {
    result[position] = (values[position] ?? 0) / norm
  }
  return result
}

/** The longest double, such as -1.2345678901234567e-38, with its comma. */
const longestNumberBytes = 26

/** Writes one number at `start` and returns where it ends. */
type NumberWriter = (bytes: Buffer, start: number, value: number) => number

function arrayText(vector: Float32Array, write: NumberWriter): string {
  // Bytes rather than strings: a large answer has three million numbers.
  const bytes = Buffer.allocUnsafe(vector.length * longestNumberBytes + 2)
  let end = bytes.write('[')
  for (let position = 0; position < vector.length; position++) {
    const value = vector[position] ?? 0
    if (position > 0) bytes[end++] = 0x2c // a comma
    if (Number.isFinite(value) && value !== 0) end = write(bytes, end, value)
    else end += bytes.write(specialWord(value), end, 'latin1')
  }
  bytes[end++] = 0x5d // the closing bracket
  return bytes.toString('latin1', 0, end)
}

/** Zeros keep their sign; NaN and infinity become what broken servers write: a bare word, a number beyond all doubles. */
function specialWord(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  if (Number.isNaN(value)) return 'NaN'
  return value > 0 ? '1e999' : '-1e999'
}

const powersOfTen = Array.from({ length: 16 }, (_, power) => 10 ** power)

// Six digits always survive decimal → float32 → decimal and nine always survive float32 → decimal → float32, so the
// shortest text has six to nine digits (fewer once trailing zeros drop off).
function writeShortest(bytes: Buffer, start: number, value: number): number {
  const size = Math.abs(value)
  if (size < 1e-6 || size >= 1) return start + bytes.write(shortestDecimal(value), start, 'latin1')
  let leadingZeros = 0
  while (size * (powersOfTen[leadingZeros + 1] ?? 1) < 1) leadingZeros += 1
  for (let decimals = leadingZeros + 6; decimals <= leadingZeros + 9; decimals++) {
    const power = powersOfTen[decimals] ?? 1
    const digits = Math.round(size * power)
    // Both are exact in a double, so the quotient is the very number that a reader of the text gets.
    if (Math.fround(digits / power) === size) return writeFraction(bytes, start, value < 0, digits, decimals)
  }
  throw new Error(`${value} is no float32.`)
}

/** The slow way, for sizes no unit vector has; subnormal values may need fewer than six digits. */
function shortestDecimal(value: number): string {
  const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9].find(
    (count) => Math.fround(Number(value.toPrecision(count))) === value,
  )
  return String(Number(value.toPrecision(digits)))
}

/** Writes `digits` ÷ 10^`decimals`, a number between 0 and 1. */
function writeFraction(
  bytes: Buffer,
  start: number,
  negative: boolean,
  digits: number,
  decimals: number,
): number {
  let rest = digits
  let places = decimals
  while (rest % 10 === 0) {
    rest /= 10
    places -= 1
  }
  const point = start + (negative ? 2 : 1)
  if (negative) bytes[start] = 0x2d // a minus sign
  bytes[point - 1] = 0x30 // a zero
  bytes[point] = 0x2e // the point
  for (let position = point + places; position > point; position--) {
    bytes[position] = 0x30 + (rest % 10)
    rest = Math.floor(rest / 10)
  }
  return point + places + 1
}

/** From a 64-bit hash of the text. The width takes part, so that no width is a cut of another. */
function seedOf(text: string, width: number): [number, number, number, number] {
  let high = 0x9e3779b9 ^ width
  let low = 0x85ebca6b ^ text.length
  for (let position = 0; position < text.length; position++) {
    const unit = text.charCodeAt(position)
    high = Math.imul(high ^ unit, 0x01000193)
    low = Math.imul((low << 5) ^ (low >>> 27) ^ unit, 0x9e3779b1)
  }
  const a = mixed(high)
  const b = mixed(low)
  return [a, b, mixed(a ^ low), mixed(b ^ high) | 1] // never all zeros, or nothing but zeros would follow
}

function mixed(seed: number): number {
  let value = (seed + 0x6d2b79f5) | 0
  value = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
  value = Math.imul(value ^ (value >>> 15), 0x735a2d97)
  return value ^ (value >>> 15)
}

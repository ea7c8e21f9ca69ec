/** Generators for property tests: every possible float32, and unusual texts. */
import fc from 'fast-check'

/**
 * Runs of a property: at most 200 on every change, and at most 1000 of one that takes microseconds. TORANA_TEST_RUNS is another
 * maximum: with `npm run lab -- check/properties` a property runs as often as its test says.
 */
const MAX_RUNS = 200
const MAX_QUICK_RUNS = 1000

export function runs(numRuns: number, most = MAX_RUNS): { readonly numRuns: number } {
  return { numRuns: Math.min(numRuns, Number(process.env['TORANA_TEST_RUNS'] ?? most)) }
}

/** Runs for the guarantees of the spine; each takes microseconds. */
export const MANY_RUNS = runs(10_000, MAX_QUICK_RUNS)

const EXTREMES = [
  0, -0, 1, -1, 0.1, 1e-6, 9.999999e-7, 0.99999994, 1.0000001, 0.5, 16_777_216,
  // The largest, the smallest normal, the largest denormal and the smallest.
  3.4028234663852886e38, 1.1754943508222875e-38, 1.1754942106924411e-38, 1.401298464324817e-45,
]

/** Any finite float32, all bit patterns being equally likely, with the awkward ones more often. */
export const float32: fc.Arbitrary<number> = fc.oneof(
  { weight: 3, arbitrary: fc.nat(0xff_ff_ff_ff).map(floatOfBits).filter(Number.isFinite) },
  // The size of real embedding values.
  { weight: 3, arbitrary: fc.double({ min: -1, max: 1, noNaN: true }).map(Math.fround) },
  { weight: 1, arbitrary: fc.constantFrom(...EXTREMES, ...EXTREMES.map((value) => -value)) },
)

export function float32Array(minLength: number, maxLength: number): fc.Arbitrary<Float32Array> {
  return fc.array(float32, { minLength, maxLength }).map((values) => Float32Array.from(values))
}

/** A vector that an answer may hold: not all zero. */
export function soundVector(width: number): fc.Arbitrary<Float32Array> {
  return float32Array(width, width).filter((values) => values.some((value) => value !== 0))
}

/** UTF-16 in any order: half surrogates, control characters, quotes and backslashes included. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
  fc
    .array(fc.constantFrom('a', '"', '\\', '/', '\n', '\u0001', '\ud83d', '\ude00', '😀', 'é', '漢'))
    .map((parts) => parts.join('')),
  fc.string({ unit: 'binary' }),
)

export function bitsOf(values: Float32Array): number[] {
  return [...new Uint32Array(values.buffer, values.byteOffset, values.length)]
}

function floatOfBits(bits: number): number {
  return new Float32Array(Uint32Array.of(bits).buffer)[0] as number
}

/**
 * A stand-in for the image half of an embedding model, with random weights: patches, two layers, the mean of all patches. It shows
 * how much of a change of pixels, or of weights, arrives in a vector.
 */
import sharp from 'sharp'

const PATCH = 16
const SIDE = 224
const INSIDE = PATCH * PATCH * 3

export interface Encoder {
  readonly first: Float32Array
  readonly second: Float32Array
  readonly width: number
}

/** Equal seeds make equal weights. */
export function encoderOf(seed: number, width: number): Encoder {
  const random = bellOf(seed)
  const weights = (count: number, inputs: number): Float32Array =>
    Float32Array.from({ length: count }, () => random() / Math.sqrt(inputs))
  return { first: weights(INSIDE * width, INSIDE), second: weights(width * width, width), width }
}

/** The same encoder after more training: every weight off by a share of its size. */
export function trainedOn(encoder: Encoder, share: number): Encoder {
  const random = bellOf(7)
  const moved = (weights: Float32Array, inputs: number): Float32Array =>
    weights.map((weight) => weight + (share * random()) / Math.sqrt(inputs))
  return { ...encoder, first: moved(encoder.first, INSIDE), second: moved(encoder.second, encoder.width) }
}

/** Rounded pixels, as all but the decoder's own rounding leaves them. */
export async function pixelsOf(image: Buffer, kernel?: 'cubic' | 'linear' | 'nearest'): Promise<Uint8Array> {
  const decoded = sharp(image)
  // A scaling down and up again, by another filter than the reference's.
  const scaled =
    kernel === undefined ? decoded : sharp(await decoded.resize(448, 448, { kernel }).png().toBuffer())
  return new Uint8Array(await scaled.resize(SIDE, SIDE).removeAlpha().raw().toBuffer())
}

export function vectorOf({ first, second, width }: Encoder, pixels: Uint8Array): Float32Array {
  const sum = new Float32Array(width)
  const inside = new Float32Array(INSIDE)
  for (let top = 0; top < SIDE; top += PATCH)
    for (let left = 0; left < SIDE; left += PATCH) {
      for (let at = 0; at < INSIDE; at += 1) {
        const [y, x, colour] = [Math.floor(at / (PATCH * 3)), Math.floor(at / 3) % PATCH, at % 3]
        inside[at] = ((pixels[((top + y) * SIDE + left + x) * 3 + colour] ?? 0) - 127) / 64
      }
      const hidden = layer(first, inside, width)
      for (const [at, value] of layer(second, hidden, width).entries()) sum[at] = (sum[at] ?? 0) + value
    }
  return sum
}

/** GELU, nearly. */
function layer(weights: Float32Array, inputs: Float32Array, width: number): Float32Array {
  const outputs = new Float32Array(width)
  for (let output = 0; output < width; output += 1) {
    let sum = 0
    const row = output * inputs.length
    for (let input = 0; input < inputs.length; input += 1)
      sum += (weights[row + input] as number) * (inputs[input] as number)
    outputs[output] = sum / (1 + Math.exp(-1.702 * sum))
  }
  return outputs
}

/** Bell-shaped numbers. */
export function bellOf(seed: number): () => number {
  let state = seed >>> 0
  const even = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return () => Math.sqrt(-2 * Math.log(1 - even())) * Math.cos(2 * Math.PI * even())
}

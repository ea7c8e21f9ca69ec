/** A square of cosines as pixels, one a cell, in one hue. Pure, with tests. */
import { stepOf, type HeatColours, type Rgb } from '../../charts/vectors/ramp.ts'

interface Shading {
  /** The index of the text at each place. */
  readonly order: ArrayLike<number>
  readonly low: number
  readonly high: number
}

export function heatPixels(
  cosines: ArrayLike<number>,
  { order, low, high }: Shading,
  { ramp, own }: HeatColours,
): Uint8ClampedArray<ArrayBuffer> {
  const count = order.length
  const colours = Uint32Array.from(ramp, pixelOf)
  const ownColour = pixelOf(own)
  const pixels = new Uint32Array(count * count)
  for (let row = 0; row < count; row++) {
    const line = order[row]! * count
    for (let column = 0; column < count; column++)
      pixels[row * count + column] =
        row === column ? ownColour : colours[stepOf(cosines[line + order[column]!]!, low, high)]!
  }
  return new Uint8ClampedArray(pixels.buffer)
}

const bytes = new Uint8Array(4)
const word = new Uint32Array(bytes.buffer)

/** Red, green, blue and no transparency, in the order in which this machine stores bytes. */
function pixelOf([red, green, blue]: Rgb): number {
  bytes.set([red, green, blue, 255])
  return word[0]!
}

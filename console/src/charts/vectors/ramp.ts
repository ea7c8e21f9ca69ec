/** One hue from the ground to the first series. Pure, with tests. */

export type Rgb = readonly [red: number, green: number, blue: number]

/** What a square of cosines is painted with, here or in a worker. */
export interface HeatColours {
  /** From the least to the most. */
  readonly ramp: readonly Rgb[]
  /** Of a text beside itself, which says nothing. */
  readonly own: Rgb
}

const STEPS = 256

/** `#4587e0` → three numbers. */
export function rgbOf(hex: string): Rgb {
  const number = Number.parseInt(hex.replace('#', ''), 16)
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255]
}

export function rampOf(from: Rgb, to: Rgb): readonly Rgb[] {
  return Array.from({ length: STEPS }, (_, step) => {
    const part = step / (STEPS - 1)
    return [0, 1, 2].map((channel) =>
      Math.round(from[channel]! + (to[channel]! - from[channel]!) * part),
    ) as unknown as Rgb
  })
}

/** Which step of the ramp; what lies outside has the colour of its end. */
export function stepOf(value: number, low: number, high: number): number {
  const part = (value - low) / (high - low)
  return Math.round(Math.min(1, Math.max(0, Number.isNaN(part) ? 0 : part)) * (STEPS - 1))
}

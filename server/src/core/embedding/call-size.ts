/** Sizes of calls, in classes between powers of two: calls of one class are wrong together or not at all. */

export interface CallSize {
  readonly inputs: number
  /** Of all inputs together. */
  readonly tokens: number
}

/** Steps of tokens: a call has fewer than four thousand million. */
const TOKEN_STEPS = 32
/** Steps of inputs: a call has fewer than 65,536. */
const INPUT_STEPS = 16

/** Numbers from `sizeIndex`. */
export const SIZES = INPUT_STEPS * TOKEN_STEPS

/**
 * The number of a size's class. A call with one input is one class, whatever it has in tokens: its probe is one of the texts, which
 * have the length that they have. 0: it has no texts.
 */
export function sizeIndex(inputs: number, tokens: number): number {
  if (inputs <= 1) return inputs
  const step = Math.min(31 - Math.clz32(inputs), INPUT_STEPS - 1)
  return step * TOKEN_STEPS + 31 - Math.clz32(tokens | 1)
}

/** The name of a size's class, as it is stored: the least of its inputs and tokens. */
export function sizeName({ inputs, tokens }: CallSize): string {
  return inputs <= 1 ? '1' : `${floorPower(inputs)}x${floorPower(tokens)}`
}

/** Whether a class of this name has as many inputs and tokens as that of the size, or more. */
export function coversSize(name: string, size: CallSize): boolean {
  const [inputs = 0, tokens = 0] = name.split('x').map(Number)
  if (inputs < floorPower(size.inputs)) return false
  return size.inputs <= 1 || tokens >= floorPower(size.tokens)
}

/** The most of both. */
export function largerSize(one: CallSize, other: CallSize): CallSize {
  return { inputs: Math.max(one.inputs, other.inputs), tokens: Math.max(one.tokens, other.tokens) }
}

function floorPower(value: number): number {
  return 2 ** (31 - Math.clz32(value | 1))
}

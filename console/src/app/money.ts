/** Sums of money: integer nano-dollars, never a `number`. */

const NANO_DIGITS = 9
const NANO_PER_DOLLAR = 10n ** BigInt(NANO_DIGITS)
const DECIMAL = /^(-?)(\d+)(?:\.(\d{1,9}))?$/

/** `"0.000651920"` → 651920n. */
export function nanoOf(usd: string): bigint {
  const [, sign, whole, fraction = ''] = DECIMAL.exec(usd) ?? []
  if (whole === undefined) throw new RangeError(`not an amount: ${usd}`)
  const nano = BigInt(whole) * NANO_PER_DOLLAR + BigInt(fraction.padEnd(NANO_DIGITS, '0'))
  return sign === '-' ? -nano : nano
}

/** 651920n → `"0.000651920"`. */
export function usdOf(nano: bigint): string {
  const size = nano < 0n ? -nano : nano
  const fraction = String(size % NANO_PER_DOLLAR).padStart(NANO_DIGITS, '0')
  return `${nano < 0n ? '-' : ''}${size / NANO_PER_DOLLAR}.${fraction}`
}

export function sumOf(amounts: Iterable<string | null | undefined>): bigint {
  let nano = 0n
  for (const usd of amounts) if (usd !== null && usd !== undefined) nano += nanoOf(usd)
  return nano
}

/** The share of `part` in `whole`, for bars and percentages, where a rounding of the picture does no harm. */
export function shareOf(part: string | bigint, whole: string | bigint): number {
  const [of, all] = [bigOf(part), bigOf(whole)]
  return all === 0n ? 0 : Number((of * 1_000_000n) / all) / 1_000_000
}

/** For the axis of a picture only. */
export function dollarsForPicture(usd: string | bigint): number {
  return Number(bigOf(usd)) / Number(NANO_PER_DOLLAR)
}

function bigOf(amount: string | bigint): bigint {
  return typeof amount === 'bigint' ? amount : nanoOf(amount)
}

/** Amounts in the gateway's answers: decimal text on the wire, whole nano-dollars in sums. */

export function nanoUsdOf(usd: string): bigint {
  const [, whole = '', decimals = ''] = /^(\d+)(?:\.(\d{1,9})0*)?$/.exec(usd) ?? []
  if (whole === '') throw new RangeError(`${usd} is not a dollar amount with at most nine decimals`)
  return BigInt(whole + decimals.padEnd(9, '0'))
}

/** `12.500000000` */
export function decimalOf(nanoUsd: bigint): string {
  const digits = `${nanoUsd}`.padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`
}

/** `$12.50`, `$0.00000002`: at least cents. */
export function dollars(nanoUsd: bigint): string {
  return `$${decimalOf(nanoUsd).replace(/0{1,7}$/, '')}`
}

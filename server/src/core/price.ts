/** Money is integer nano-dollars. A price is what one deployment charges; unknown is a kind, never zero. */

export type Price =
  | {
      readonly kind: 'perToken'
      /** Nano-dollars for a million input tokens: $0.02 is 20,000,000. */ readonly nanoUsdPerMillionTokens: bigint
    }
  | { readonly kind: 'free' }
  | { readonly kind: 'unpriced' }

export type Cost = { readonly kind: 'known'; readonly nanoUsd: bigint } | { readonly kind: 'unpriced' }

const MILLION = 1_000_000n

/** What so many tokens cost, rounded up to the next nano-dollar so that a sum of parts never undercuts the bill. */
export function costOf(price: Price, tokens: number): Cost {
  switch (price.kind) {
    case 'free':
      return { kind: 'known', nanoUsd: 0n }
    case 'unpriced':
      return { kind: 'unpriced' }
    case 'perToken':
      return {
        kind: 'known',
        nanoUsd: (BigInt(tokens) * price.nanoUsdPerMillionTokens + MILLION - 1n) / MILLION,
      }
  }
}

/** One unpriced part makes the sum unpriced: a partial sum would read as the whole. */
export function addCosts(a: Cost, b: Cost): Cost {
  if (a.kind === 'unpriced' || b.kind === 'unpriced') return { kind: 'unpriced' }
  return { kind: 'known', nanoUsd: a.nanoUsd + b.nanoUsd }
}

/** `0.000000020`, or `unpriced`: the form of the `x-torana-cost` header. */
export function costText(cost: Cost): string {
  if (cost.kind === 'unpriced') return 'unpriced'
  const digits = cost.nanoUsd.toString().padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`
}

/** Reads `0.02` (dollars for a million tokens) exactly: decimal text, never binary floating point. */
export function nanoUsdOf(usd: number | string): bigint {
  const text = typeof usd === 'number' ? plainDecimal(usd) : usd
  const match = /^(\d+)(?:\.(\d{1,9})0*)?$/.exec(text)
  if (!match) throw new RangeError(`${text} is not a dollar amount with at most nine decimals`)
  return BigInt(match[1] ?? '0') * 1_000_000_000n + BigInt((match[2] ?? '').padEnd(9, '0'))
}

/** `5e-7` → `0.0000005`: numbers below 1e-6 print in exponent form. */
function plainDecimal(value: number): string {
  const text = String(value)
  return text.includes('e') ? value.toFixed(9) : text
}

/** What a call of the ledger costs at another price, as far as its rows say what it was. */
import type { PriceChange } from '#core/feed/effects.ts'
import type { ImagePrice, Price } from '#core/money/price.ts'

/** Nano-dollars that follow from what a row of the ledger keeps: its tokens and its images. */
export interface RowRate {
  readonly nanoUsdPerMillionTokens: bigint
  readonly nanoUsdPerImage: bigint
}

/** The rate, or why rows of the ledger do not decide what their calls would have cost. */
export type LedgerRate =
  | { readonly rate: RowRate; readonly problem?: undefined }
  | { readonly problem: string; readonly rate?: undefined }

const FREE: LedgerRate = { rate: { nanoUsdPerMillionTokens: 0n, nanoUsdPerImage: 0n } }

export function ledgerRateOf({
  after,
  takesContents,
}: Pick<PriceChange, 'after' | 'takesContents'>): LedgerRate {
  switch (after.kind) {
    case 'free':
      return FREE
    case 'unpriced':
      return { problem: 'the new catalogue has no price for it' }
    case 'perToken':
      return byTokens(after.nanoUsdPerMillionTokens)
    case 'perPart':
      return byParts(after, takesContents)
    case 'perImage':
      return byImages(after)
    case 'perMegapixel':
      return { problem: 'the ledger does not keep the sizes of images' }
    case 'perTokenKind':
      return { problem: 'the ledger keeps the tokens of a call as one sum, and each kind has its own price' }
  }
}

function byTokens(nanoUsdPerMillionTokens: bigint): LedgerRate {
  return { rate: { nanoUsdPerMillionTokens, nanoUsdPerImage: 0n } }
}

function byParts({ rates }: Extract<Price, { kind: 'perPart' }>, takesContents: boolean): LedgerRate {
  if (takesContents) return { problem: 'the ledger does not keep which parts of a call were text' }
  if (rates.text?.by !== 'tokens') return { problem: 'the ledger does not keep the characters of a text' }
  return byTokens(rates.text.nanoUsdPerMillion)
}

function byImages({ nanoUsd, given }: Extract<ImagePrice, { kind: 'perImage' }>): LedgerRate {
  if (given.kind !== 'free') return { problem: 'the ledger does not keep how many images a call was given' }
  const amounts = new Set([...nanoUsd.values()].flatMap((byQuality) => [...byQuality.values()]))
  const [only] = amounts
  // A size or quality that the table does not name has no price.
  if (amounts.size !== 1 || only === undefined || nanoUsd.get('default')?.get('default') === undefined)
    return { problem: 'the ledger does not keep the sizes and qualities of images' }
  return { rate: { nanoUsdPerMillionTokens: 0n, nanoUsdPerImage: only } }
}

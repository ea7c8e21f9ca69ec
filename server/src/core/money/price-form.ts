/** Prices as torana.yaml writes them, in JSON values. */
import {
  usdText,
  type GivenPrice,
  type ImagePrice,
  type ImageTokenPrices,
  type PartRates,
  type Price,
} from './price.ts'

/** `free`, `unpriced`, or fields such as `{ usdPerMillionTokens: '0.02' }`. */
export type PriceForm = string | Readonly<Record<string, unknown>>

/** What a form means, or its problem. */
export type ReadPrice =
  | { readonly price: Price | ImagePrice; readonly problem?: undefined }
  | { readonly problem: string; readonly price?: undefined }

export function priceFormOf(price: Price | ImagePrice): PriceForm {
  switch (price.kind) {
    case 'free':
    case 'unpriced':
      return price.kind
    case 'perToken':
      return { usdPerMillionTokens: usdText(price.nanoUsdPerMillionTokens) }
    case 'perPart':
      return partForm(price.rates)
    case 'perMegapixel':
      return { usdPerMegapixel: usdText(price.nanoUsdPerMegapixel), ...givenForm(price.given) }
    case 'perImage':
      return { usdPerImage: tableForm(price.nanoUsd), ...givenForm(price.given) }
    case 'perTokenKind':
      return { usdPerMillionTokens: tokenForm(price.nanoUsdPerMillionTokens) }
  }
}

/** The names under `usdPerInput`: the kind of part, how it is counted, and how many each price is for. */
export const INPUT_UNITS = {
  millionTextTokens: { kind: 'text', by: 'tokens', units: 1_000_000n },
  millionImageTokens: { kind: 'image', by: 'tokens', units: 1_000_000n },
  millionAudioTokens: { kind: 'audio', by: 'tokens', units: 1_000_000n },
  millionVideoTokens: { kind: 'video', by: 'tokens', units: 1_000_000n },
  millionFileTokens: { kind: 'file', by: 'tokens', units: 1_000_000n },
  thousandCharacters: { kind: 'text', by: 'count', units: 1000n },
  image: { kind: 'image', by: 'count', units: 1n },
  audioSecond: { kind: 'audio', by: 'count', units: 1n },
  videoSecond: { kind: 'video', by: 'count', units: 1n },
  page: { kind: 'file', by: 'count', units: 1n },
} as const

const MILLION = 1_000_000n

function partForm(rates: PartRates): Readonly<Record<string, unknown>> {
  const amounts = Object.entries(INPUT_UNITS).flatMap(([name, { kind, by, units }]) => {
    const rate = rates[kind]
    return rate?.by === by ? [[name, amountForm((rate.nanoUsdPerMillion * units) / MILLION)] as const] : []
  })
  return { usdPerInput: Object.fromEntries(amounts) }
}

function tableForm(table: Extract<ImagePrice, { kind: 'perImage' }>['nanoUsd']): unknown {
  const sizes = [...table].map(([size, row]) => [size, qualityForm(row)] as const)
  const [only] = sizes
  return sizes.length === 1 && only?.[0] === 'default' ? only[1] : Object.fromEntries(sizes)
}

function qualityForm(row: ReadonlyMap<string, bigint>): unknown {
  const qualities = [...row].map(([quality, nanoUsd]) => [quality, amountForm(nanoUsd)] as const)
  const [only] = qualities
  return qualities.length === 1 && only?.[0] === 'default' ? only[1] : Object.fromEntries(qualities)
}

/** Cached input that costs the same as other input is left out. */
function tokenForm(prices: ImageTokenPrices): Readonly<Record<string, string>> {
  const { cachedTextInput, cachedImageInput } = prices
  const said = {
    ...prices,
    cachedTextInput: cachedTextInput === prices.textInput ? undefined : cachedTextInput,
    cachedImageInput: cachedImageInput === prices.imageInput ? undefined : cachedImageInput,
  }
  return Object.fromEntries(
    Object.entries(said).flatMap(([kind, nanoUsd]) =>
      nanoUsd === undefined ? [] : [[kind, amountForm(nanoUsd)]],
    ),
  )
}

function givenForm(given: GivenPrice): Readonly<Record<string, string>> {
  switch (given.kind) {
    case 'free':
      return {}
    case 'unpriced':
      return { usdPerGivenImage: 'unknown' }
    case 'perImage':
      return { usdPerGivenImage: usdText(given.nanoUsd) }
    case 'perMegapixel':
      return { usdPerGivenMegapixel: usdText(given.nanoUsd) }
  }
}

function amountForm(nanoUsd: bigint): string {
  return nanoUsd === 0n ? 'free' : usdText(nanoUsd)
}

/** The price of a deployment, in the few figures that fit a table. */
import { usdText, type GivenPrice, type ImagePrice, type PartRates, type Price } from './price.ts'

type PriceUnit =
  | 'million tokens'
  | 'million input tokens'
  | 'million output tokens'
  | 'image'
  | 'megapixel'
  | 'free'
  | 'unpriced'

export interface PriceText {
  /** Dollars without zeros at the end, `0.02`, or a range, `0.03–0.075`. Empty where there is no figure. */
  readonly amount: string
  readonly unit: PriceUnit
  /** Other charges, if there are any. */
  readonly note: string | undefined
}

export function priceTextOf(price: Price | ImagePrice): readonly PriceText[] {
  switch (price.kind) {
    case 'free':
      return [{ amount: '0', unit: 'free', note: undefined }]
    case 'unpriced':
      return [{ amount: '', unit: 'unpriced', note: undefined }]
    case 'perToken':
      return [{ amount: usdText(price.nanoUsdPerMillionTokens), unit: 'million tokens', note: undefined }]
    case 'perPart':
      return [partText(price.rates)]
    case 'perMegapixel':
      return [{ amount: usdText(price.nanoUsdPerMegapixel), unit: 'megapixel', note: givenText(price.given) }]
    case 'perImage':
      return [{ amount: rangeText(price.nanoUsd), unit: 'image', note: givenText(price.given) }]
    case 'perTokenKind': {
      const { textInput, imageInput, imageOutput } = price.nanoUsdPerMillionTokens
      const note =
        imageInput === undefined ? 'edits unpriced' : `${usdText(imageInput)} a million of given images`
      return [
        { amount: textOrNothing(textInput), unit: 'million input tokens', note },
        { amount: textOrNothing(imageOutput), unit: 'million output tokens', note: undefined },
      ]
    }
  }
}

/** What a rate that is not by tokens counts. */
const COUNTED = {
  text: 'a character',
  image: 'an image',
  audio: 'a second of audio',
  video: 'a second of video',
  file: 'a page',
} as const

/** The price of text as the figure, the others as the note. */
function partText(rates: PartRates): PriceText {
  const { text, ...others } = rates
  const words = (Object.keys(COUNTED) as (keyof typeof COUNTED)[]).flatMap((kind) => {
    const rate = kind === 'text' && text?.by === 'tokens' ? undefined : rates[kind]
    if (rate === undefined) return []
    return rate.by === 'tokens'
      ? [`${usdText(rate.nanoUsdPerMillion)} ${kind}`]
      : [`${smallUsd(rate.nanoUsdPerMillion)} ${COUNTED[kind]}`]
  })
  const isByToken = text?.by === 'tokens' || Object.values(others).some((rate) => rate.by === 'tokens')
  return {
    amount: text?.by === 'tokens' ? usdText(text.nanoUsdPerMillion) : '',
    unit: isByToken || text === undefined ? 'million tokens' : 'image',
    note: words.length === 0 ? undefined : words.join(', '),
  }
}

/** A millionth of the amount, in dollars. */
function smallUsd(nanoUsdPerMillion: bigint): string {
  return usdText(nanoUsdPerMillion / 1_000_000n)
}

function textOrNothing(nanoUsd: bigint | undefined): string {
  return nanoUsd === undefined ? '' : usdText(nanoUsd)
}

function rangeText(table: Extract<ImagePrice, { kind: 'perImage' }>['nanoUsd']): string {
  const amounts = [...table.values()].flatMap((row) => [...row.values()])
  const least = amounts.reduce((a, b) => (a < b ? a : b))
  const most = amounts.reduce((a, b) => (a > b ? a : b))
  return least === most ? usdText(least) : `${usdText(least)}–${usdText(most)}`
}

/** The price of images to edit. Undefined: they cost nothing more. */
function givenText(price: GivenPrice): string | undefined {
  switch (price.kind) {
    case 'free':
      return undefined
    case 'unpriced':
      return 'edits unpriced'
    case 'perImage':
      return `${usdText(price.nanoUsd)} a given image`
    case 'perMegapixel':
      return `${usdText(price.nanoUsd)} a given megapixel`
  }
}

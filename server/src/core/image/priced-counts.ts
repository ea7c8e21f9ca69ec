/** The counts of an image call and what each was charged, one line per kind. */
import type { PixelSize } from '../catalog/catalog.ts'
import type { Cost, ImagePrice } from '../money/price.ts'
import type { PricedCount } from '../request/request-trace.ts'
import type { ImageUsage } from '../money/usage.ts'

interface CountedCall {
  readonly tokens: ImageUsage['tokens']
  readonly pictures: readonly PixelSize[]
  readonly cost: Cost
}

/** Empty where the price does not name single counts. */
export function pricedCounts(
  price: ImagePrice,
  { tokens, pictures, cost }: CountedCall,
): readonly PricedCount[] {
  switch (price.kind) {
    case 'free':
    case 'unpriced':
      return []
    case 'perImage': {
      const count = pictures.length
      const isEven = cost.kind === 'known' && count > 0 && cost.nanoUsd % BigInt(count) === 0n
      return isEven ? [{ of: 'images', count, nanoUsd: cost.nanoUsd / BigInt(count), per: 1 }] : []
    }
    case 'perMegapixel': {
      const pixels = pictures.reduce((sum, { width, height }) => sum + width * height, 0)
      return [{ of: 'megapixels', count: pixels, nanoUsd: price.nanoUsdPerMegapixel, per: 1_000_000 }]
    }
    case 'perTokenKind': {
      const prices = price.nanoUsdPerMillionTokens
      const cachedText = Math.min(tokens.cachedTextInput ?? 0, tokens.textInput ?? 0)
      const cachedImage = Math.min(tokens.cachedImageInput ?? 0, tokens.imageInput ?? 0)
      const counts: readonly PricedCount[] = [
        count('text_input', (tokens.textInput ?? 0) - cachedText, prices.textInput),
        count('cached_text_input', cachedText, prices.cachedTextInput),
        count('image_input', (tokens.imageInput ?? 0) - cachedImage, prices.imageInput),
        count('cached_image_input', cachedImage, prices.cachedImageInput),
        count('text_output', tokens.textOutput ?? 0, prices.textOutput),
        count('image_output', tokens.imageOutput ?? 0, prices.imageOutput),
        count('svg_input', tokens.svgInput ?? 0, prices.svgInput),
        count('svg_output', tokens.svgOutput ?? 0, prices.svgOutput),
      ]
      return counts.filter((one) => one.count > 0)
    }
  }
}

function count(of: PricedCount['of'], tokens: number, nanoUsd: bigint | undefined): PricedCount {
  return { of, count: tokens, nanoUsd, per: 1_000_000 }
}

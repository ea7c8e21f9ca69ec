/** The capabilities and prices of an image deployment, in words for people: in `torana check` and on the page about image models. */
import type { ImageEdits, ImageSizes, PixelSize } from '#core/catalog/catalog.ts'
import { usdText, type GivenPrice, type ImagePrice } from '#core/money/price.ts'

/** A table has no room for more. */
const MAX_SIZES = 3

export function sizesText(sizes: ImageSizes): string {
  if (sizes.kind === 'any') return 'the upstream decides'
  if (sizes.kind === 'free') {
    const multiple = sizes.multipleOf === 1 ? '' : `, multiples of ${sizes.multipleOf}`
    const ratio = sizes.maxRatio >= sizes.maxEdge ? '' : `, ratio to ${sizes.maxRatio}:1`
    return `any to ${sizes.maxEdge} an edge and ${megapixels(sizes.maxPixels)} MP${multiple}${ratio}`
  }
  const named = sizes.values.slice(0, MAX_SIZES).map(pixelText).join(' ')
  const others = sizes.values.slice(MAX_SIZES)
  if (others.length === 0) return named
  const largest = Math.max(...sizes.values.map(({ width, height }) => width * height))
  return `${named} and ${others.length} more, to ${megapixels(largest)} MP`
}

function pixelText({ width, height }: PixelSize): string {
  return `${width}x${height}`
}

/** `16, mask`: the number of input images, and other inputs. */
export function editsText(edits: ImageEdits | undefined): string {
  if (edits === undefined) return '–'
  const { maxInputs, mask, markup } = edits
  return [String(maxInputs), ...(mask ? ['mask'] : []), ...(markup ? ['markup'] : [])].join(', ')
}

export function imagePriceText(price: ImagePrice): string {
  switch (price.kind) {
    case 'free':
    case 'unpriced':
      return price.kind
    case 'perMegapixel':
      return `${usdText(price.nanoUsdPerMegapixel)}/MP${givenPriceText(price.given)}`
    case 'perTokenKind': {
      const { textInput, imageOutput } = price.nanoUsdPerMillionTokens
      return `${usdText(textInput ?? 0n)} in, ${usdText(imageOutput ?? 0n)} out/M tokens`
    }
    case 'perImage': {
      const amounts = [...price.nanoUsd.values()].flatMap((row) => [...row.values()])
      const [least, most] = [amounts.reduce(lesser), amounts.reduce(greater)]
      const range = least === most ? usdText(least) : `${usdText(least)}–${usdText(most)}`
      return `${range}/image${givenPriceText(price.given)}`
    }
  }
}

/** The price of images to edit; empty where it is free. */
function givenPriceText(price: GivenPrice): string {
  switch (price.kind) {
    case 'free':
      return ''
    case 'unpriced':
      return ', edits unpriced'
    case 'perImage':
      return `, ${usdText(price.nanoUsd)}/input image`
    case 'perMegapixel':
      return `, ${usdText(price.nanoUsd)}/given MP`
  }
}

function megapixels(pixels: number): string {
  return (pixels / 1_000_000).toFixed(1)
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

function greater(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

/** The possible and the actual cost of a call, for tests: prices in small numbers, given images, and a negotiated offer. */
import type { ImageEdits, ImageFacts, ImageModel, ImageTokenTable, PixelSize } from '#core/catalog/catalog.ts'
import { callCost, type AccountedCall, type AnsweredCall } from '#core/image/cost.ts'
import type { GivenAddress, GivenFile, ImageEdit } from '#core/image/given.ts'
import { negotiateImages, type ImageOffer } from '#core/image/negotiate.ts'
import type { ImageRequest } from '#core/image/request.ts'
import type { GivenPrice, ImagePrice } from '#core/money/price.ts'
import type { ImageUsage } from '#core/money/usage.ts'
import { anImageDeployment, anImageModel, anImageRequest, type ImageOverrides } from './images.ts'

export const SQUARE = { width: 1024, height: 1024 }
export const WIDE = { width: 1536, height: 1024 }
export const UNKNOWN_SIZE = { width: 0, height: 0 }
export const UNREPORTED: ImageUsage['tokens'] = {
  textInput: undefined,
  cachedTextInput: undefined,
  imageInput: undefined,
  cachedImageInput: undefined,
  textOutput: undefined,
  imageOutput: undefined,
}

/** As gpt-image-1 has them. */
export const outputTokens: ImageTokenTable = new Map([
  [
    '1024x1024',
    new Map([
      ['low', 272],
      ['medium', 1056],
      ['high', 4160],
    ]),
  ],
  [
    'default',
    new Map([
      ['low', 408],
      ['medium', 1584],
      ['high', 6240],
    ]),
  ],
])
export const perToken = {
  kind: 'perTokenKind',
  nanoUsdPerMillionTokens: {
    textInput: 5_000_000_000n,
    cachedTextInput: 1_250_000_000n,
    imageInput: undefined,
    cachedImageInput: undefined,
    textOutput: undefined,
    imageOutput: 40_000_000_000n,
  },
} satisfies ImagePrice
export const FREE: GivenPrice = { kind: 'free' }
export const UNPRICED: GivenPrice = { kind: 'unpriced' }
export const perGivenImage: GivenPrice = { kind: 'perImage', nanoUsd: 3n }
export const perGivenMegapixel: GivenPrice = { kind: 'perMegapixel', nanoUsd: 2_000n }
export const perImage = {
  kind: 'perImage',
  given: FREE,
  nanoUsd: new Map([
    [
      '1024x1024',
      new Map([
        ['low', 10n],
        ['medium', 20n],
        ['high', 80n],
      ]),
    ],
    ['1536x1024', new Map([['default', 120n]])],
    ['1024x1536', new Map([['default', 110n]])],
  ]),
} satisfies ImagePrice
export const perMegapixel = {
  kind: 'perMegapixel',
  nanoUsdPerMegapixel: 1_000n,
  given: FREE,
} satisfies ImagePrice

export const aFile = ({ width, height }: PixelSize): GivenFile => ({
  kind: 'file',
  sha256: 'ab',
  bytes: 1000,
  format: 'png',
  width,
  height,
  hasAlpha: true,
  isTurned: false,
})
export const anAddress: GivenAddress = { kind: 'address', url: 'https://x.test/a.png' }
export const anEdit = (edit: Partial<ImageEdit> = {}): ImageEdit => ({
  pictures: [aFile(SQUARE)],
  mask: undefined,
  markup: undefined,
  fidelity: undefined,
  ...edit,
})
/** Takes all that can be given. */
const edits: ImageEdits = {
  maxInputs: 16,
  inputFormats: ['png', 'jpeg', 'webp'],
  mask: 'alpha',
  markup: true,
  fidelities: [],
  bodies: ['json'],
  maxFileBytes: 50_000_000,
}

export interface Given {
  readonly request: ImageRequest
  readonly model: ImageModel
  readonly offer: ImageOffer
}

export function given(
  price: ImagePrice,
  asked: Partial<ImageRequest> = {},
  {
    table,
    inputImageTokens,
    ...overrides
  }: ImageOverrides &
    Partial<Pick<ImageFacts, 'inputImageTokens'>> & { readonly table?: ImageTokenTable | undefined } = {},
): Given {
  const capabilities: ImageOverrides['capabilities'] = {
    edits,
    passedFormats: ['gif', 'svg'],
    ...overrides.capabilities,
  }
  const model = anImageModel({
    facts: { outputTokens: table, inputImageTokens },
    deployments: [anImageDeployment({ price, ...overrides, capabilities })],
  })
  const request = anImageRequest(asked)
  const { offers } = negotiateImages(request, model, 'refuse')
  return { request, model, offer: offers[0] as ImageOffer }
}

export function answered(base: Given, answer: Partial<AnsweredCall> = {}): AccountedCall {
  return callCost({ ...base, images: 1, tokens: UNREPORTED, pictures: [SQUARE], echoes: {}, ...answer })
}

export const countsOf = (textInput: number, imageOutput: number) => ({
  ...UNREPORTED,
  textInput,
  imageOutput,
})

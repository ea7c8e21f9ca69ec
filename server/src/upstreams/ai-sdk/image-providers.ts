/** What the dialect knows about each image package: how it is opened, how our options are expressed, what it lacks. */
import type { ImageModelV3, ImageModelV4, JSONObject } from '@ai-sdk/provider'
import type { ImageDeployment, ImageFormat, PixelSize } from '#core/catalog/catalog.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { ImageUsage } from '#core/money/usage.ts'
import type { ErrorWords } from './failures.ts'
import type { Reading } from './image-answers.ts'
import {
  geminiTokens,
  readBedrock,
  readFal,
  readFlux,
  readGemini,
  readLuma,
  readReplicate,
  readXai,
} from './image-answers.ts'
import type { EditWords } from './image-edit-words.ts'
import {
  BEDROCK_EDITS,
  FAL_EDITS,
  FIREWORKS_EDITS,
  FLUX_EDITS,
  GEMINI_EDITS,
  isFireworksKontext,
  LUMA_EDITS,
  REPLICATE_EDITS,
  TOGETHER_EDITS,
  XAI_EDITS,
} from './image-edit-words.ts'
import { lumaModel, togetherModel, type OwnImageModel } from './own-image-models.ts'
import type { Fetch } from './providers.ts'
import { BEDROCK_KINDS, GOOGLE_KINDS } from '../openai/error-kinds.ts'
import { bedrockSettings, commonSettings, vertexSettings } from '../openai/provider-settings.ts'

/** Two versions of the SDK's specification exist; for images both are called alike. */
export type ImageModel = ImageModelV3 | ImageModelV4 | OwnImageModel

type CallOptions = Parameters<ImageModel['doGenerate']>[0]

/** An option in a package's words: the specification's own options, or those of the provider. */
export interface Phrase {
  readonly size?: `${number}x${number}`
  readonly aspectRatio?: `${number}:${number}`
  readonly files?: CallOptions['files']
  readonly mask?: CallOptions['mask']
  readonly options?: JSONObject
  readonly headers?: Readonly<Record<string, string>>
}

type ToPhrase<Value> = (value: Value, deployment: ImageDeployment) => Phrase | undefined

/** What has no entry can't be expressed on that wire, and is refused before anything is sent. */
interface Vocabulary {
  readonly pixels?: ToPhrase<PixelSize>
  readonly ratio?: ToPhrase<string>
  readonly resolution?: ToPhrase<string>
  readonly quality?: ToPhrase<string>
  readonly background?: ToPhrase<string>
  readonly moderation?: ToPhrase<string>
  readonly format?: ToPhrase<ImageFormat>
  readonly compression?: ToPhrase<number>
  readonly user?: ToPhrase<string>
}

export interface ImageProvider extends ErrorWords {
  /** Imports the package, where there is one, on first use. */
  model(deployment: ImageDeployment, fetch: Fetch): ImageModel | Promise<ImageModel>
  /** The key of `providerOptions`. */
  readonly key: string
  readonly words: Vocabulary
  readonly edits: EditWords
  /** Sent with every call. */
  readonly always?: JSONObject
  /** Takes a number of images. The other packages always make one. */
  readonly severalImages: boolean
  /**
   * How images come: `inside` the answer; at `addresses` in it; or from a job that is polled after the
   * submit, either always or unless the submit's answer was final.
   */
  readonly pictures: 'inside' | 'addresses' | 'polled' | 'polledUnlessReady'
  /** Further hosts of the provider that may see its key. */
  readonly domains?: readonly string[]
  readonly read?: (body: unknown) => Reading
  readonly tokens?: (body: unknown) => ImageUsage['tokens']
}

const asOption =
  (name: string) =>
  (value: string | number): Phrase => ({ options: { [name]: value } })
const asSize = ({ width, height }: PixelSize): Phrase => ({ size: `${width}x${height}` })
const asWidthAndHeight = ({ width, height }: PixelSize): Phrase => ({ options: { width, height } })
const asAspectRatio = (ratio: string): Phrase | undefined =>
  /^\d+:\d+$/.test(ratio) ? { aspectRatio: ratio as `${number}:${number}` } : undefined

/** The format under the upstream's own name; formats without one are not made there. */
const asFormat =
  (option: string, names: Partial<Record<ImageFormat, string>>) =>
  (format: ImageFormat): Phrase | undefined => {
    const name = names[format]
    return name === undefined ? undefined : { options: { [option]: name } }
  }
const JPEG_OR_PNG = { jpeg: 'jpeg', png: 'png' }

const GEMINI_WORDS: Vocabulary = {
  ratio: asAspectRatio,
  resolution: (imageSize) => ({ options: { imageConfig: { imageSize } } }),
}

export const imageProviders: Readonly<Record<string, ImageProvider>> = {
  google: {
    model: async (deployment, fetch) => {
      const { createGoogle } = await import('@ai-sdk/google')
      return createGoogle(commonSettings(deployment, fetch)).imageModel(deployment.upstreamModel)
    },
    key: 'google',
    words: GEMINI_WORDS,
    edits: GEMINI_EDITS,
    severalImages: false,
    pictures: 'inside',
    read: readGemini,
    tokens: geminiTokens,
    kinds: GOOGLE_KINDS,
  },

  'google-vertex': {
    model: async (deployment, fetch) => {
      const { createGoogleVertex } = await import('@ai-sdk/google-vertex')
      return createGoogleVertex(vertexSettings(deployment, fetch)).imageModel(deployment.upstreamModel)
    },
    key: 'googleVertex',
    words: {
      ...GEMINI_WORDS,
      format: (format) => (format === 'webp' ? undefined : inImageOutput({ mimeType: `image/${format}` })),
      compression: (compressionQuality) => inImageOutput({ compressionQuality }),
    },
    edits: GEMINI_EDITS,
    severalImages: false,
    pictures: 'inside',
    read: readGemini,
    tokens: geminiTokens,
    kinds: GOOGLE_KINDS,
    strangers: 'rejectedUs',
  },

  'amazon-bedrock': {
    model: async (deployment, fetch) => {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock')
      return createAmazonBedrock(bedrockSettings(deployment, fetch)).imageModel(deployment.upstreamModel)
    },
    key: 'amazonBedrock',
    words: { pixels: asSize, quality: asOption('quality') },
    edits: BEDROCK_EDITS,
    severalImages: true,
    pictures: 'inside',
    read: readBedrock,
    kinds: BEDROCK_KINDS,
    contentRefusal: /content filters|Responsible AI/i,
  },

  'black-forest-labs': {
    model: async (deployment, fetch) => {
      const { createBlackForestLabs } = await import('@ai-sdk/black-forest-labs')
      return createBlackForestLabs(commonSettings(deployment, fetch)).imageModel(deployment.upstreamModel)
    },
    key: 'blackForestLabs',
    // The package's `size` would send an aspect ratio along, and warn.
    words: { pixels: asWidthAndHeight, ratio: asAspectRatio, format: asFormat('outputFormat', JPEG_OR_PNG) },
    edits: FLUX_EDITS,
    severalImages: false,
    pictures: 'polled',
    domains: ['bfl.ai'],
    read: readFlux,
    contentRefusal: /moderat/i,
  },

  fal: {
    model: async (deployment, fetch) => {
      const { createFal } = await import('@ai-sdk/fal')
      return createFal(commonSettings(deployment, fetch)).imageModel(deployment.upstreamModel)
    },
    key: 'fal',
    words: {
      pixels: asSize,
      // The package turns `aspectRatio` into a size of its choice, or nothing.
      ratio: asOption('aspect_ratio'),
      resolution: asOption('resolution'),
      quality: asOption('quality'),
      background: asOption('background'),
      format: asFormat('outputFormat', JPEG_OR_PNG),
    },
    edits: FAL_EDITS,
    severalImages: true,
    pictures: 'addresses',
    read: readFal,
    kinds: { content_policy_violation: 'contentRefused' },
  },

  replicate: {
    model: async (deployment, fetch) => {
      const { createReplicate } = await import('@ai-sdk/replicate')
      const { apiKey: apiToken, ...settings } = commonSettings(deployment, fetch)
      return createReplicate({ ...settings, apiToken }).imageModel(deployment.upstreamModel)
    },
    key: 'replicate',
    words: {
      pixels: asWidthAndHeight,
      ratio: asOption('aspect_ratio'),
      resolution: asOption('resolution'),
      quality: asOption('quality'),
      background: asOption('background'),
      moderation: asOption('moderation'),
      format: asFormat('output_format', { jpeg: 'jpg', png: 'png', webp: 'webp' }),
      compression: asOption('output_quality'),
    },
    // Jobs are awaited elsewhere; the package would wait once more after the last answer.
    always: { pollIntervalMillis: 1 },
    edits: REPLICATE_EDITS,
    severalImages: true,
    pictures: 'polledUnlessReady',
    read: readReplicate,
  },

  fireworks: {
    model: async (deployment, fetch) => {
      const { createFireworks } = await import('@ai-sdk/fireworks')
      return createFireworks(commonSettings(deployment, fetch)).imageModel(deployment.upstreamModel)
    },
    key: 'fireworks',
    words: { pixels: asSize, ratio: asAspectRatio, format: fireworksFormat },
    edits: FIREWORKS_EDITS,
    severalImages: false,
    pictures: 'polled',
    read: readFlux,
    contentRefusal: /safety checker|moderat|nsfw/i,
  },

  togetherai: {
    model: togetherModel,
    key: 'togetherai',
    words: { pixels: asWidthAndHeight, format: asFormat('output_format', JPEG_OR_PNG) },
    edits: TOGETHER_EDITS,
    severalImages: true,
    pictures: 'inside',
    contentRefusal: /nsfw|moderat/i,
  },

  xai: {
    model: async (deployment, fetch) => {
      const { createXai } = await import('@ai-sdk/xai')
      return createXai(commonSettings(deployment, fetch)).imageModel(deployment.upstreamModel)
    },
    key: 'xai',
    words: {
      ratio: asAspectRatio,
      resolution: asOption('resolution'),
      quality: asOption('quality'),
      format: asFormat('output_format', { jpeg: 'jpeg', png: 'png', webp: 'webp' }),
      user: asOption('user'),
    },
    edits: XAI_EDITS,
    severalImages: true,
    pictures: 'inside',
    read: readXai,
    contentRefusal: /content (moderation|policy)/i,
  },

  luma: {
    model: lumaModel,
    key: 'luma',
    words: { ratio: asAspectRatio, format: asFormat('format', { jpeg: 'jpg', png: 'png' }) },
    edits: LUMA_EDITS,
    severalImages: false,
    pictures: 'polled',
    read: readLuma,
    contentRefusal: /moderat/i,
  },
}

export function providerOf({ id, upstream }: ImageDeployment): ImageProvider {
  const { provider = '', name } = upstream
  const known = Object.hasOwn(imageProviders, provider) ? imageProviders[provider] : undefined
  if (known) return known
  const names = Object.keys(imageProviders).join(', ')
  const message = `upstreams.${name}.provider is ${JSON.stringify(provider)}; for images the ai-sdk dialect speaks to ${names}`
  throw new UpstreamFailure('rejectedUs', message, { deployment: id })
}

function inImageOutput(imageOutputOptions: JSONObject): Phrase {
  return { options: { imageConfig: { imageOutputOptions } } }
}

/** Kontext models take a field; the others, which answer with the image itself, go by the accept header. */
function fireworksFormat(format: ImageFormat, deployment: ImageDeployment): Phrase | undefined {
  if (format === 'webp') return undefined
  return isFireworksKontext(deployment)
    ? { options: { output_format: format } }
    : { headers: { accept: `image/${format}` } }
}

/**
 * What each image package does with given images: how many reach the wire, and in which form. The packages
 * drop the rest with a warning, or put it where the upstream does not look.
 */
import type { JSONObject } from '@ai-sdk/provider'
import type { ImageDeployment } from '#core/catalog/catalog.ts'

export interface EditWords {
  /** Most images that reach the wire; 0 when none do. */
  maxInputs(deployment: ImageDeployment, hasMask: boolean): number
  /** Whether a mask reaches the wire. Undefined means never. */
  readonly mask?: (deployment: ImageDeployment) => boolean
  /** The forms in which images and masks can be sent. */
  readonly takes: readonly ('bytes' | 'address')[]
  /** Options sent along with the images. */
  readonly options?: (deployment: ImageDeployment) => JSONObject
  /** Options sent instead of passing the images to the package, where its names for them are not the wire's. */
  readonly instead?: (urls: readonly string[]) => JSONObject
}

/** The package passes on any number: the catalog's number is the limit. */
const ALL = Number.POSITIVE_INFINITY

/** The package does not know the media type of an address and drops the address. */
export const GEMINI_EDITS: EditWords = { maxInputs: () => ALL, takes: ['bytes'] }

/** With a mask the first image is painted in; without one all of them are varied. */
export const BEDROCK_EDITS: EditWords = {
  maxInputs: (_, hasMask) => (hasMask ? 1 : ALL),
  mask: () => true,
  takes: ['bytes'],
}

const isFluxFill = ({ upstreamModel }: ImageDeployment): boolean => upstreamModel === 'flux-pro-1.0-fill'

/** The package sends a mask to every model, but only this one has the field. */
export const FLUX_EDITS: EditWords = {
  maxInputs: (deployment) => (isFluxFill(deployment) ? 1 : 10),
  mask: isFluxFill,
  takes: ['bytes', 'address'],
}

/** A model takes one image, or a list even of one; the catalog's number says which. */
const takesList = ({ capabilities }: ImageDeployment): boolean => (capabilities.edits?.maxInputs ?? 1) > 1

export const FAL_EDITS: EditWords = {
  maxInputs: (deployment) => (takesList(deployment) ? ALL : 1),
  mask: () => true,
  takes: ['bytes', 'address'],
  options: (deployment) => ({ useMultipleImages: takesList(deployment) }),
}

/** The same test as the package's. */
const isFlux2 = ({ upstreamModel }: ImageDeployment): boolean =>
  upstreamModel.startsWith('black-forest-labs/flux-2-')

export const REPLICATE_EDITS: EditWords = {
  maxInputs: (deployment) => (isFlux2(deployment) ? 8 : 1),
  mask: (deployment) => !isFlux2(deployment),
  takes: ['bytes', 'address'],
}

/** The other models have a separate path for text, to which the package would send images too. */
export const isFireworksKontext = ({ upstreamModel }: ImageDeployment): boolean =>
  /^accounts\/fireworks\/models\/flux-kontext-(pro|max)$/.test(upstreamModel)

export const FIREWORKS_EDITS: EditWords = {
  maxInputs: (deployment) => (isFireworksKontext(deployment) ? 1 : 0),
  takes: ['bytes', 'address'],
}

export const TOGETHER_EDITS: EditWords = { maxInputs: () => 1, takes: ['bytes', 'address'] }

export const XAI_EDITS: EditWords = { maxInputs: () => ALL, takes: ['bytes', 'address'] }

/** The SDK's package says `modify_image`; the wire's name, in Luma's own clients too, is `modify_image_ref`. */
export const LUMA_EDITS: EditWords = {
  maxInputs: () => 1,
  takes: ['address'],
  instead: ([url = '']) => ({ modify_image_ref: { url } }),
}

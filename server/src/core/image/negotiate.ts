/** For each option of an image request a deployment is native, emulating, or unable. */
import type { ImageDeployment, ImageFormat, ImageModel, ImageSizes, OfferedSize } from '../catalog/catalog.ts'
import { Fault } from '../fault/fault.ts'
import { offersOf, type NegotiatedOf, type Refusal } from '../request/offers.ts'
import { unknownFieldRefusal } from '../request/unknown-fields.ts'
import { defaultLimits } from '../settings.ts'
import { editFor, type EditLimits, type OfferedEdit } from './negotiate-edit.ts'
import { outputFor, transparencyRefusal, type Conversion, type Output } from './output.ts'
import { isLongerThan, type ImageRequest } from './request.ts'

/** What one deployment would do for one request. Undefined fields are not sent. */
export interface ImageOffer {
  readonly deployment: ImageDeployment
  /** Images requested by each call: `[4, 4, 2]` for ten from a deployment that makes four at once. */
  readonly perCall: readonly number[]
  readonly size: OfferedSize | undefined
  readonly quality: string | undefined
  readonly background: string | undefined
  readonly moderation: string | undefined
  readonly complexity?: string | undefined
  readonly format: ImageFormat | undefined
  readonly compression: number | undefined
  readonly user: string | undefined
  readonly safetyIdentifier: string | undefined
  readonly extraFields: Readonly<Record<string, unknown>>
  /** Undefined: requested as a whole. */
  readonly partialImages: number | undefined
  /** Torana's conversion of the images; undefined: they stay as they came, byte for byte. */
  readonly conversion: Conversion | undefined
  /** Torana's conversion of images that come in another format than the upstream was asked for. */
  readonly correction: Conversion | undefined
  /** Undefined: there is nothing to edit. */
  readonly edit: OfferedEdit | undefined
  /** Names of emulated options, for `x-torana-emulated`. */
  readonly emulated: readonly string[]
}

export function negotiateImages(
  request: ImageRequest,
  model: ImageModel,
  unsupported: 'refuse' | 'drop',
  limits: EditLimits = defaultLimits,
): NegotiatedOf<ImageOffer> {
  checkPrompt(request, model)
  return offersOf(request, {
    model,
    unsupported,
    offerOf: (asked, deployment: ImageDeployment) => offerOf(asked, model, deployment, limits),
    withoutOption,
  })
}

function checkPrompt({ prompt }: ImageRequest, { id, facts }: ImageModel): void {
  if (!isLongerThan(prompt, facts.maxPromptCharacters)) return
  throw new Fault(
    'invalid_parameter',
    `prompt has more than ${facts.maxPromptCharacters} characters, the limit of '${id}'. Shorten it.`,
    { param: 'prompt' },
  )
}

function offerOf(
  request: ImageRequest,
  model: ImageModel,
  deployment: ImageDeployment,
  limits: EditLimits,
): ImageOffer | Refusal {
  const { capabilities } = deployment
  const edit = request.edit && editFor(request.edit, model, deployment, limits)
  if (edit !== undefined && 'message' in edit) return edit
  const size = sizeFor(request, model, capabilities.sizes)
  if (size !== undefined && 'message' in size) return size

  const output = outputFor(request, model, deployment)
  if ('message' in output) return output

  const perCall = fanOut(request.images, capabilities.maxImages)
  const partialImages = previewsFor(request, deployment, output, perCall)

  const refusal =
    choiceRefusal('quality', request.quality, capabilities.qualities, model) ??
    choiceRefusal('background', request.background, capabilities.backgrounds, model) ??
    choiceRefusal('moderation', request.moderation, capabilities.moderations, model) ??
    choiceRefusal('complexity', request.complexity, capabilities.complexities ?? [], model) ??
    frameRefusal(request, model, deployment) ??
    transparencyRefusal(request, model, output) ??
    extraFieldRefusal(request, model, deployment, perCall)
  if (refusal !== undefined) return refusal

  const emulated = [...output.emulated]
  if (perCall.length > 1) emulated.push('n')
  if (edit?.maskColour !== undefined) emulated.push('mask')
  if (!capabilities.forms.includes(request.form ?? model.facts.answersWith)) emulated.push('response_format')
  if (request.stream && partialImages === undefined) emulated.push('stream')
  else if (request.partialImages > (partialImages ?? 0)) emulated.push('partial_images')
  return {
    deployment,
    perCall,
    size,
    quality: request.quality,
    background: request.background,
    moderation: request.moderation,
    ...(request.complexity && { complexity: request.complexity }),
    format: output.format,
    compression: output.compression,
    user: capabilities.user ? request.user : undefined,
    safetyIdentifier: capabilities.user ? request.safetyIdentifier : undefined,
    extraFields:
      output.foreign === undefined
        ? request.extraFields
        : {
            ...request.extraFields,
            output_format: output.foreign,
            ...(request.frameCount && { frame_count: request.frameCount }),
          },
    partialImages,
    conversion: output.conversion,
    correction: output.correction,
    edit,
    emulated,
  }
}

/** Full calls first: the smallest number of calls. */
export function fanOut(images: number, maxImages: number): number[] {
  const perCall: number[] = []
  for (let left = images; left > 0; left -= maxImages) perCall.push(Math.min(left, maxImages))
  return perCall
}

/** Never clamped: an image of another size than requested is another image. */
function sizeFor(
  { size }: ImageRequest,
  model: ImageModel,
  sizes: ImageSizes,
): OfferedSize | Refusal | undefined {
  if (size === undefined) return undefined
  const { width, height } = size
  const asked = `size is ${width}x${height}`
  switch (sizes.kind) {
    case 'any':
      return size
    case 'list': {
      const offered = sizes.values.find((value) => value.width === width && value.height === height)
      const all = sizes.values.map((value) => `${value.width}x${value.height}`).join(', ')
      return offered ?? { param: 'size', message: `${asked}; '${model.id}' makes: ${all}, or auto.` }
    }
    case 'free': {
      const broken = brokenBound(width, height, sizes)
      if (broken === undefined) return size
      const works = `${sizes.default.width}x${sizes.default.height}`
      return { param: 'size', message: `${asked}; ${broken} with '${model.id}'. ${works} works, or auto.` }
    }
  }
}

function brokenBound(
  width: number,
  height: number,
  { multipleOf, minPixels, maxPixels, maxEdge, maxRatio }: Extract<ImageSizes, { kind: 'free' }>,
): string | undefined {
  const pixels = width * height
  const long = Math.max(width, height)
  if (width % multipleOf !== 0 || height % multipleOf !== 0)
    return `both edges are multiples of ${multipleOf}`
  if (long > maxEdge) return `no edge is longer than ${maxEdge}`
  if (long > maxRatio * Math.min(width, height)) return `an edge is at most ${maxRatio} times the other`
  if (pixels < minPixels) return `it has ${pixels} pixels, and ${minPixels} is the least`
  if (pixels > maxPixels) return `it has ${pixels} pixels, and ${maxPixels} is the most`
  return undefined
}

function choiceRefusal(
  param: string,
  asked: string | undefined,
  values: readonly string[],
  model: ImageModel,
): Refusal | undefined {
  if (asked === undefined || values.includes(asked)) return undefined
  if (values.length === 0)
    return { param, message: `'${model.id}' has no ${param} setting. Remove ${param}, or send auto.` }
  const takes = `It takes: ${values.join(', ')}, auto.`
  return { param, message: `'${model.id}' has no ${param} ${JSON.stringify(asked)}. ${takes}` }
}

/** The cost of a frame is known where tokens are charged. Where an image has a price, the cost of a GIF is not known. */
function frameRefusal(
  { frameCount }: ImageRequest,
  model: ImageModel,
  { id, price }: ImageDeployment,
): Refusal | undefined {
  if (frameCount === undefined || (price.kind !== 'perImage' && price.kind !== 'perMegapixel'))
    return undefined
  const message = `frame_count is ${frameCount}, but ${id} is priced by the image, and what a frame of '${model.id}' costs is not known. Remove frame_count.`
  return { param: 'frame_count', message }
}

/**
 * Number of requested previews. Undefined: the upstream answers as a whole. The caller's number is a wish, as in OpenAI's
 * API: fewer may come, and never more than the upstream makes.
 */
function previewsFor(
  { stream, partialImages }: ImageRequest,
  { capabilities }: ImageDeployment,
  { conversion, foreign }: Output,
  perCall: readonly number[],
): number | undefined {
  // Torana converts only complete images, formats it does not know have no previews, and several calls send several
  // streams.
  const isStreamed =
    stream && capabilities.stream && conversion === undefined && foreign === undefined && perCall.length === 1
  return isStreamed ? Math.min(partialImages, capabilities.maxPartialImages) : undefined
}

/** Refuses also a field that would connect calls: a `seed` would buy the same image once per call. */
function extraFieldRefusal(
  { extraFields, images }: ImageRequest,
  model: ImageModel,
  deployment: ImageDeployment,
  perCall: readonly number[],
): Refusal | undefined {
  const names = Object.keys(extraFields)
  const refused = names.find((name) => deployment.capabilities.refusedFields?.includes(name))
  if (refused !== undefined)
    return {
      param: refused,
      message: `'${model.id}' has no ${refused} setting. Remove ${refused}, or send the header x-torana-unsupported: drop to leave it out.`,
    }
  const refusal = unknownFieldRefusal(names, model, deployment)
  if (refusal !== undefined) return refusal
  const { harmlessFields, maxImages } = deployment.capabilities
  const tying = names.find((name) => !harmlessFields.includes(name))
  if (tying === undefined || perCall.length === 1) return undefined
  return {
    param: tying,
    message: `n is ${images}, but ${deployment.id} makes ${maxImages} per call, and Torana does not know the field '${tying}', which several calls could change the meaning of. Send n ${maxImages}, or remove '${tying}'.`,
  }
}

function withoutOption(request: ImageRequest, param: string): ImageRequest | undefined {
  switch (param) {
    // Without one of these, another image would be changed, or another area of it.
    case 'image':
    case 'mask':
    case 'markup':
      return undefined
    case 'input_fidelity':
      return { ...request, edit: request.edit && { ...request.edit, fidelity: undefined } }
    case 'size':
    case 'quality':
    case 'background':
    case 'moderation':
    case 'complexity':
      return { ...request, [param]: undefined }
    case 'frame_count':
      return { ...request, frameCount: undefined }
    case 'output_format':
      return { ...request, format: undefined }
    case 'output_compression':
      return { ...request, compression: undefined }
    default: {
      const { [param]: _, ...extraFields } = request.extraFields
      return { ...request, extraFields }
    }
  }
}

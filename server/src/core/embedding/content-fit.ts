/** Which deployments of a model take the contents of a request, and which models would if none does. */
import { listModels, type Catalog, type Deployment, type EmbeddingModel } from '../catalog/catalog.ts'
import type { ContentCapabilities } from '../catalog/content-capabilities.ts'
import { Fault, type FaultCode } from '../fault/fault.ts'
import {
  hasAddress,
  hasMedia,
  mediaIn,
  type Content,
  type Media,
  type Part,
  type PartKind,
} from '../content/content.ts'

interface Misfit {
  readonly code: FaultCode
  readonly message: string
  /** Undefined: the content as a whole. */
  readonly part?: number | undefined
}

/** Models named in a message: enough to choose from. */
const MAX_NAMED_MODELS = 5

/** The model with the deployments that take all contents. Throws the reason of the first one when none does. */
export function fittedTo(
  model: EmbeddingModel,
  contents: readonly Content[],
  installed: { readonly catalog: Catalog; readonly mayUse: (model: EmbeddingModel) => boolean },
): EmbeddingModel {
  const deployments = model.deployments.filter((one) => firstMisfit(one, contents) === undefined)
  if (deployments.length > 0) return { ...model, deployments }
  const [first] = model.deployments
  const found = first && firstMisfit(first, contents)
  if (found === undefined) throw new Fault('internal_error', `Model '${model.id}' has no deployment.`)
  const { index, misfit } = found
  const others = takersOf(contents, model, installed)
  const advice =
    others.length === 0
      ? 'No other model of this gateway takes it.'
      : `These models of this gateway take it: ${others.slice(0, MAX_NAMED_MODELS).join(', ')}.`
  const at = misfit.part === undefined ? `input[${index}]` : `input[${index}].content[${misfit.part}]`
  throw new Fault(misfit.code, `${at} ${misfit.message}. ${advice}`, { param: at })
}

function takersOf(
  contents: readonly Content[],
  model: EmbeddingModel,
  { catalog, mayUse }: Parameters<typeof fittedTo>[2],
): readonly string[] {
  return listModels(catalog).flatMap((one) => {
    const takes =
      one.kind === 'embedding' &&
      one.id !== model.id &&
      mayUse(one) &&
      one.deployments.some((deployment) => firstMisfit(deployment, contents) === undefined)
    return takes ? [one.id] : []
  })
}

function firstMisfit(
  { capabilities, upstreamModel }: Deployment,
  contents: readonly Content[],
): { readonly index: number; readonly misfit: Misfit } | undefined {
  for (const [index, content] of contents.entries()) {
    const misfit = misfitOf(content, capabilities.contents, upstreamModel)
    if (misfit !== undefined) return { index, misfit }
  }
  return undefined
}

function misfitOf(
  { parts }: Content,
  capabilities: ContentCapabilities | undefined,
  name: string,
): Misfit | undefined {
  if (capabilities === undefined) return textModelMisfit(parts, name)
  for (const [index, part] of parts.entries()) {
    const misfit = partMisfit(part, capabilities, name)
    if (misfit !== undefined) return { ...misfit, part: index }
  }
  const { fuses, maxParts, maxImages = Infinity } = capabilities
  if (parts.length > 1 && !fuses) return notFusible(parts, name)
  if (parts.length > maxParts)
    return { code: 'too_many_parts', message: `has ${parts.length} parts; '${name}' takes ${maxParts}` }
  const images = parts.filter(({ kind }) => kind === 'image').length
  if (images > maxImages)
    return { code: 'too_many_parts', message: `has ${images} images; '${name}' takes ${maxImages}` }
  return togetherMisfit(parts, capabilities, name)
}

/** A text among other contents is what such a model takes. */
function textModelMisfit(parts: readonly Part[], name: string): Misfit | undefined {
  const index = parts.findIndex(({ kind }) => kind !== 'text')
  const part = parts[index]
  if (part !== undefined)
    return {
      code: 'part_unsupported',
      message: `is ${a(part.kind)}, and '${name}' takes texts only`,
      part: index,
    }
  return parts.length > 1 ? notFusible(parts, name) : undefined
}

function notFusible({ length }: readonly Part[], name: string): Misfit {
  return {
    code: 'parts_not_fusible',
    message: `has ${length} parts, and '${name}' makes a vector of one part only. Send each part as an input of its own`,
  }
}

/** Parts that are taken one by one, and not in one call. */
function togetherMisfit(
  parts: readonly Part[],
  { wire, maxCallBytes = Infinity }: ContentCapabilities,
  name: string,
): Misfit | undefined {
  const bytes = mediaIn({ parts }).reduce((sum, { size }) => sum + size, 0)
  if (bytes > maxCallBytes)
    return {
      code: 'media_too_large',
      message: `has ${bytes} bytes of media; at most ${maxCallBytes} are taken at '${name}'`,
    }
  if (wire === 'voyage' && parts.some(hasAddress) && parts.some(hasMedia))
    return {
      code: 'part_unsupported',
      message: `has addresses and data, and '${name}' takes only one of them at once. Send all its media in the same way`,
    }
  const kinds = new Set(parts.map(({ kind }) => kind))
  if (wire === 'titan' && kinds.size < parts.length)
    return {
      code: 'parts_not_fusible',
      message: `has several parts of one kind, and '${name}' fuses one text with one image. Send each part as an input of its own`,
    }
  return undefined
}

function partMisfit(part: Part, capabilities: ContentCapabilities, name: string): Misfit | undefined {
  const { inputs, fetches, wire } = capabilities
  if (!inputs.includes(part.kind))
    return { code: 'part_unsupported', message: `is ${a(part.kind)}; '${name}' takes ${inputs.join(', ')}` }
  if (hasAddress(part))
    return fetches
      ? undefined
      : {
          code: 'part_unsupported',
          message: `is an address, and '${name}' fetches none. Send the data itself as a data URL, or ask the operator to set limits.fetchImageUrls`,
        }
  if (!hasMedia(part)) return undefined
  if (wire === 'dashscope' && part.kind === 'video')
    return {
      code: 'part_unsupported',
      message: `is a video as data; '${name}' takes videos by address only`,
    }
  return mediaMisfit(part.media, capabilities, name)
}

type MediaFacts = Omit<Media, 'open'>

function mediaMisfit(media: MediaFacts, capabilities: ContentCapabilities, name: string): Misfit | undefined {
  const { formats } = capabilities
  if (!formats.includes(media.format))
    return {
      code: 'part_unsupported',
      message: `is ${media.format.toUpperCase()}; '${name}' takes ${formats.map((one) => one.toUpperCase()).join(', ')}`,
    }
  const words = tooLargeWords(media, capabilities)
  return words === undefined ? undefined : { code: 'media_too_large', message: `${words} at '${name}'` }
}

/** Whether a deployment takes a content of this part alone. */
export function takesMedia(
  { capabilities: { contents }, upstreamModel }: Deployment,
  media: MediaFacts,
): boolean {
  if (contents?.inputs.includes(media.kind) !== true) return false
  return mediaMisfit(media, contents, upstreamModel) === undefined
}

function tooLargeWords(
  { size, width = 0, height = 0, seconds = 0, pages = 0 }: MediaFacts,
  {
    maxPartBytes = Infinity,
    maxCallBytes = Infinity,
    maxPixels = Infinity,
    maxSeconds = Infinity,
    maxPages = Infinity,
  }: ContentCapabilities,
): string | undefined {
  const maxBytes = Math.min(maxPartBytes, maxCallBytes)
  if (size > maxBytes) return `has ${size} bytes; at most ${maxBytes} are taken`
  if (width * height > maxPixels)
    return `has ${width}x${height} pixels; at most ${maxPixels} pixels are taken`
  if (seconds > maxSeconds) return `has ${Math.ceil(seconds)} seconds; at most ${maxSeconds} are taken`
  if (pages > maxPages) return `has ${pages} pages; at most ${maxPages} are taken`
  return undefined
}

function a(kind: PartKind): string {
  const names = {
    text: 'a text',
    image: 'an image',
    audio: 'audio',
    video: 'a video',
    file: 'a PDF',
  } as const
  return names[kind]
}

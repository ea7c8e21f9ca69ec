/** An image's format and compression: the upstream's own, or made by Torana when the image is complete. */
import type { ImageDeployment, ImageFormat, ImageModel } from '../catalog/catalog.ts'
import { carriesUnknownFields, type Refusal } from '../request/offers.ts'
import type { ImageRequest } from './request.ts'

/** How an image gets its format and its compression. */
export interface Output {
  readonly format: ImageFormat | undefined
  readonly compression: number | undefined
  readonly conversion: { readonly format: ImageFormat; readonly quality: number | undefined } | undefined
  /** The upstream's format. Undefined: not known. */
  readonly upstreamFormat: ImageFormat | undefined
  /** A format that Torana can't make, passed on as an unknown field. */
  readonly foreign: string | undefined
  readonly emulated: readonly string[]
}

export function outputFor(
  request: ImageRequest,
  model: ImageModel,
  deployment: ImageDeployment,
): Output | Refusal {
  const { formats, compression: takesCompression } = deployment.capabilities
  const [unasked] = formats
  if (request.format !== undefined && !isImageFormat(request.format))
    return foreignOutput(request.format, request, model, deployment)

  const wanted = request.format ?? unasked
  // PNG loses nothing, as 100 asks for.
  const compression = wanted === 'png' && request.compression === 100 ? undefined : request.compression
  if (compression !== undefined && wanted !== 'jpeg' && wanted !== 'webp')
    return compressionRefusal(compression, wanted ?? 'in the default format')

  const isNative = request.format === undefined || formats.includes(request.format)
  const sent = { upstreamFormat: wanted, foreign: undefined }
  if (wanted === undefined || (isNative && (compression === undefined || takesCompression))) {
    const format = wanted === unasked ? undefined : wanted
    return { ...sent, format, compression, conversion: undefined, emulated: [] }
  }
  if (request.provenance === 'keep') return conversionRefusal(wanted, isNative, model)
  // Converted from a lossless format, if the upstream has one.
  const upstreamFormat = formats.includes('png') ? 'png' : unasked
  const emulated = isNative ? [] : ['output_format']
  if (compression !== undefined) emulated.push('output_compression')
  return {
    format: upstreamFormat === unasked ? undefined : upstreamFormat,
    compression: undefined,
    conversion: { format: wanted, quality: compression },
    upstreamFormat,
    foreign: undefined,
    emulated,
  }
}

/** OpenAI's previews `gif` and `svg`, and other formats of an upstream: the upstream decides. */
function foreignOutput(
  foreign: string,
  { compression }: ImageRequest,
  model: ImageModel,
  deployment: ImageDeployment,
): Output | Refusal {
  if (!carriesUnknownFields(deployment)) {
    const message = `output_format is ${JSON.stringify(foreign)}, which neither '${model.id}' nor Torana can make. Send png, jpeg or webp.`
    return { param: 'output_format', message }
  }
  if (compression !== undefined) return compressionRefusal(compression, foreign)
  return {
    format: undefined,
    compression: undefined,
    conversion: undefined,
    upstreamFormat: undefined,
    foreign,
    emulated: [],
  }
}

/** Whether there is a manifest is known only after the image is paid for, so a conversion that would drop it is refused before. */
function conversionRefusal(wanted: ImageFormat, isNative: boolean, model: ImageModel): Refusal {
  const param = isNative ? 'output_compression' : 'output_format'
  const does = isNative ? `compress ${wanted}` : `make ${wanted}`
  return {
    code: 'provenance_not_kept',
    param,
    message: `provenance is keep, but '${model.id}' does not ${does} itself, and a conversion by Torana would drop the C2PA manifest of the image. Remove ${param}, or remove provenance.`,
  }
}

function compressionRefusal(compression: number, format: string): Refusal {
  return {
    param: 'output_compression',
    message: `output_compression is ${compression}, but the image would be ${format}; only jpeg and webp have a compression. Send output_format jpeg or webp, or remove output_compression.`,
  }
}

export function transparencyRefusal(
  { background, format }: ImageRequest,
  model: ImageModel,
  { upstreamFormat, conversion }: Output,
): Refusal | undefined {
  if (background !== 'transparent') return undefined
  if ((conversion?.format ?? upstreamFormat) === 'jpeg') {
    const why = format === undefined ? `'${model.id}' makes jpeg by default` : 'output_format is jpeg'
    const message = `background is transparent, but ${why}, which has no transparency. Send output_format png or webp.`
    return { param: 'background', message }
  }
  if (upstreamFormat !== 'jpeg') return undefined
  return {
    param: 'background',
    message: `background is transparent, but '${model.id}' makes only jpeg, which has no transparency. Remove background.`,
  }
}

function isImageFormat(format: string): format is ImageFormat {
  return format === 'png' || format === 'jpeg' || format === 'webp'
}

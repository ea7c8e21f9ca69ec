/** An image's format and compression: the upstream's own, or made by Torana when the image is complete. */
import type { ImageDeployment, ImageFormat, ImageModel } from '../catalog/catalog.ts'
import { carriesUnknownFields, type Refusal } from '../request/offers.ts'
import type { ImageRequest } from './request.ts'

export interface Conversion {
  readonly format: ImageFormat
  /** 0 to 100. Undefined: 100. */
  readonly quality: number | undefined
}

/** How an image gets its format and its compression. */
export interface Output {
  readonly format: ImageFormat | undefined
  readonly compression: number | undefined
  readonly conversion: Conversion | undefined
  /** The conversion of an image that comes in another format than its upstream was asked for. Undefined: it stays as it came. */
  readonly correction: Conversion | undefined
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
    return passedOutput(request.format, request, model, deployment)

  const wanted = request.format ?? unasked
  // PNG loses nothing, as 100 asks for.
  const compression = wanted === 'png' && request.compression === 100 ? undefined : request.compression
  if (compression !== undefined && wanted !== 'jpeg' && wanted !== 'webp')
    return compressionRefusal(compression, wanted ?? 'in the default format')

  const isNative = request.format === undefined || formats.includes(request.format)
  const { format: named, provenance } = request
  const correction =
    named === undefined || provenance === 'keep' ? undefined : { format: named, quality: compression }
  const sent = { upstreamFormat: wanted, foreign: undefined, correction }
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
    correction: undefined,
    upstreamFormat,
    foreign: undefined,
    emulated,
  }
}

/**
 * What happens to an image that arrived in the format `came`, as its own header names it: an upstream may ignore the format that
 * it was asked for. Undefined: it stays as it came.
 */
export function conversionFor(
  { conversion, correction }: Pick<Output, 'conversion' | 'correction'>,
  came: string,
): Conversion | undefined {
  if (conversion !== undefined)
    return came === conversion.format && conversion.quality === undefined ? undefined : conversion
  return correction !== undefined && isImageFormat(came) && came !== correction.format
    ? correction
    : undefined
}

/** Options that a correction emulates. */
export function correctedOptions({ quality }: Conversion): readonly string[] {
  return quality === undefined ? ['output_format'] : ['output_format', 'output_compression']
}

/** Formats that only an upstream makes, such as OpenAI's previews `gif` and `svg`. */
function passedOutput(
  foreign: string,
  { compression }: ImageRequest,
  model: ImageModel,
  deployment: ImageDeployment,
): Output | Refusal {
  const passed: readonly string[] = carriesUnknownFields(deployment)
    ? (deployment.capabilities.passedFormats ?? [])
    : []
  if (!passed.includes(foreign)) {
    const works = listed(['png', 'jpeg', 'webp', ...passed])
    const message = `output_format is ${JSON.stringify(foreign)}, which neither '${model.id}' nor Torana can make. Send ${works}.`
    return { param: 'output_format', message }
  }
  if (compression !== undefined) return compressionRefusal(compression, foreign)
  return {
    format: undefined,
    compression: undefined,
    conversion: undefined,
    correction: undefined,
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

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

function isImageFormat(format: string): format is ImageFormat {
  return format === 'png' || format === 'jpeg' || format === 'webp'
}

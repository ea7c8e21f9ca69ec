/** The canonical image request, whichever of the many spellings a caller used. */
import type { PictureForm, PixelSize } from '../catalog/catalog.ts'
import { halfCharacterMessage } from '../text/utf8.ts'
import { isRecord } from '../text/record.ts'
import { type Tags } from '../money/labels.ts'
import { tagsIn, userIn } from '../request/labels.ts'
import { modelIn, type PathModel } from '../request/path-model.ts'
import { checkUnknownField } from '../request/unknown-fields.ts'
import { Fault } from '../fault/fault.ts'
import { shown } from '../fault/shown.ts'
import { checkGiven } from './edit.ts'
import { MAX_DEPTH, unfitPart } from './extra-fields.ts'
import type { GivenPictures, ImageEdit } from './given.ts'

export interface ImageRequest {
  readonly model: string
  readonly prompt: string
  /** How many images. */
  readonly images: number
  /** Undefined: `auto`. */
  readonly size: PixelSize | undefined
  /** Undefined: `auto`. The same for the next three. */
  readonly quality: string | undefined
  readonly background: string | undefined
  readonly moderation: string | undefined
  /** The image format as the caller named it (`png`, `jpeg`, `webp`, or one that only its upstream knows). */
  readonly format: string | undefined
  /** 0 to 100. */
  readonly compression: number | undefined
  /** `response_format`. Undefined: the model's default. */
  readonly form: PictureForm | undefined
  readonly stream: boolean
  /** 0 to 3. */
  readonly partialImages: number
  readonly user: string | undefined
  /** Tags from `metadata` and the header. Torana keeps them; no upstream sees them. */
  readonly tags?: Tags | undefined
  readonly safetyIdentifier: string | undefined
  /** How much the model plans before it draws. Undefined: `auto`. */
  readonly complexity?: string | undefined
  /** Frames of a GIF. Undefined: the upstream decides. */
  readonly frameCount?: number | undefined
  /** `keep`: the images must reach the caller with their original manifest. Undefined: a conversion may drop it. */
  readonly provenance?: 'keep' | undefined
  /** Fields that Torana does not know, as they came. */
  readonly extraFields: Readonly<Record<string, unknown>>
  /** Undefined: images are made from the prompt alone. */
  readonly edit: ImageEdit | undefined
}

export interface ImageRequestLimits {
  readonly maxImages: number
  /** Undefined: 32,000. */
  readonly maxPromptCharacters?: number | undefined
}

/** OpenAI's limit, the widest of all upstreams. */
const MAX_PROMPT_CHARACTERS = 32_000
/** Longest edge: four times the longest that any upstream makes, and where decoders begin to fail. */
const MAX_EDGE = 16_384
/** Longest word: `transparent`, the longest known, has eleven characters; this leaves space for words not invented yet. */
const MAX_WORD_LENGTH = 64
/**
 * Longest `safety_identifier`. OpenAI allows 128 characters; more is accepted elsewhere, but it must not be a second body.
 */
const MAX_IDENTIFIER_LENGTH = 512

const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'n',
  'size',
  'quality',
  'background',
  'moderation',
  'complexity',
  'frame_count',
  'output_format',
  'output_compression',
  'response_format',
  'stream',
  'partial_images',
  'user',
  'metadata',
  'safety_identifier',
  'provenance',
])
const KNOWN_OF_EDITS: ReadonlySet<string> = new Set([...KNOWN, 'input_fidelity'])
const NO_FIELDS: Readonly<Record<string, unknown>> = Object.freeze({})

/**
 * `given` are the images that came with the request, which the body no longer holds. `exact`: fields of the body with their
 * original numbers, where parsing has changed them.
 */
export function readImageRequest(
  body: unknown,
  limits: ImageRequestLimits,
  path?: PathModel,
  given?: GivenPictures,
  exact?: Readonly<Record<string, unknown>>,
): ImageRequest {
  if (!isRecord(body))
    throw new Fault('invalid_json', 'The body is not a JSON object. Send {"model": …, "prompt": …}.')
  const stream = streamIn(body['stream'])
  const output = outputIn(body['response_format'], body['output_format'])
  return {
    model: modelIn(body['model'], path),
    prompt: promptIn(body['prompt'], limits.maxPromptCharacters ?? MAX_PROMPT_CHARACTERS),
    images: imagesIn(body['n'], limits.maxImages),
    size: sizeIn(body['size']),
    quality: wordIn('quality', body['quality']),
    background: wordIn('background', body['background']),
    moderation: wordIn('moderation', body['moderation']),
    format: output.format,
    compression: wholeNumberIn('output_compression', body['output_compression'], 0, 100),
    form: output.form,
    stream,
    partialImages: partialImagesIn(body['partial_images'], stream),
    user: userIn(body['user']),
    tags: tagsIn(body['metadata']),
    safetyIdentifier: identifierIn(body['safety_identifier']),
    ...complexityIn(body['complexity']),
    ...frameCountIn(body['frame_count'], output.format),
    ...provenanceIn(body['provenance']),
    extraFields: extraFieldsIn({ ...body, ...exact }, given === undefined ? KNOWN : KNOWN_OF_EDITS),
    edit: given && editIn(body['input_fidelity'], given),
  }
}

function editIn(fidelity: unknown, given: GivenPictures): ImageEdit {
  checkGiven(given)
  return { ...given, fidelity: wordIn('input_fidelity', fidelity) }
}

/**
 * Whether a text has more than `most` characters, counted as OpenAI counts them: code points, so that an emoji is one and
 * not two.
 */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length <= most) return false
  if (text.length > 2 * most) return true
  let characters = 0
  for (const _ of text) characters += 1
  return characters > most
}

function promptIn(value: unknown, most: number): string {
  if (isAbsent(value))
    throw new Fault('missing_parameter', 'prompt is missing. Describe the image you want.', {
      param: 'prompt',
    })
  if (typeof value !== 'string' || value === '') throw invalid('prompt', 'prompt must be a non-empty string.')
  if (!value.isWellFormed()) throw invalid('prompt', `prompt ${halfCharacterMessage(value)}`)
  if (isLongerThan(value, most))
    throw invalid('prompt', `prompt has more than ${most} characters, the limit of one request. Shorten it.`)
  return value
}

function imagesIn(value: unknown, most: number): number {
  const images = wholeNumberIn('n', value, 1, Number.MAX_SAFE_INTEGER) ?? 1
  if (images <= most) return images
  throw invalid('n', `n is ${images}; one request makes at most ${most} images. Send several requests.`)
}

function sizeIn(value: unknown): PixelSize | undefined {
  if (isAbsent(value) || value === 'auto') return undefined
  const match = typeof value === 'string' ? /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(value) : null
  const width = Number(match?.[1])
  const height = Number(match?.[2])
  if (width <= MAX_EDGE && height <= MAX_EDGE) return { width, height }
  const why = match
    ? `no edge may be longer than ${MAX_EDGE}`
    : 'it must be width and height in pixels, not a ratio or a word such as 2K'
  throw invalid('size', `size is ${shown(value)}; ${why}. Send for example '1024x1024', or 'auto'.`)
}

function wordIn(param: string, value: unknown): string | undefined {
  if (isAbsent(value) || value === 'auto') return undefined
  if (typeof value === 'string' && value !== '' && value.length <= MAX_WORD_LENGTH) return value
  throw invalid(
    param,
    `${param} is ${shown(value)}; it must be a word of at most ${MAX_WORD_LENGTH} characters, or 'auto'.`,
  )
}

const FORMS: Readonly<Record<string, PictureForm>> = { url: 'url', b64_json: 'b64_json', base64: 'b64_json' }
/** Image formats by their names; another `response_format` is neither kind of value, and probably a typo. */
const FORMATS: Readonly<Record<string, string>> = {
  png: 'png',
  jpeg: 'jpeg',
  jpg: 'jpeg',
  webp: 'webp',
  gif: 'gif',
  svg: 'svg',
}

interface Output {
  readonly form: PictureForm | undefined
  readonly format: string | undefined
}

/** Callers and servers confuse the two names so frequently that the value decides which one is meant. */
function outputIn(responseFormat: unknown, outputFormat: unknown): Output {
  const response = outputWord('response_format', responseFormat)
  const output = outputWord('output_format', outputFormat)
  const names = `response_format is ${shown(responseFormat)}, output_format ${shown(outputFormat)}`
  if (differ(response.form, output.form))
    throw invalid('response_format', `${names}. Send url or b64_json in one of them only.`)
  if (differ(response.format, output.format))
    throw invalid('output_format', `${names}. Send one image format, in output_format.`)
  return { form: response.form ?? output.form, format: response.format ?? output.format }
}

function outputWord(param: 'response_format' | 'output_format', value: unknown): Output {
  const word = wordIn(param, value)
  if (word === undefined) return { form: undefined, format: undefined }
  if (Object.hasOwn(FORMS, word)) return { form: FORMS[word], format: undefined }
  if (Object.hasOwn(FORMATS, word)) return { form: undefined, format: FORMATS[word] }
  if (param === 'output_format') return { form: undefined, format: word }
  throw invalid(
    param,
    `Invalid value for 'response_format': ${shown(value)}. Supported values: 'url', 'b64_json'.`,
  )
}

function differ(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b
}

function streamIn(value: unknown): boolean {
  if (isAbsent(value)) return false
  if (typeof value === 'boolean') return value
  throw invalid('stream', `stream is ${shown(value)}; it must be true or false.`)
}

function complexityIn(value: unknown): Pick<ImageRequest, 'complexity'> {
  const complexity = wordIn('complexity', value)
  return complexity === undefined ? {} : { complexity }
}

/** OpenAI's bounds. Each frame is drawn and charged. */
const MIN_FRAMES = 2
const MAX_FRAMES = 16

function frameCountIn(value: unknown, format: string | undefined): Pick<ImageRequest, 'frameCount'> {
  const frameCount = wholeNumberIn('frame_count', value, MIN_FRAMES, MAX_FRAMES)
  if (frameCount === undefined) return {}
  if (format === 'gif') return { frameCount }
  throw invalid(
    'frame_count',
    `frame_count is ${frameCount}, but only a GIF has frames. Send output_format gif, or remove frame_count.`,
  )
}

function provenanceIn(value: unknown): Pick<ImageRequest, 'provenance'> {
  if (isAbsent(value)) return {}
  if (value === 'keep') return { provenance: 'keep' }
  throw invalid('provenance', `provenance is ${shown(value)}; it must be 'keep', or left out.`)
}

function partialImagesIn(value: unknown, stream: boolean): number {
  const partialImages = wholeNumberIn('partial_images', value, 0, 3) ?? 0
  if (partialImages === 0 || stream) return partialImages
  throw invalid(
    'partial_images',
    `partial_images is ${partialImages}, but previews need "stream": true. Send it too, or remove partial_images.`,
  )
}

function wholeNumberIn(param: string, value: unknown, least: number, most: number): number | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most)
    // Without the sign of a negative zero, which JSON can write but not keep.
    return value + 0
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} up` : `from ${least} to ${most}`
  throw invalid(param, `${param} is ${shown(value)}; it must be a whole number ${range}.`)
}

function identifierIn(value: unknown): string | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value === 'string' && value.length <= MAX_IDENTIFIER_LENGTH) return value
  throw invalid(
    'safety_identifier',
    `safety_identifier must be a string of at most ${MAX_IDENTIFIER_LENGTH} characters.`,
  )
}

function extraFieldsIn(
  body: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  const extra = Object.entries(body).filter(([name, value]) => !known.has(name) && value !== null)
  for (const [name, value] of extra) {
    checkUnknownField(name)
    const unfit = unfitPart(name, value)
    if (unfit === 'multiplies')
      throw new Fault(
        'unsupported_parameter',
        `'${name}' would multiply the cost of the request. Use n for the number of images, and remove '${name}'.`,
        { param: name },
      )
    if (unfit === 'number')
      throw invalid(name, `'${name}' has a number that is too large. Send a smaller one.`)
    if (unfit === 'depth')
      throw invalid(name, `'${name}' is nested more than ${MAX_DEPTH} levels deep. Flatten it.`)
  }
  return keptFields(extra)
}

/** Without a prototype, a field called `__proto__` is a field like any other. */
export function keptFields(
  entries: readonly (readonly [string, unknown])[],
): Readonly<Record<string, unknown>> {
  if (entries.length === 0) return NO_FIELDS
  const kept = Object.create(null) as Record<string, unknown>
  for (const [name, value] of entries) kept[name] = value
  return kept
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

function invalid(param: string, message: string): Fault {
  return new Fault('invalid_parameter', message, { param })
}

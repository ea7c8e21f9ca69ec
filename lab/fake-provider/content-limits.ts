import {
  kindOfFormat,
  type Content,
  type ContentLimits,
  type MediaFormat,
  type MediaKind,
  type Part,
} from './media.ts'
import type { Scenario } from './traits.ts'
import { Refusal, type Question, type Wire } from './wire.ts'

/** Models that read texts alone. */
export const textAlone: ContentLimits = { formats: [], fuses: true, fetches: false }

export function refuseContents(scenario: Scenario, wire: Wire, question: Question): void {
  const { contents, tokens } = question
  if (contents === undefined) return
  const limits = limitsOf(wire, question)
  for (const part of contents.flat()) refusePart(scenario, limits, part)
  for (const content of contents) refuseContent(scenario, limits, content)
  const { maxCallImages = Infinity, maxCallBytes = Infinity } = limits
  refuseAbove(imagesOf(contents.flat()), maxCallImages, 'images in one request')
  const bytes = contents.flat().reduce((sum, part) => sum + ('media' in part ? part.media.bytes : 0), 0)
  refuseAbove(bytes, maxCallBytes, 'bytes of media in one request')
  refuseAbove(Math.max(...tokens), limits.maxInputTokens ?? Infinity, 'tokens in one input')
  const total = tokens.reduce((sum, count) => sum + count, 0)
  refuseAbove(total, limits.maxCallTokens ?? Infinity, 'tokens in one request')
}

export function limitsOf(wire: Wire, question: Question): ContentLimits {
  return wire.limits?.(question) ?? textAlone
}

function refuseContent(scenario: Scenario, limits: ContentLimits, content: Content): void {
  if (content.length === 0) throw new Refusal(400, 'A content must have at least one part.')
  if (!limits.fuses && content.length > 1) {
    throw new Refusal(400, 'This model does not fuse parts: send one modality for each embedding.')
  }
  refuseAbove(
    content.length,
    scenario.amount('max-parts-N') ?? limits.maxParts ?? Infinity,
    'parts in one input',
  )
  const images = imagesOf(content)
  const most = scenario.amount('max-images-N') ?? limits.maxImages ?? Infinity
  if (images > most && limits.tooManyImages) throw new Refusal(400, limits.tooManyImages(images, most))
  refuseAbove(images, most, 'images in one input')
}

function refusePart(scenario: Scenario, limits: ContentLimits, part: Part): void {
  if (part.kind === 'text') return
  const isTaken = limits.formats.some((format) => kindOfFormat[format] === part.kind)
  if (!isTaken || (scenario.kinds !== null && !scenario.kinds.includes(part.kind))) {
    throw new Refusal(400, `This model does not support ${part.kind} input.`)
  }
  if ('address' in part) {
    if (!limits.fetches) throw new Refusal(400, 'Addresses are not fetched: send the bytes inline.')
    return
  }
  if (!('media' in part)) return
  refuseFormat(limits, part)
  const { bytes, width = 0, height = 0, seconds = 0, pages = 0 } = part.media
  refuseAbove(bytes, limits.maxPartBytes ?? Infinity, `bytes in one ${part.kind}`)
  refuseAbove(width * height, limits.maxPixels ?? Infinity, 'pixels in one image')
  const maxSeconds = part.kind === 'video' ? limits.maxVideoSeconds : limits.maxAudioSeconds
  refuseAbove(seconds, maxSeconds ?? Infinity, `seconds of ${part.kind}`)
  refuseAbove(pages, limits.maxPages ?? Infinity, 'pages in one document')
}

/** By magic bytes: another format than the declared one is refused as one that the model does not read. */
function refuseFormat({ formats }: ContentLimits, part: Extract<Part, { media: unknown }>): void {
  const { format } = part.media
  const ofKind: readonly string[] = formats.filter((known) => kindOfFormat[known] === part.kind)
  if (format === null || !ofKind.includes(format)) {
    throw new Refusal(
      400,
      `Unable to process input ${part.kind}: ${format ?? 'unknown format'}. Supported: ${ofKind.join(', ')}.`,
    )
  }
  if (part.declared !== null && part.declared !== format) {
    throw new Refusal(
      400,
      `Unable to process input ${part.kind}: declared as ${part.declared}, is ${format}.`,
    )
  }
}

function imagesOf(parts: readonly Part[]): number {
  return parts.filter(({ kind }) => kind === 'image').length
}

function refuseAbove(amount: number, most: number, what: string): void {
  if (amount > most) throw new Refusal(400, `Too many ${what}: ${amount}, at most ${most} are allowed.`)
}

/** For wires that read every common format of the given kinds. */
export function formatsOf(...kinds: MediaKind[]): MediaFormat[] {
  const all = Object.keys(kindOfFormat) as MediaFormat[]
  return all.filter((format) => format !== 'bmp' && kinds.includes(kindOfFormat[format]))
}

/** What a model takes besides texts, and why it does not take something. */
import type { Schema } from '../../api/client.ts'
import { bytes, whole } from '../../app/format.ts'
import { words } from '../../words/words.ts'
import type { LineInput } from './content-lines.ts'
import { isFormat, kindOf, type MediaFormat, type MediaKind } from './media-format.ts'

export type PartKind = 'text' | MediaKind

/** Media of one call: the node reads 64 MB of JSON, and base64 takes a third more than the bytes. */
export const MAX_CALL_BYTES = 47_000_000

export type TakenMedia = NonNullable<NonNullable<Schema<'ModelRow'>['embedding']>['contents']>

/** Undefined: it takes texts alone. */
export function takenBy({ embedding }: Schema<'ModelRow'>): TakenMedia | undefined {
  return embedding?.contents ?? undefined
}

/** What is known of media before they are sent. */
export interface MediaFacts {
  readonly kind: MediaKind
  /** Undefined: it has no name here, or only its address is known. */
  readonly format: MediaFormat | undefined
  readonly size: number
  readonly width?: number | undefined
  readonly height?: number | undefined
  /** An address that the node or the upstream fetches. */
  readonly url?: string | undefined
}

/** Why a model does not take one of the media. Undefined: it does. */
export function mediaRefusal(media: MediaFacts, taken: TakenMedia | undefined): string | undefined {
  const say = words.embeddings.media
  if (taken === undefined || !taken.inputs.includes(media.kind)) return say.noKind(say.many[media.kind])
  if (media.url !== undefined) return undefined
  const offered = taken.formats
    .filter((format) => isFormat(format) && kindOf(format) === media.kind)
    .map(nameOf)
  if (media.format === undefined) return say.noFormat(say.unknownFormat, say.list(offered))
  if (!taken.formats.includes(media.format)) return say.noFormat(nameOf(media.format), say.list(offered))
  const maxBytes = taken.max_part_bytes ?? Infinity
  if (media.size > maxBytes) return say.tooLarge(bytes(media.size), bytes(maxBytes))
  const pixels = (media.width ?? 0) * (media.height ?? 0)
  const maxPixels = taken.max_pixels ?? Infinity
  return pixels > maxPixels ? say.tooManyPixels(whole(pixels), whole(maxPixels)) : undefined
}

function nameOf(format: string): string {
  return format.toUpperCase()
}

/** Why an input can't be sent as it is. */
export function inputRefusal(
  { text, media }: LineInput,
  files: ReadonlyMap<string, MediaFacts>,
  taken: TakenMedia | undefined,
): string | undefined {
  const say = words.embeddings.media
  for (const { id } of media) {
    const file = files.get(id)
    const refusal = file === undefined ? say.missing : mediaRefusal(file, taken)
    if (refusal !== undefined) return refusal
  }
  const parts = media.length + (text === '' ? 0 : 1)
  if (parts < 2 || taken === undefined) return undefined
  if (!taken.fuses) return say.notFused
  return parts > taken.max_parts ? say.tooManyParts(parts, taken.max_parts) : undefined
}

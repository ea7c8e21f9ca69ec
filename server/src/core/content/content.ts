/** What one vector is made of, where it is more than a text: parts that the model reads together. */

/** A file is a PDF. */
export type PartKind = 'text' | 'image' | 'audio' | 'video' | 'file'
export type MediaKind = Exclude<PartKind, 'text'>

export const PART_KINDS: readonly PartKind[] = ['text', 'image', 'audio', 'video', 'file']

/** Formats that Torana recognises by their first bytes, and what they hold. */
export const MEDIA_FORMATS = {
  png: 'image',
  jpeg: 'image',
  webp: 'image',
  gif: 'image',
  mp3: 'audio',
  wav: 'audio',
  ogg: 'audio',
  flac: 'audio',
  m4a: 'audio',
  mp4: 'video',
  mov: 'video',
  webm: 'video',
  pdf: 'file',
} as const satisfies Readonly<Record<string, MediaKind>>

export type MediaFormat = keyof typeof MEDIA_FORMATS

/** Bytes that came with a request, on disk or in memory. They go to the upstream unchanged. */
export interface Media {
  readonly kind: MediaKind
  /** As its bytes say, whatever the caller declared. */
  readonly format: MediaFormat
  /** In bytes. */
  readonly size: number
  /** Of the bytes, in lower-case hexadecimal: equal media are found by it. */
  readonly sha256: string
  /** In pixels, for images. Undefined when it is not known. */
  readonly width?: number | undefined
  readonly height?: number | undefined
  /** Length of audio or video. Undefined when it is not known. */
  readonly seconds?: number | undefined
  /** Pages of a PDF. Undefined when their number is not known. */
  readonly pages?: number | undefined
  /** Reads from the beginning, as often as needed: a call may be repeated at another deployment. */
  open(): AsyncIterable<Uint8Array>
}

export interface TextPart {
  readonly kind: 'text'
  readonly text: string
}

export interface MediaPart {
  readonly kind: MediaKind
  readonly media: Media
}

/** Media that the upstream fetches itself. Its bytes are not known here, so its vector is not cached. */
export interface AddressPart {
  readonly kind: MediaKind
  readonly address: string
}

export type Part = TextPart | MediaPart | AddressPart

/** Makes exactly one vector. The model fuses several parts; Torana never averages vectors. */
export interface Content {
  readonly parts: readonly Part[]
}

export function isText(part: Part): part is TextPart {
  return part.kind === 'text'
}

export function hasMedia(part: Part): part is MediaPart {
  return 'media' in part
}

export function hasAddress(part: Part): part is AddressPart {
  return 'address' in part
}

/** The media of a content, in order. */
export function mediaIn({ parts }: Content): readonly Media[] {
  return parts.flatMap((part) => (hasMedia(part) ? [part.media] : []))
}

/**
 * Equal contents have equal identities, and no others have. Media count by their bytes, never by an address: what an address
 * leads to can change. Undefined for a content with an address.
 */
export function identityOf({ parts }: Content): string | undefined {
  let identity = ''
  for (const part of parts) {
    if (hasAddress(part)) return undefined
    identity += isText(part)
      ? `text ${part.text.length}\n${part.text}\n`
      : `${part.kind} ${part.media.format} ${part.media.sha256}\n`
  }
  return identity
}

/** The text of a content that is nothing else. Its vector is that of the text. */
export function onlyTextOf({ parts }: Content): string | undefined {
  const [only] = parts
  return parts.length === 1 && only !== undefined && isText(only) ? only.text : undefined
}

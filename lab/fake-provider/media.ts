import { createHash } from 'node:crypto'

export type MediaKind = 'image' | 'audio' | 'video' | 'file'

const kinds: readonly string[] = ['image', 'audio', 'video', 'file'] satisfies MediaKind[]

export function isKind(word: string): word is MediaKind {
  return kinds.includes(word)
}

/** What the bytes of a media part say about themselves, whatever the caller declared. */
export type Media = {
  /** By magic bytes; null where no format is known. */
  format: MediaFormat | null
  bytes: number
  sha256: string
  width?: number
  height?: number
  /** Absent where the format does not tell it within its first bytes. */
  seconds?: number
  pages?: number
}

export const kindOfFormat = {
  png: 'image',
  jpeg: 'image',
  webp: 'image',
  gif: 'image',
  bmp: 'image',
  mp3: 'audio',
  wav: 'audio',
  ogg: 'audio',
  flac: 'audio',
  m4a: 'audio',
  mp4: 'video',
  mov: 'video',
  webm: 'video',
  pdf: 'file',
} as const satisfies Record<string, MediaKind>

export type MediaFormat = keyof typeof kindOfFormat

/** One part of an input, as any wire may have sent it. */
export type Part =
  | { kind: 'text'; text: string }
  | { kind: MediaKind; media: Media; declared: string | null }
  | { kind: MediaKind; address: string }

export type Content = readonly Part[]

/** What one model takes of contents. What is absent has no bound. */
export type ContentLimits = {
  /** Of every kind that it takes beside text. */
  formats: readonly MediaFormat[]
  /** False: a content has one part. */
  fuses: boolean
  /** It takes addresses and fetches them by itself. */
  fetches: boolean
  maxInputs?: number
  /** Of one content. */
  maxParts?: number
  /** Images of one content. */
  maxImages?: number
  /** Images of the whole call. */
  maxCallImages?: number
  maxPartBytes?: number
  /** Of all media of the call together. */
  maxCallBytes?: number
  maxPixels?: number
  maxAudioSeconds?: number
  maxVideoSeconds?: number
  maxPages?: number
  maxInputTokens?: number
  maxCallTokens?: number
  /** The provider's own words for too many images. */
  tooManyImages?: (count: number, most: number) => string
}

/** The formats of each media type that a caller may declare; others are unknown. */
const formatsOfType: Readonly<Record<string, MediaFormat>> = {
  'image/jpg': 'jpeg',
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mp4': 'm4a',
  'video/quicktime': 'mov',
  'application/pdf': 'pdf',
}

export function formatOfType(type: string): string {
  return formatsOfType[type.toLowerCase()] ?? type.toLowerCase().replace(/^\w+\//, '')
}

/** Null where the text is no base64: the decoder skips foreign characters, and would hide a broken text. */
export function bytesOfBase64(base64: string): Buffer | null {
  const content = Buffer.from(base64, 'base64')
  const wanted = Math.floor((base64.replace(/=+$/, '').length * 3) / 4)
  return content.length === 0 || content.length < wanted ? null : content
}

export function mediaOf(content: Buffer): Media {
  const format = formatOf(content)
  return {
    format,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    ...(format === null ? {} : measured(content, format)),
  }
}

const magic: readonly [MediaFormat, (bytes: Buffer) => boolean][] = [
  ['png', (bytes) => starts(bytes, '\x89PNG')],
  ['jpeg', (bytes) => starts(bytes, '\xff\xd8\xff')],
  ['gif', (bytes) => starts(bytes, 'GIF8')],
  ['webp', (bytes) => starts(bytes, 'RIFF') && starts(bytes, 'WEBP', 8)],
  ['bmp', (bytes) => starts(bytes, 'BM')],
  ['wav', (bytes) => starts(bytes, 'RIFF') && starts(bytes, 'WAVE', 8)],
  ['ogg', (bytes) => starts(bytes, 'OggS')],
  ['flac', (bytes) => starts(bytes, 'fLaC')],
  ['m4a', (bytes) => starts(bytes, 'ftypM4A', 4)],
  ['mov', (bytes) => starts(bytes, 'ftypqt', 4)],
  ['mp4', (bytes) => starts(bytes, 'ftyp', 4)],
  ['webm', (bytes) => starts(bytes, '\x1aE\xdf\xa3')],
  ['pdf', (bytes) => starts(bytes, '%PDF')],
  ['mp3', (bytes) => starts(bytes, 'ID3') || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe6) === 0xe2)],
]

function formatOf(bytes: Buffer): MediaFormat | null {
  return magic.find(([, matches]) => matches(bytes))?.[0] ?? null
}

function starts(bytes: Buffer, word: string, at = 0): boolean {
  return bytes.toString('latin1', at, at + word.length) === word
}

function measured(
  bytes: Buffer,
  format: MediaFormat,
): Partial<Pick<Media, 'width' | 'height' | 'seconds' | 'pages'>> {
  const kind = kindOfFormat[format]
  if (kind === 'image') return edgesOf(bytes, format) ?? {}
  if (kind === 'file') {
    return { pages: bytes.toString('latin1').match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0 }
  }
  const seconds = secondsOf(bytes, format)
  return seconds === undefined ? {} : { seconds }
}

function edgesOf(bytes: Buffer, format: MediaFormat): { width: number; height: number } | null {
  if (format === 'png' && bytes.length >= 24)
    return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  if (format === 'gif' && bytes.length >= 10)
    return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  if (format === 'webp' && bytes.length >= 30) return webpEdges(bytes)
  return format === 'jpeg' ? jpegEdges(bytes) : null
}

function webpEdges(bytes: Buffer): { width: number; height: number } {
  if (starts(bytes, 'VP8X', 12))
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (starts(bytes, 'VP8L', 12)) {
    const bits = bytes.readUInt32LE(21)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
}

/** In the first frame header: markers C0 to CF but C4, C8 and CC, which are tables. */
function jpegEdges(bytes: Buffer): { width: number; height: number } | null {
  let at = 2
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0
    if ((marker & 0xf0) === 0xc0 && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    }
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  return null
}

/** Kilobits a second of MPEG-1 layer III, by the four bits of a frame header. */
const mp3Kilobits = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0]

function secondsOf(bytes: Buffer, format: MediaFormat): number | undefined {
  if (format === 'wav' && bytes.length >= 44) {
    const bytesPerSecond = bytes.readUInt32LE(28)
    return bytesPerSecond === 0 ? undefined : (bytes.length - 44) / bytesPerSecond
  }
  if (format === 'mp3' && !starts(bytes, 'ID3')) {
    const kilobits = mp3Kilobits[(bytes[2] ?? 0) >> 4] ?? 0
    return kilobits === 0 ? undefined : (bytes.length * 8) / (kilobits * 1000)
  }
  if (format !== 'mp4' && format !== 'mov' && format !== 'm4a') return undefined
  const header = bytes.indexOf('mvhd', 0, 'latin1') + 4
  if (header < 4 || header + 20 > bytes.length || bytes[header] !== 0) return undefined
  return bytes.readUInt32BE(header + 16) / bytes.readUInt32BE(header + 12)
}

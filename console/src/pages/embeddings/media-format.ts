/** What a file is, by its first bytes: its name and its declared type may say anything. Pure, with tests. */

export type MediaKind = 'image' | 'audio' | 'video' | 'file'

/** Kinds by format, and how a data URL calls the format. HEIC and AVIF are recognised, to say by name why they are refused. */
const FORMATS = {
  png: ['image', 'image/png'],
  jpeg: ['image', 'image/jpeg'],
  webp: ['image', 'image/webp'],
  gif: ['image', 'image/gif'],
  heic: ['image', 'image/heic'],
  avif: ['image', 'image/avif'],
  mp3: ['audio', 'audio/mpeg'],
  wav: ['audio', 'audio/wav'],
  ogg: ['audio', 'audio/ogg'],
  flac: ['audio', 'audio/flac'],
  m4a: ['audio', 'audio/mp4'],
  mp4: ['video', 'video/mp4'],
  mov: ['video', 'video/quicktime'],
  webm: ['video', 'video/webm'],
  pdf: ['file', 'application/pdf'],
} as const satisfies Record<string, readonly [MediaKind, string]>

export type MediaFormat = keyof typeof FORMATS

export function isFormat(name: string): name is MediaFormat {
  return Object.hasOwn(FORMATS, name)
}

export function kindOf(format: MediaFormat): MediaKind {
  return FORMATS[format][0]
}

export function mediaTypeOf(format: MediaFormat): string {
  return FORMATS[format][1]
}

/** Bytes that are enough to tell all formats apart. */
export const HEAD_BYTES = 64

const STARTS: readonly (readonly [MediaFormat, string])[] = [
  ['png', '\u0089PNG\r\n\u001A\n'],
  ['jpeg', '\u00FF\u00D8\u00FF'],
  ['gif', 'GIF8'],
  ['pdf', '%PDF-'],
  ['flac', 'fLaC'],
  ['ogg', 'OggS'],
  ['mp3', 'ID3'],
  ['webm', '\u001A\u0045\u00DF\u00A3'],
]

/** Brands of the ISO base media format. */
const BRANDS: readonly (readonly [MediaFormat, RegExp])[] = [
  ['heic', /^(?:hei[cfmsx]|hev[cmsx]|mif1|msf1)/],
  ['avif', /^avi[fs]/],
  ['m4a', /^M4[AB]/],
  ['mov', /^qt/],
  ['mp4', /^/],
]

export function formatOf(head: Uint8Array): MediaFormat | undefined {
  const text = String.fromCodePoint(...head.subarray(0, HEAD_BYTES))
  const start = STARTS.find(([, bytes]) => text.startsWith(bytes))
  if (start) return start[0]
  if (text.startsWith('RIFF'))
    return text.slice(8, 12) === 'WEBP' ? 'webp' : text.slice(8, 12) === 'WAVE' ? 'wav' : undefined
  if (text.slice(4, 8) === 'ftyp') return BRANDS.find(([, brand]) => brand.test(text.slice(8, 12)))?.[0]
  // A frame of MPEG audio without a tag before it.
  return head[0] === 0xff && ((head[1] ?? 0) & 0xe6) === 0xe2 ? 'mp3' : undefined
}

/** The format of media, by their first bytes alone: what a caller declares is often wrong. */
import type { MediaFormat } from '../content/content.ts'
import { fits } from '../image/first-bytes-scan.ts'
import { SVG_START_BYTES, svgStart } from '../image/svg-start.ts'

/** Enough to recognise every format. */
export const FIRST_BYTES = SVG_START_BYTES

/** A `?` matches any byte. The first match counts. */
const TAKEN: readonly (readonly [format: MediaFormat, start: string])[] = [
  ['png', '\x89PNG\r\n\x1a\n'],
  ['jpeg', '\xff\xd8\xff'],
  ['webp', 'RIFF????WEBP'],
  ['gif', 'GIF87a'],
  ['gif', 'GIF89a'],
  ['mp3', 'ID3'],
  ['wav', 'RIFF????WAVE'],
  ['ogg', 'OggS'],
  ['flac', 'fLaC'],
  ['pdf', '%PDF-'],
  // Films of QuickTime from before 2004 begin without a brand.
  ...['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'].map((box) => ['mov', `????${box}`] as const),
]

const REFUSED: readonly (readonly [what: string, start: string])[] = [
  ['a TIFF', 'II*\0'],
  ['a TIFF', 'MM\0*'],
  ['a BMP', 'BM????\0\0\0\0'],
  ['an icon', '\0\0\x01\0'],
  ['a JPEG XL', '\xff\x0a'],
  ['a JPEG XL', '\0\0\0\x0cJXL '],
  ['a JPEG 2000', '\0\0\0\x0cjP  '],
  ['a Photoshop file', '8BPS'],
  ['an AVI', 'RIFF????AVI '],
  ['an RF64', 'RF64????WAVE'],
  ['an AIFF', 'FORM????AIF'],
  ['an AMR', '#!AMR'],
  ['a MIDI file', 'MThd'],
  ['a WMA or WMV', '\x30\x26\xb2\x75\x8e\x66\xcf\x11'],
  ['an FLV', 'FLV\x01'],
  ['an MPEG-1 or MPEG-2 video', '\0\0\x01\xba'],
  ['an MPEG-1 or MPEG-2 video', '\0\0\x01\xb3'],
  ['a ZIP or an Office file', 'PK\x03\x04'],
  ['an old Office file', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'],
  ['a gzip file', '\x1f\x8b'],
  ['an RTF', '{\\rtf'],
]

const HEIC_BRANDS: ReadonlySet<string> = new Set([
  'heic',
  'heix',
  'heim',
  'heis',
  'hevc',
  'hevx',
  'mif1',
  'msf1',
  'avif',
  'avis',
])
/** Bytes of an EBML header, in which its type of document is. */
const EBML_HEADER_BYTES = 128

/** The format, or the reason for the caller. The bytes are the first `FIRST_BYTES`, or all. */
export function formatOf(bytes: Uint8Array): MediaFormat | { readonly words: string } {
  if (bytes.length === 0) return { words: 'is empty' }
  if (fits(bytes, '????ftyp') === 'whole') return formatOfBrand(textOf(bytes.subarray(8, 12)))
  if (fits(bytes, '\x1a\x45\xdf\xa3') === 'whole') {
    return textOf(bytes.subarray(0, EBML_HEADER_BYTES)).includes('webm') ? 'webm' : refusal('a Matroska file')
  }
  for (const [format, start] of TAKEN) if (fits(bytes, start) === 'whole') return format
  for (const [what, start] of REFUSED) if (fits(bytes, start) === 'whole') return refusal(what)
  const sound = soundFormatOf(bytes)
  if (sound !== undefined) return sound
  if (svgStart(bytes) === 'svg') return refusal('an SVG')
  if (/^\s*<(?:!doctype html|html)/i.test(textOf(bytes))) return refusal('an HTML page')
  return { words: `is in no format that Torana knows; ${ACCEPTED}` }
}

const ACCEPTED = 'PNG, JPEG, WebP, GIF, MP3, WAV, Ogg, FLAC, M4A, MP4, MOV, WebM and PDF are accepted'

function refusal(what: string): { readonly words: string } {
  return { words: `is ${what}; ${ACCEPTED}` }
}

function formatOfBrand(brand: string): MediaFormat | { readonly words: string } {
  if (HEIC_BRANDS.has(brand)) return refusal('an HEIC or AVIF image')
  if (brand.startsWith('3g')) return refusal('a 3GP')
  if (brand === 'M4A ' || brand === 'M4B ' || brand === 'M4P ') return 'm4a'
  return brand === 'qt  ' ? 'mov' : 'mp4'
}

/** MPEG audio has no name: it begins with eleven bits of its first frame, and the next two are its layer. */
function soundFormatOf([first = 0, second = 0]: Uint8Array):
  | MediaFormat
  | { readonly words: string }
  | undefined {
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined
  const layer = (second >> 1) & 3
  if (layer === 1) return 'mp3'
  return layer === 0 ? refusal('an AAC') : refusal('an MP1 or MP2')
}

function textOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}

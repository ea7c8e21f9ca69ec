/** The kind of a file, by its first bytes alone. */
import type { ImageFormat } from '../catalog/catalog.ts'
import { SVG_START_BYTES, svgStart } from './svg-start.ts'
import { WORDS } from './scan.ts'

/** Enough to recognise every kind. */
export const FIRST_BYTES = SVG_START_BYTES

/** A `?` matches any byte. Where two match, the shorter one comes first: it is known earlier. */
const TAKEN: readonly (readonly [format: ImageFormat, start: string])[] = [
  ['jpeg', '\xff\xd8\xff'],
  ['png', '\x89PNG\r\n\x1a\n'],
  ['webp', 'RIFF????WEBP'],
]
const REFUSED: readonly (readonly [what: string, start: string])[] = [
  ['a GIF', 'GIF8'],
  ['a TIFF', 'II*\0'],
  ['a TIFF', 'MM\0*'],
  ['a PDF', '%PDF-'],
  ['a BMP', 'BM????\0\0\0\0'],
  ...['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1', 'avif', 'avis'].map(
    (brand) => ['an HEIC or AVIF', `????ftyp${brand}`] as const,
  ),
]

const NONE = { words: 'is not a PNG, JPEG or WebP image' }

/** Undefined while more bytes could change the answer; never where `isWhole`, or when there are `FIRST_BYTES`. */
export function kindOf(
  bytes: Uint8Array,
  isWhole: boolean,
): ImageFormat | { readonly words: string } | undefined {
  for (const [format, start] of TAKEN) if (fits(bytes, start) === 'whole') return format
  for (const [what, start] of REFUSED) if (fits(bytes, start) === 'whole') return refusal(what)
  const svg = svgStart(bytes)
  if (svg === 'svg') return refusal('an SVG')
  if (bytes.length === 0) return isWhole ? { words: 'is empty' } : undefined
  if (isWhole) return TAKEN.some(([, start]) => fits(bytes, start) === 'so far') ? { words: WORDS.cut } : NONE
  const isOpen = svg === 'open' || [...TAKEN, ...REFUSED].some(([, start]) => fits(bytes, start) === 'so far')
  return isOpen ? undefined : NONE
}

function refusal(what: string): { readonly words: string } {
  return { words: `is ${what}; only PNG, JPEG and WebP images are accepted` }
}

/** A `?` of `start` matches any byte. */
export function fits(bytes: Uint8Array, start: string): 'whole' | 'so far' | 'not' {
  for (let index = 0; index < start.length; index += 1) {
    const byte = bytes[index]
    if (byte === undefined) return 'so far'
    if (start[index] !== '?' && byte !== start.charCodeAt(index)) return 'not'
  }
  return 'whole'
}

/**
 * Whether an image carries a C2PA manifest, the signed statement of its origin. Only the names of sections are read;
 * nothing throws.
 */
import { big, little, startsWith } from './bytes.ts'
import type { PictureFormat } from './header.ts'

/** `c2pa`: the image carries a manifest, whether or not it is valid. */
export type Provenance = 'c2pa' | 'none'

/** What happens to a manifest on its way to the caller. */
export type ProvenanceKept = 'kept' | 'dropped' | 'none'

/**
 * Sections of one image that are read. Encoders write pixels in sections of some kilobytes, so 100 MB have some thousands;
 * a file with more is made to keep us busy.
 */
const MAX_SECTIONS = 65_536

/** Undefined: images of that format are not checked. */
export function provenanceOf(bytes: Uint8Array, format: PictureFormat | undefined): Provenance | undefined {
  switch (format) {
    case 'png':
      return pngHasManifest(bytes) ? 'c2pa' : 'none'
    case 'jpeg':
      return jpegHasManifest(bytes) ? 'c2pa' : 'none'
    case 'webp':
      return webpHasManifest(bytes) ? 'c2pa' : 'none'
    case 'gif':
    case 'svg':
    case undefined:
      return undefined
  }
}

/** Undefined: one of the two was not checked. */
export function provenanceKept(
  came: Provenance | undefined,
  handedOut: Provenance | undefined,
): ProvenanceKept | undefined {
  if (came === undefined || handedOut === undefined) return undefined
  if (came === 'none') return 'none'
  return handedOut === 'c2pa' ? 'kept' : 'dropped'
}

/** In a chunk called `caBX`, which may come before or after the pixels. */
function pngHasManifest(bytes: Uint8Array): boolean {
  let chunk = 8
  for (let sections = 0; sections < MAX_SECTIONS && chunk + 12 <= bytes.length; sections += 1) {
    if (startsWith(bytes, chunk + 4, 'caBX')) return true
    chunk += 12 + big(bytes, chunk, 4)
  }
  return false
}

const JUMBF_SEGMENT = 0xeb
const START_OF_SCAN = 0xda

/** In segments called APP11, before the pixels. Such segments also hold other notes: the first one of a manifest identifies it. */
function jpegHasManifest(bytes: Uint8Array): boolean {
  let position = 2
  for (let sections = 0; sections < MAX_SECTIONS && position + 4 <= bytes.length; sections += 1) {
    const marker = bytes[position + 1]
    if (bytes[position] !== 0xff || marker === START_OF_SCAN) return false
    // Padding: markers may be preceded by any number of 0xff.
    if (marker === 0xff) {
      position += 1
      continue
    }
    if (marker === JUMBF_SEGMENT && isManifestBox(bytes, position + 4)) return true
    position += 2 + big(bytes, position + 2, 2)
  }
  return false
}

/**
 * The name, number and place of the segment, then a box called `jumb` whose description names its content. Long boxes have
 * eight more bytes of length.
 */
function isManifestBox(bytes: Uint8Array, content: number): boolean {
  if (!startsWith(bytes, content, 'JP')) return false
  const box = content + 8
  if (!startsWith(bytes, box + 4, 'jumb')) return false
  const description = box + (big(bytes, box, 4) === 1 ? 16 : 8)
  return startsWith(bytes, description + 4, 'jumd') && startsWith(bytes, description + 8, 'c2pa')
}

/** In a chunk called `C2PA`, after the pixels. */
function webpHasManifest(bytes: Uint8Array): boolean {
  let chunk = 12
  for (let sections = 0; sections < MAX_SECTIONS && chunk + 8 <= bytes.length; sections += 1) {
    if (startsWith(bytes, chunk, 'C2PA')) return true
    const length = little(bytes, chunk + 4, 4)
    // Chunks are padded to an even length.
    chunk += 8 + length + (length % 2)
  }
  return false
}

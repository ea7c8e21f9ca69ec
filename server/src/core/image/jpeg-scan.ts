/** The header of a JPEG: its frame, and the orientation, which are somewhere between the segments before the pixels, and its end. */
import { big, startsWith } from './bytes.ts'
import { exifTurn } from './exif-scan.ts'
import { isStartOfFrame, MAX_PARTS } from './header.ts'
import { MAX_BYTES_BEFORE_PIXELS, sizeWords, WORDS } from './scan.ts'
import type { PictureLimits, Scan, Source } from './scan.ts'

/** Its marker. Among pixels, another byte follows each 0xff. */
const END = Uint8Array.of(0xff, 0xd9)

interface Frame {
  readonly width: number
  readonly height: number
}

/** `MAX_PARTS` counts the segments and the padding bytes between them; segments of 64 KB reach the bound of bytes first. */
export function* jpegScan(source: Source, limits: PictureLimits): Scan {
  // Its start and the first byte of a marker, already checked.
  yield* source.passTo(3)
  let frame: Frame | undefined
  let isTurned: boolean | undefined
  for (let parts = 0; parts < MAX_PARTS; parts += 1) {
    const [marker = 0] = yield* source.look(1)
    // Padding: markers may be preceded by any number of 0xff.
    if (marker === 0xff) continue
    if (!hasLength(marker)) return marker === 0xd9 ? WORDS.noPixels : WORDS.broken
    const length = big(yield* source.look(2), 0, 2)
    const end = source.position - 2 + length
    if (length < 2) return WORDS.broken
    if (marker === 0xda) {
      if (frame === undefined)
        return 'is a JPEG whose pixels come before the frame that says how many there are'
      yield* source.passTo(end)
      yield* source.look(1)
      source.cut = WORDS.cutShort
      yield* source.find(END)
      return { format: 'jpeg', ...frame, hasAlpha: false, isTurned: isTurned ?? false }
    }
    if (end > MAX_BYTES_BEFORE_PIXELS) return WORDS.tooMuchBefore
    if (isUnusual(marker))
      return 'is a JPEG of an unusual kind; only baseline and progressive JPEGs are accepted'
    if (isStartOfFrame(marker)) {
      if (frame !== undefined) return 'is a JPEG of several frames'
      const found = yield* frameOf(source, length, limits)
      if (typeof found === 'string') return found
      frame = found
    }
    // The first one counts, as it does for browsers.
    if (marker === 0xe1) isTurned ??= yield* turnOf(source, end)
    yield* source.passTo(end)
    if ((yield* source.look(1))[0] !== 0xff) return WORDS.broken
  }
  return WORDS.tooManyParts
}

/** Markers without a length occur only between pixels: none comes before them. */
function hasLength(marker: number): boolean {
  return marker >= 0xc0 && !(marker >= 0xd0 && marker <= 0xd9)
}

/** Lossless, arithmetic or hierarchical: browsers and most upstreams open none of these, and an early refusal says why. */
function isUnusual(marker: number): boolean {
  return (isStartOfFrame(marker) && marker > 0xc2) || marker === 0xde
}

function* frameOf(source: Source, length: number, limits: PictureLimits): Scan<Frame | string> {
  if (length < 8) return WORDS.broken
  const bytes = yield* source.look(6)
  const [precision, components] = [big(bytes, 0, 1), big(bytes, 5, 1)]
  const [height, width] = [big(bytes, 1, 2), big(bytes, 3, 2)]
  if (height === 0) return 'is a JPEG that gives its height only after its pixels'
  const refused = sizeWords(width, height, limits)
  if (refused !== undefined) return refused
  if (precision !== 8) return `is a JPEG with ${precision} bits per sample; only 8 are accepted`
  if (components < 1 || components > 4 || length !== 8 + 3 * components) return WORDS.broken
  return { width, height }
}

/** Undefined where the segment holds something else, such as XMP. */
function* turnOf(source: Source, end: number): Scan<boolean | undefined> {
  if (source.position + 6 > end) return undefined
  if (!startsWith(yield* source.look(6), 0, 'Exif\0\0')) return undefined
  return yield* exifTurn(source, end)
}

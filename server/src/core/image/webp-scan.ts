/** The header of a WebP: one frame, or a canvas that holds one of its size. */
import { little } from './bytes.ts'
import { losslessFrame, lossyFrame, MAX_PARTS } from './header.ts'
import { MAX_BYTES_BEFORE_PIXELS, sizeWords, WORDS } from './scan.ts'
import type { PictureLimits, Scan, ScannedHeader, Source } from './scan.ts'

interface Canvas {
  readonly width: number
  readonly height: number
}

/** Ends only at the end of the container, so that a container longer than the file is refused. */
export function* webpScan(source: Source, limits: PictureLimits): Scan {
  source.cut = 'is shorter than its header says'
  const containerEnd = 8 + little(yield* source.look(12), 4, 4)
  let canvas: Canvas | undefined
  let hasAlpha = false
  for (let parts = 0; parts < MAX_PARTS; parts += 1) {
    if (source.position + 8 > containerEnd) return parts === 0 ? WORDS.broken : WORDS.noPixels
    const head = yield* source.look(8)
    const [name, length] = [String.fromCharCode(...head.subarray(0, 4)), little(head, 4, 4)]
    const end = source.position + length
    if (end > containerEnd) return 'is a WebP with a part that is longer than the file'
    if (name === 'VP8L' || name === 'VP8 ') {
      const frame = yield* frameOf(source, name, length)
      if (frame === undefined) return WORDS.broken
      const refused = sizeWords(frame.width, frame.height, limits) ?? canvasWords(frame, canvas)
      if (refused !== undefined) return refused
      yield* source.passTo(containerEnd)
      return { ...frame, hasAlpha: hasAlpha || frame.hasAlpha }
    }
    if (name === 'ANIM' || name === 'ANMF') return WORDS.animated
    if ((name === 'VP8X') !== (parts === 0)) return WORDS.broken
    // Transparency already is pixels: it may be as long as they are.
    if (name !== 'ALPH' && end > MAX_BYTES_BEFORE_PIXELS) return WORDS.tooMuchBefore
    if (name === 'ALPH') hasAlpha = true
    if (name === 'VP8X') {
      if (length !== 10) return WORDS.broken
      const bytes = yield* source.look(10)
      const flags = little(bytes, 0, 1)
      if ((flags & 0x02) !== 0) return WORDS.animated
      hasAlpha = (flags & 0x10) !== 0
      canvas = { width: little(bytes, 4, 3) + 1, height: little(bytes, 7, 3) + 1 }
      const refused = sizeWords(canvas.width, canvas.height, limits)
      if (refused !== undefined) return refused
    }
    // Chunks are padded to an even length.
    yield* source.passTo(end + (length % 2))
  }
  return WORDS.tooManyParts
}

function* frameOf(source: Source, name: 'VP8L' | 'VP8 ', length: number): Scan<ScannedHeader | undefined> {
  const wanted = name === 'VP8L' ? 5 : 10
  if (length < wanted) return undefined
  const bytes = yield* source.look(wanted)
  const frame = name === 'VP8L' ? losslessFrame(bytes, 0) : lossyFrame(bytes, 0)
  // EXIF comes after the pixels of a WebP, where it is not looked for; few programs turn one.
  return frame && { format: 'webp', ...frame, isTurned: false }
}

function canvasWords(frame: Canvas, canvas: Canvas = frame): string | undefined {
  if (frame.width === canvas.width && frame.height === canvas.height) return undefined
  return `is a WebP of ${canvas.width}x${canvas.height} pixels with a frame of ${frame.width}x${frame.height}`
}

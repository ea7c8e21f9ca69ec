/** A GIF: its size, and that it has one frame. Models embed one image: of an animation it would be the first, and no caller would notice. */
import { little } from '../image/bytes.ts'
import { sizeWords, WORDS, type Scan, type Source } from '../image/scan.ts'
import type { LengthScan } from './reader.ts'

const ANY_SIZE = { maxPicturePixels: Infinity, maxPictureEdge: Infinity }

export function* gifScan(source: Source): LengthScan {
  const head = yield* source.look(13)
  const [width, height] = [little(head, 6, 2), little(head, 8, 2)]
  const refused = sizeWords(width, height, ANY_SIZE)
  if (refused !== undefined) return refused
  yield* passColours(source, head[10] ?? 0)
  const blocks = { left: MAX_BLOCKS }
  let frames = 0
  for (;;) {
    const [kind] = yield* source.look(1)
    if (kind === TRAILER) return frames === 0 ? WORDS.noPixels : () => ({ width, height })
    if (kind === EXTENSION) yield* source.passTo(source.position + 1)
    else if (kind === FRAME) {
      frames += 1
      if (frames > 1) return WORDS.animated
      const frame = yield* source.look(9)
      yield* passColours(source, frame[8] ?? 0)
      yield* source.passTo(source.position + 1)
    } else return frames === 0 ? WORDS.broken : () => ({ width, height })
    yield* passBlocks(source, blocks)
    if (blocks.left === 0) return `has more than ${MAX_BLOCKS} blocks`
  }
}

/** Blocks of a file: one of 50 MB has 200,000 full ones. */
const MAX_BLOCKS = 262_144

const TRAILER = 0x3b
const EXTENSION = 0x21
const FRAME = 0x2c

/** A table of colours, where the flags announce one. */
function* passColours(source: Source, flags: number): Scan<void> {
  if ((flags & 0x80) !== 0) yield* source.passTo(source.position + 3 * 2 ** ((flags & 7) + 1))
}

/** Ends early when none are left. */
function* passBlocks(source: Source, blocks: { left: number }): Scan<void> {
  while (blocks.left > 0) {
    blocks.left -= 1
    const [length = 0] = yield* source.look(1)
    if (length === 0) return
    yield* source.passTo(source.position + length)
  }
}

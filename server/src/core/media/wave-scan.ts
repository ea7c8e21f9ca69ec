/** Sound without loss: WAV and FLAC give their length in the header. */
import { big, little, startsWith } from '../image/bytes.ts'
import { MAX_PARTS } from '../image/header.ts'
import type { Source } from '../image/scan.ts'
import type { LengthScan } from './reader.ts'
import { secondsOf } from './seconds.ts'

/** Formats whose samples all have the same size: integers, fractions, and either with a longer header. */
const PLAIN_FORMATS: ReadonlySet<number> = new Set([1, 3, 0xff_fe])

export function* wavScan(source: Source): LengthScan {
  yield* source.passTo(12)
  let bytesPerSecond: number | undefined
  for (let parts = 0; parts < MAX_PARTS; parts += 1) {
    const head = yield* source.look(8)
    const length = little(head, 4, 4)
    const start = source.position
    if (startsWith(head, 0, 'data')) {
      if (bytesPerSecond === undefined) return 'is a WAV whose samples come before their format'
      const rate = bytesPerSecond
      // Programs that stream announce more than comes.
      return (size) => ({ seconds: secondsOf(Math.min(length, size - start), rate) })
    }
    if (startsWith(head, 0, 'fmt ')) {
      if (length < 16) return 'is a WAV with a broken header'
      const format = yield* source.look(16)
      const announced = little(format, 8, 4)
      const isPlain = PLAIN_FORMATS.has(little(format, 0, 2))
      bytesPerSecond = isPlain ? little(format, 4, 4) * little(format, 12, 2) : announced
      if (bytesPerSecond === 0) return 'is a WAV with a broken header'
    }
    // Chunks are padded to an even length.
    yield* source.passTo(start + length + (length % 2))
  }
  return `has more than ${MAX_PARTS} parts before its samples`
}

export function* flacScan(source: Source): LengthScan {
  yield* source.passTo(4)
  const head = yield* source.look(4)
  if ((big(head, 0, 1) & 0x7f) !== 0 || big(head, 1, 3) !== 34)
    return 'is a FLAC that does not begin with its header'
  yield* source.passTo(18)
  const bytes = yield* source.look(8)
  const rate = big(bytes, 0, 3) >> 4
  const samples = (big(bytes, 3, 1) & 0x0f) * 2 ** 32 + big(bytes, 4, 4)
  if (rate === 0) return 'is a FLAC with a broken header'
  // No samples: an encoder that streamed did not know their number.
  return () => ({ seconds: secondsOf(samples, rate) })
}

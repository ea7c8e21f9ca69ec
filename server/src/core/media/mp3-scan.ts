/** The length of an MP3: as its first frame says, otherwise by the bit rate of that frame. */
import { big, startsWith } from '../image/bytes.ts'
import type { Source } from '../image/scan.ts'
import type { LengthScan } from './reader.ts'
import { secondsOf } from './seconds.ts'

/** Bytes searched for the first frame: encoders pad with less. */
const MAX_SEARCH_BYTES = 4096
/** Bits per second, by their number in the header of a frame. Zero: not said. */
const BIT_RATES = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const LOW_BIT_RATES = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const SAMPLE_RATES = [44_100, 48_000, 32_000]
/** The highest bit rate of the format, and a tenth for what is not sound. */
const MAX_BYTES_PER_SECOND = (320_000 / 8) * 1.1

interface Frame {
  /** Zero: not said. */
  readonly bytesPerSecond: number
  readonly samplesPerSecond: number
  readonly samples: number
  /** Where an encoder writes the number of frames. */
  readonly xingOffset: number
}

export function* mp3Scan(source: Source): LengthScan {
  const start = yield* source.look(10)
  let word = big(start, 0, 4)
  const isTagged = startsWith(start, 0, 'ID3')
  if (isTagged) {
    const tagged = [6, 7, 8, 9].reduce((size, at) => size * 128 + (big(start, at, 1) & 0x7f), 0)
    yield* source.passTo(10 + tagged + ((big(start, 5, 1) & 0x10) === 0 ? 0 : 10))
    word = big(yield* source.look(4), 0, 4)
  } else if (frameOf(word) === undefined) return NO_FRAME
  let searched = 0
  let frame = frameOf(word)
  while (frame === undefined) {
    searched += 1
    if (searched > MAX_SEARCH_BYTES) return NO_FRAME
    word = (word * 256 + big(yield* source.look(1), 0, 1)) % 2 ** 32
    frame = frameOf(word)
  }
  const { xingOffset } = frame
  const found = frame
  // Without a tag, ten bytes are read already: six of them are side information, which no name begins in.
  const frameStart = isTagged ? source.position - 4 : 0
  const byBitRate = (size: number) => ({ seconds: secondsOf(size - frameStart, found.bytesPerSecond) })
  yield* source.passTo(frameStart + xingOffset)
  const xing = yield* source.look(12)
  const hasFrames =
    (startsWith(xing, 0, 'Xing') || startsWith(xing, 0, 'Info')) && (big(xing, 7, 1) & 1) === 1
  if (hasFrames) return lengthOf(big(xing, 8, 4), found, frameStart)
  if (xingOffset + 12 > VBRI_OFFSET) return byBitRate
  yield* source.passTo(frameStart + VBRI_OFFSET)
  if (!startsWith(yield* source.look(4), 0, 'VBRI')) return byBitRate
  yield* source.passTo(frameStart + VBRI_OFFSET + 14)
  return lengthOf(big(yield* source.look(4), 0, 4), found, frameStart)
}

const VBRI_OFFSET = 36
const NO_FRAME = 'has no MPEG audio of layer III'

/** Unknown where the file has more bytes than that many seconds can have. */
function lengthOf(frames: number, { samples, samplesPerSecond }: Frame, start: number) {
  const seconds = secondsOf(frames * samples, samplesPerSecond)
  return (size: number) => {
    const isPossible = seconds !== undefined && size - start <= (seconds + 1) * MAX_BYTES_PER_SECOND
    return { seconds: isPossible ? seconds : undefined }
  }
}

function frameOf(word: number): Frame | undefined {
  const [second, third, fourth] = [(word >>> 16) & 0xff, (word >>> 8) & 0xff, word & 0xff]
  if (word >>> 24 !== 0xff || (second & 0xe6) !== 0xe2) return undefined
  const version = (second >> 3) & 3
  const samplesPerSecond = SAMPLE_RATES[(third >> 2) & 3]
  const isFirst = version === 3
  const bitRate = (isFirst ? BIT_RATES : LOW_BIT_RATES)[third >> 4]
  if (version === 1 || samplesPerSecond === undefined || bitRate === undefined) return undefined
  const isMono = fourth >> 6 === 3
  return {
    bytesPerSecond: (bitRate * 1000) / 8,
    samplesPerSecond: samplesPerSecond / (isFirst ? 1 : version === 2 ? 2 : 4),
    samples: isFirst ? 1152 : 576,
    xingOffset: isFirst ? (isMono ? 21 : 36) : isMono ? 13 : 21,
  }
}

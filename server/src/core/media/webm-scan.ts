/** The length of a WebM, which programs that do not stream write before the samples. */
import { big } from '../image/bytes.ts'
import { MAX_PARTS } from '../image/header.ts'
import type { Scan, Source } from '../image/scan.ts'
import type { LengthScan } from './reader.ts'
import { secondsOf } from './seconds.ts'

const SEGMENT = 0x18_53_80_67
const INFO = 0x15_49_a9_66
const CLUSTER = 0x1f_43_b6_75
const TICK_NANOSECONDS = 0x2a_d7_b1
const DURATION = 0x44_89

export function* webmScan(source: Source): LengthScan {
  let ticksPerSecond = 1000
  let duration: number | undefined
  let isInside = false
  for (let parts = 0; parts < MAX_PARTS; parts += 1) {
    const { id, end } = yield* nextElement(source)
    if (id === undefined) return 'has a part with an impossible length'
    if (id === CLUSTER) break
    if (id === SEGMENT || id === INFO) {
      isInside ||= id === SEGMENT
      continue
    }
    const length = end - source.position
    if (isInside && id === TICK_NANOSECONDS && length >= 1 && length <= 8)
      ticksPerSecond = 1e9 / big(yield* source.look(length), 0, length)
    if (isInside && id === DURATION && (length === 4 || length === 8)) {
      const bytes = yield* source.look(length)
      const view = new DataView(bytes.buffer, bytes.byteOffset, length)
      duration = length === 4 ? view.getFloat32(0) : view.getFloat64(0)
    }
    yield* source.passTo(end)
  }
  return () => ({ seconds: duration === undefined ? undefined : secondsOf(duration, ticksPerSecond) })
}

interface Element {
  readonly id: number | undefined
  readonly end: number
}

function* nextElement(source: Source): Scan<Element> {
  const id = yield* numberOf(source, 4, true)
  const length = id === undefined ? undefined : yield* numberOf(source, 8, false)
  return length === undefined ? { id: undefined, end: 0 } : { id, end: source.position + length }
}

/** The zeros before its first one say how many bytes a number has. A length of all ones means: to the end. */
function* numberOf(source: Source, maxBytes: number, isMarked: boolean): Scan<number | undefined> {
  const [first = 0] = yield* source.look(1)
  const more = Math.clz32(first) - 24
  if (more >= maxBytes) return undefined
  const mark = 0x80 >> more
  const rest = more === 0 ? 0 : big(yield* source.look(more), 0, more)
  const value = (isMarked ? first : first - mark) * 256 ** more + rest
  return !isMarked && value === mark * 256 ** more - 1 ? Infinity : value
}

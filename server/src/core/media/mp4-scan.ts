/** The length of an MP4, MOV or M4A, from its index, which may come after the samples. */
import { big } from '../image/bytes.ts'
import { MAX_PARTS } from '../image/header.ts'
import type { Scan, Source } from '../image/scan.ts'
import type { LengthScan } from './reader.ts'
import { secondsOf } from './seconds.ts'

interface Box {
  readonly name: string
  readonly end: number
}

const BROKEN = 'has a part with an impossible length'

export function* mp4Scan(source: Source): LengthScan {
  for (let parts = 0; parts < MAX_PARTS; parts += 1) {
    const box = yield* nextBox(source)
    if (box === undefined) return BROKEN
    if (box.name === 'moov') return yield* movieLength(source, box.end)
    yield* source.passTo(box.end)
  }
  return `has more than ${MAX_PARTS} parts before its index`
}

/** Undefined where no box has such a length. */
function* nextBox(source: Source): Scan<Box | undefined> {
  const start = source.position
  const head = yield* source.look(8)
  const name = String.fromCharCode(...head.subarray(4))
  const length = big(head, 0, 4)
  if (length === 0) return { name, end: Infinity }
  if (length !== 1) return length < 8 ? undefined : { name, end: start + length }
  const long = big(yield* source.look(8), 0, 8)
  return long < 16 ? undefined : { name, end: start + long }
}

/** In a file of fragments, the length of all of them comes after that of the first, which is none. */
function* movieLength(source: Source, end: number): LengthScan {
  let rate = 0
  for (let parts = 0; parts < MAX_PARTS && source.position + 8 <= end; parts += 1) {
    const box = yield* nextBox(source)
    if (box === undefined || (box.end > end && box.end !== Infinity)) return BROKEN
    if (box.name === 'mvhd') {
      const isLong = (yield* source.look(4))[0] === 1
      yield* source.passTo(source.position + (isLong ? 16 : 8))
      rate = big(yield* source.look(4), 0, 4)
      const length = yield* lengthIn(source, isLong)
      if (length !== undefined) return known(length, rate)
    }
    if (box.name === 'mehd') {
      const isLong = (yield* source.look(4))[0] === 1
      const length = yield* lengthIn(source, isLong)
      return length === undefined ? UNKNOWN : known(length, rate)
    }
    // What follows is in it.
    if (box.name !== 'mvex') yield* source.passTo(box.end)
  }
  return UNKNOWN
}

const UNKNOWN = () => ({ seconds: undefined })

function known(length: number, rate: number) {
  return () => ({ seconds: secondsOf(length, rate) })
}

/** Undefined where it is not said: none, or every bit set. */
function* lengthIn(source: Source, isLong: boolean): Scan<number | undefined> {
  const bytes = yield* source.look(isLong ? 8 : 4)
  return bytes.every((byte) => byte === 0xff) || bytes.every((byte) => byte === 0)
    ? undefined
    : big(bytes, 0, bytes.length)
}

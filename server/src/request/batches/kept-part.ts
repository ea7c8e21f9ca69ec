/** The part of a chunk in the blob store: written once, and found again by the next holder if this one dies. */
import {
  headIn,
  MAX_HEAD_BYTES,
  partName,
  partPrefix,
  placeOf,
  tokenIn,
  type PartRanges,
} from '#core/batch/part.ts'
import type { ChunkEnd, ChunkHold, HeldChunk } from '#ports/batches.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { ChunkResults } from './chunk-results.ts'
import { rangeOfLines, type LineRange, type PlacedLine } from '#core/batch/chunk.ts'

/** Holders of one chunk that may each have left a part. */
const MAX_PARTS = 100

/**
 * The part that an earlier holder of the chunk left. Its calls are in the ledger, because a holder writes
 * them before the part.
 */
export async function partBefore(
  { hold: { batchId, chunk, token }, ...held }: HeldChunk,
  blobs: BlobStore,
): Promise<ChunkEnd | undefined> {
  if (token === 1) return undefined
  const listed = await blobs.list({ prefix: partPrefix(batchId, chunk), limit: MAX_PARTS })
  for (const { name, size } of listed) {
    const holder = tokenIn(name, batchId, chunk)
    if (holder === undefined || holder >= token) continue
    const range = { first: 0, last: Math.min(size, MAX_HEAD_BYTES) - 1 }
    const blob = await blobs.open(name, range)
    if (blob === undefined) continue
    const text = await textOf(blob.bytes)
    const headBytes = text.indexOf('\n') + 1
    const head = headIn(text.slice(0, headBytes))
    const { counts, rest, made } = head
    return {
      counts,
      part: placeOf(head, headBytes, holder),
      done: head.done ?? before(held, rest),
      rest,
      made,
    }
  }
  return undefined
}

/** Resolves once the results are durable, and rejects with `StoreUnreachable` otherwise. */
export async function keepPart(
  { batchId, chunk, token }: ChunkHold,
  results: ChunkResults,
  ranges: PartRanges,
  blobs: BlobStore,
): Promise<ChunkEnd> {
  const { bytes, head, headBytes } = results.part(ranges)
  await blobs.put(partName(batchId, chunk, token), bytes)
  return { counts: head.counts, part: placeOf(head, headBytes, token), ...ranges, made: head.made }
}

/** The lines of a chunk before its rest. */
function before(
  { firstByte, bytes, firstLine, lines }: LineRange,
  rest: LineRange | undefined,
): LineRange | undefined {
  return rest && { firstByte, bytes: bytes - rest.bytes, firstLine, lines: lines - rest.lines }
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const some of bytes) text += decoder.decode(some, { stream: true })
  return text
}

/** The ranges of the chunk's lines with a result and without one. */
export function rangesOf(
  held: HeldChunk,
  within: readonly PlacedLine[],
  lines: readonly PlacedLine[],
  ended: ReadonlySet<number>,
): PartRanges {
  if (ended.size === lines.length) return { done: undefined, rest: undefined }
  const own = new Set(lines.map(({ number }) => number))
  return {
    done: rangeOfLines(held, within, ({ number }) => ended.has(number)),
    rest: rangeOfLines(held, within, ({ number }) => own.has(number) && !ended.has(number)),
  }
}

/** The lines of a part's results: which request each came from, and how many vectors it has. */
import { partName } from '#core/batch/part.ts'
import type { PartPlace } from '#core/batch/chunk.ts'
import type { BlobStore } from '#ports/blobs.ts'

export interface PartLine {
  /** In the file, from 1. */
  readonly number: number
  readonly requestId: string
  readonly vectors: number
}

export interface StoredPart {
  readonly batchId: string
  readonly chunk: number
  readonly part: PartPlace
}

/** As `answerHead` and `ChunkResults` write them. */
const HEAD =
  /^\{"id":"batch_req_[0-9a-f]+_(\d+)","custom_id":"(?:[^"\\]|\\.)*","response":\{"status_code":200,"request_id":"([0-9a-f-]{36})"/
const VECTOR = '{"object":"embedding","index":'
const NEWLINE = 10

/** Undefined when the results are gone. Reads one line at a time: a part may have a hundred megabytes. */
export async function linesOfPart(
  { batchId, chunk, part }: StoredPart,
  blobs: Pick<BlobStore, 'open'>,
): Promise<readonly PartLine[] | undefined> {
  const { token, headBytes, outputBytes } = part
  if (outputBytes === 0) return []
  const range = { first: headBytes, last: headBytes + outputBytes - 1 }
  const blob = await blobs.open(partName(batchId, chunk, token), range)
  if (blob === undefined) return undefined
  // All of it is ASCII.
  const decoder = new TextDecoder('latin1')
  const lines: PartLine[] = []
  let text = ''
  for await (const bytes of blob.bytes) {
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      lines.push(lineIn(text + decoder.decode(bytes.subarray(start, end))))
      text = ''
      start = end + 1
    }
    text += decoder.decode(bytes.subarray(start))
  }
  return lines
}

function lineIn(text: string): PartLine {
  const [, number, requestId] = HEAD.exec(text) ?? []
  if (requestId === undefined) throw new TypeError('a line of a batch has no request id')
  let vectors = 0
  for (let at = text.indexOf(VECTOR); at !== -1; at = text.indexOf(VECTOR, at + VECTOR.length)) vectors += 1
  return { number: Number(number), requestId, vectors }
}

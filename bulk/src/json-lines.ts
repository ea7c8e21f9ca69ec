/** Lines of a JSONL file that arrives in chunks. */

/** Longest line; a line is held in memory whole. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024

const NEWLINE = 10

/** Text of each line without its line break; undefined for a line over `MAX_LINE_BYTES`, which is not kept. */
export async function* linesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string | undefined> {
  let kept: Uint8Array[] = []
  let keptBytes = 0
  const keep = (bytes: Uint8Array): void => {
    keptBytes += bytes.length
    if (keptBytes > MAX_LINE_BYTES) kept = []
    else if (bytes.length > 0) kept.push(bytes)
  }
  const line = (): string | undefined => {
    const text = keptBytes > MAX_LINE_BYTES ? undefined : Buffer.concat(kept).toString('utf8')
    kept = []
    keptBytes = 0
    return text?.replace(/\r$/, '')
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end))
      yield line()
      start = end + 1
    }
    keep(chunk.subarray(start))
  }
  if (keptBytes > 0) yield line()
}

/** A JSON object, not an array, `null` or a plain value. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The chunks of a file as text: one line of JSON for each. A file of ten million texts has twenty thousand. */
import type { ScannedChunk } from './scan-result.ts'

export function chunkListText(chunks: readonly ScannedChunk[]): string {
  return chunks
    .map(({ firstByte, bytes, firstLine, lines, inputs }) =>
      JSON.stringify([firstByte, bytes, firstLine, lines, inputs]),
    )
    .join('\n')
}

export function chunksIn(text: string): readonly ScannedChunk[] {
  if (text === '') return []
  return text.split('\n').map((line) => {
    const [firstByte = 0, bytes = 0, firstLine = 0, lines = 0, inputs = 0] = JSON.parse(line) as number[]
    return { firstByte, bytes, firstLine, lines, inputs }
  })
}

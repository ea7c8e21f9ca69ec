/** The segments of a file as stored text. */
import type { FileSegment } from '#ports/files.ts'

export function segmentsText(segments: readonly FileSegment[]): string {
  return JSON.stringify(segments.map(({ blob, firstByte, bytes }) => [blob, firstByte, bytes]))
}

export function segmentsIn(text: string): readonly FileSegment[] {
  const packed = JSON.parse(text) as (readonly [string, number, number])[]
  return packed.map(([blob, firstByte, bytes]) => ({ blob, firstByte, bytes }))
}

/** Vectors of one width in a column of bytes: float32, little-endian, one after another. */
import { decodeBase64, encodeBase64 } from '#core/embedding/vector.ts'

export function bytesOf(vectors: readonly Float32Array[]): Buffer {
  return Buffer.concat(vectors.map((vector) => Buffer.from(encodeBase64(vector), 'base64')))
}

export function vectorsIn(bytes: Buffer, width: number): readonly Float32Array[] {
  const bytesEach = width * Float32Array.BYTES_PER_ELEMENT
  return Array.from({ length: bytes.length / bytesEach }, (_, index) =>
    decodeBase64(bytes.toString('base64', index * bytesEach, (index + 1) * bytesEach)),
  )
}

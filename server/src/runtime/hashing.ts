import { createHash, subtle } from 'node:crypto'
import type { Hashing } from '#ports/hashing.ts'

export const hashing: Hashing = {
  sha256OfText: (text) => createHash('sha256').update(text).digest('hex'),
  sha256OfBytes: async (bytes) => Buffer.from(await subtle.digest('SHA-256', bytes)).toString('hex'),
}

/** Secrets of cookies, links and tokens: 256 random bits. The store keeps a digest of them. */
import { createHash, randomBytes } from 'node:crypto'

export function newSecretText(): string {
  return randomBytes(32).toString('base64url')
}

/** SHA-256: a secret of 256 bits cannot be guessed, so its digest needs neither salt nor a slow hash. */
export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

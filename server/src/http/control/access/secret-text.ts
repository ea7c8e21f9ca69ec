/** Cookies, links and tokens: 256 random bits, of which the store keeps a digest. */
import { createHash, randomBytes } from 'node:crypto'

export function newSecretText(): string {
  return randomBytes(32).toString('base64url')
}

/** Guessing 256 bits is hopeless, so the digest needs neither salt nor time. */
export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

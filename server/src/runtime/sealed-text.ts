import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SealingKeys } from '#ports/credentials.ts'

const ALGORITHM = 'aes-256-gcm'
const KEY_ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16

export type TextSeal = ReturnType<typeof textSeal>

/**
 * Seals a text that leaves the node and comes back: no one in between can read or change it. Any node of the install can open it,
 * also while the secret is being rotated.
 */
export function textSeal({ current, previous }: SealingKeys) {
  return {
    seal(text: string): string {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, current.key, nonce, { authTagLength: TAG_BYTES })
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.from(current.id, 'hex'), nonce, cipher.getAuthTag(), sealed]).toString(
        'base64url',
      )
    },
    /** Undefined: it was not sealed by a node of this install, or was changed. */
    open(sealed: string): string | undefined {
      const bytes = Buffer.from(sealed, 'base64url')
      const id = bytes.subarray(0, KEY_ID_BYTES).toString('hex')
      const key = [current, previous].find((candidate) => candidate?.id === id)
      const tagAt = KEY_ID_BYTES + NONCE_BYTES
      if (key === undefined || bytes.length < tagAt + TAG_BYTES) return undefined
      try {
        const nonce = bytes.subarray(KEY_ID_BYTES, tagAt)
        const decipher = createDecipheriv(ALGORITHM, key.key, nonce, {
          authTagLength: TAG_BYTES,
        }).setAuthTag(bytes.subarray(tagAt, tagAt + TAG_BYTES))
        return `${decipher.update(bytes.subarray(tagAt + TAG_BYTES), undefined, 'utf8')}${decipher.final('utf8')}`
      } catch {
        return undefined
      }
    },
  }
}

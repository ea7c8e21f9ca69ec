import { randomBytes } from 'node:crypto'
import type { Clock, Identifiers } from '#ports/clock.ts'

/** Random bytes are drawn in bulk: one system call serves a few hundred ids. */
const POOL_BYTES = 4096
/** 74 random bits: three digits after the version, one for the variant, fifteen after it. */
const DIGITS_PER_ID = 19
const VARIANTS = '89ab'

/** UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, then 74 random bits. */
export function uuidv7Identifiers(clock: Clock): Identifiers {
  let pool = ''
  let at = 0
  let lastMs = -1
  let time = ''

  return {
    next() {
      if (at + DIGITS_PER_ID > pool.length) {
        pool = randomBytes(POOL_BYTES).toString('hex')
        at = 0
      }
      const nowMs = Math.trunc(clock.nowMs())
      if (nowMs !== lastMs) {
        lastMs = nowMs
        const hex = nowMs.toString(16).padStart(12, '0')
        time = `${hex.slice(0, 8)}-${hex.slice(8)}-7`
      }
      const start = at
      at += DIGITS_PER_ID
      const variant = VARIANTS[pool.charCodeAt(start + 3) & 3] as string
      return `${time}${pool.slice(start, start + 3)}-${variant}${pool.slice(start + 4, start + 7)}-${pool.slice(start + 7, start + 19)}`
    },
  }
}

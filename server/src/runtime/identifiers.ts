import { randomFillSync } from 'node:crypto'
import type { Clock, Identifiers } from '#ports/clock.ts'

/** Random bytes are drawn in bulk: one system call serves a few hundred ids. */
const POOL_BYTES = 4096
const BYTES_PER_ID = 10

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** UUIDv7 (RFC 9562): 48 bits of Unix milliseconds, then 74 random bits. */
export function uuidv7Identifiers(clock: Clock): Identifiers {
  const pool = new Uint8Array(POOL_BYTES)
  let at = POOL_BYTES
  const hex = (byte: number): string => HEX[byte] as string

  return {
    next() {
      if (at + BYTES_PER_ID > POOL_BYTES) {
        randomFillSync(pool)
        at = 0
      }
      const time = Math.trunc(clock.nowMs()).toString(16).padStart(12, '0')
      const random = pool.subarray(at, at + BYTES_PER_ID)
      at += BYTES_PER_ID
      const byte = (index: number): number => random[index] as number
      return (
        `${time.slice(0, 8)}-${time.slice(8)}-` +
        `${hex(0x70 | (byte(0) & 0x0f))}${hex(byte(1))}-${hex(0x80 | (byte(2) & 0x3f))}${hex(byte(3))}-` +
        `${hex(byte(4))}${hex(byte(5))}${hex(byte(6))}${hex(byte(7))}${hex(byte(8))}${hex(byte(9))}`
      )
    },
  }
}

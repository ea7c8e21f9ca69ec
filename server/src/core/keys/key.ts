/**
 * Our key format: `tr_<32 base62>_<8 hex>`, the last part being the CRC-32 of everything before its underscore. A key that
 * was made in a cell names it: `tr_<cell>_<32 base62>_<8 hex>`, so that a load balancer finds the cell without a look-up.
 */

const OURS = /^tr_(?:([0-9a-z]{1,8})_)?[0-9A-Za-z]{32}_[0-9a-f]{8}$/
/** Shorter than the random part, so that a load balancer can distinguish the two. */
const CELL = /^[0-9a-z]{1,8}$/
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Imported keys keep their form, but a short one could be guessed. */
export const MIN_KEY_LENGTH = 24

/** Random keys of 24 or more characters have more different ones, in hexadecimal too; `aaaa…` and `12341234…` do not. */
export const MIN_DIFFERENT_CHARACTERS = 8

/** Long enough, but easy to guess: few different characters. */
export function isMonotonous(secret: string): boolean {
  return new Set(secret).size < MIN_DIFFERENT_CHARACTERS
}

export type KeyForm = 'torana' | 'foreign' | 'bad-checksum' | 'too-short'

/** Also for a truncated or mistyped key of ours. */
export function startsLikeOurs(secret: string): boolean {
  return secret.startsWith('tr_')
}

/** A key that starts like ours and fails its checksum was mistyped or cut: it is refused without a look-up. */
export function keyForm(secret: string): KeyForm {
  if (startsLikeOurs(secret)) {
    if (!OURS.test(secret)) return 'bad-checksum'
    return checksum(secret.slice(0, -9)) === secret.slice(-8) ? 'torana' : 'bad-checksum'
  }
  return secret.length < MIN_KEY_LENGTH ? 'too-short' : 'foreign'
}

export function isCellName(text: string): boolean {
  return CELL.test(text)
}

/** The cell in which a key was made. Undefined: the key names none. */
export function cellOf(secret: string): string | undefined {
  return OURS.exec(secret)?.[1]
}

/** A new key from 32 or more random bytes. Bytes from 248 up are skipped: 256 is no multiple of 62. */
export function keyFrom(randomBytes: Uint8Array, cell?: string): string {
  const characters = [...randomBytes].filter((byte) => byte < 248).map((byte) => BASE62[byte % 62])
  if (characters.length < 32) throw new RangeError('too few random bytes for a key')
  const body = `tr_${cell === undefined ? '' : `${cell}_`}${characters.slice(0, 32).join('')}`
  return `${body}_${checksum(body)}`
}

/** What may be shown of a key: enough to recognise it, too little to use it. */
export function keyTail(secret: string): string {
  return secret.length >= MIN_KEY_LENGTH ? `…${secret.slice(-4)}` : '…'
}

/** The same for any secret. Undefined when it is too short to show any of it. */
export function secretTail(secret: string): string | undefined {
  return secret.length >= MIN_KEY_LENGTH ? keyTail(secret) : undefined
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1
  return value
})

/** CRC-32 (IEEE) of the text's UTF-16 code units below 256, in eight hex digits. */
export function checksum(text: string): string {
  let crc = 0xff_ff_ff_ff
  for (let index = 0; index < text.length; index += 1) {
    crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ text.charCodeAt(index)) & 0xff] as number)
  }
  return ((crc ^ 0xff_ff_ff_ff) >>> 0).toString(16).padStart(8, '0')
}

/** Reading numbers and names out of bytes. */

/** Each character of `text` stands for the byte of its code. */
export function startsWith(bytes: Uint8Array, offset: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1)
    if (bytes[offset + index] !== text.charCodeAt(index)) return false
  return true
}

/** NaN where the bytes end before: no comparison with it holds. */
export function big(bytes: Uint8Array, offset: number, length: number): number {
  let value = 0
  for (let index = 0; index < length; index += 1) value = value * 256 + (bytes[offset + index] ?? Number.NaN)
  return value
}

export function little(bytes: Uint8Array, offset: number, length: number): number {
  let value = 0
  for (let index = length - 1; index >= 0; index -= 1)
    value = value * 256 + (bytes[offset + index] ?? Number.NaN)
  return value
}

/** Length of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = 0
  for (const character of text) {
    const point = character.codePointAt(0) as number
    // Half a surrogate pair is sent as U+FFFD, in three bytes like its own range.
    bytes += point < 0x80 ? 1 : point < 0x8_00 ? 2 : point < 0x1_00_00 ? 3 : 4
  }
  return bytes
}

/** Bytes without Node's `Buffer`: browsers run the readers and writers of this workspace too. */

const encoder = new TextEncoder()

export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

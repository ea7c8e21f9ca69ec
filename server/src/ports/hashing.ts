/** Digests, as arguments so that the journey names no library. */
export interface Hashing {
  /** Lower-case hexadecimal SHA-256 of a text. */
  sha256OfText(text: string): string
  /** The same of bytes, hashed in parts that leave the event loop to others: an image may have tens of megabytes. */
  sha256OfBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string>
}

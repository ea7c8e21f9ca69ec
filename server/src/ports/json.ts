/**
 * Parses JSON too large to be parsed between two turns of the event loop. The value is what `JSON.parse` gives, with one
 * difference: arrays of token ids under `input` arrive as `Uint32Array`, because a million boxed numbers would take as long to
 * hand over as to parse.
 */
export interface LargeJson {
  /** Rejects with a `SyntaxError` for what is not JSON. The bytes are given away: the caller must not use them again. */
  parse(bytes: Uint8Array<ArrayBuffer>): Promise<unknown>
}

import { BodyUnread } from './sent-body.ts'

export interface SizedBytes {
  readonly size: number
  open(): AsyncIterable<Uint8Array>
}

/** Bytes whose size was announced. One too many, or too few, would move the border of all that follows. */
export async function* exactly(file: SizedBytes): AsyncGenerator<Uint8Array, void, void> {
  const { size } = file
  let read = 0
  for await (const chunk of file.open()) {
    read += chunk.length
    if (read > size) break
    yield chunk
  }
  if (read !== size) throw new BodyUnread(`a file of ${read > size ? 'more' : 'less'} than ${size} bytes`)
}

/** All of it in memory, for who can't stream it. */
export async function wholeOf(file: SizedBytes): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(file.size)
  let read = 0
  for await (const chunk of exactly(file)) {
    bytes.set(chunk, read)
    read += chunk.length
  }
  return bytes
}

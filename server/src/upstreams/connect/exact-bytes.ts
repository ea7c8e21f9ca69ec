import { UpstreamFailure } from '#core/fault/failure.ts'
import { BodyUnread } from './sent-body.ts'

export interface SizedBytes {
  readonly size: number
  open(): AsyncIterable<Uint8Array>
}

/** Bytes whose size was announced. One too many or too few would shift everything that follows. */
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

/** The whole file in memory, for a deployment to which it can't be streamed. Nothing was sent yet. */
export async function wholeOf(file: SizedBytes, deployment: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(file.size)
  let read = 0
  try {
    for await (const chunk of exactly(file)) {
      bytes.set(chunk, read)
      read += chunk.length
    }
    return bytes
  } catch (error) {
    const message = 'a file of the request could not be read'
    const failure = new UpstreamFailure('failed', message, { deployment, charge: 'none' })
    failure.cause = error
    throw failure
  }
}

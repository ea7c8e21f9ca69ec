import { createHash } from 'node:crypto'
import { StoreUnreachable } from '#ports/store.ts'
import type { Upload, Uploads, UploadWriter } from '#ports/uploads.ts'

/** For tests. */
export class MemoryUploads implements Uploads {
  readonly #maxBytes: number
  #files = 0
  #bytes = 0

  constructor({ maxBytes }: { readonly maxBytes: number }) {
    this.#maxBytes = maxBytes
  }

  inUse(): { readonly files: number; readonly bytes: number } {
    return { files: this.#files, bytes: this.#bytes }
  }

  async create(): Promise<UploadWriter> {
    const parts: Uint8Array[] = []
    let state: 'written' | 'finished' | 'discarded' = 'written'
    let size = 0
    this.#files += 1

    const check = (): void => {
      if (state === 'discarded') throw new StoreUnreachable('the upload was discarded')
    }
    const discard = async (): Promise<void> => {
      if (state === 'discarded') return
      state = 'discarded'
      this.#files -= 1
      this.#bytes -= size
    }
    async function* read(start = 0, end = size): AsyncGenerator<Uint8Array> {
      let position = 0
      for (const part of parts) {
        check()
        const wanted = part.subarray(Math.max(0, start - position), Math.max(0, end - position))
        position += part.length
        if (wanted.length > 0) yield Uint8Array.from(wanted)
      }
      check()
    }
    return {
      write: async (chunk) => {
        check()
        if (state === 'finished') throw new Error('an upload was written to after its end')
        if (this.#bytes + chunk.length > this.#maxBytes)
          throw new StoreUnreachable(`uploads hold ${this.#bytes} of ${this.#maxBytes} bytes already`)
        this.#bytes += chunk.length
        size += chunk.length
        if (chunk.length > 0) parts.push(Uint8Array.from(chunk))
      },
      finish: async (): Promise<Upload> => {
        check()
        if (state === 'finished') throw new Error('an upload was ended twice')
        state = 'finished'
        const sha256 = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
        return { sha256, size, open: read, discard }
      },
      discard,
    }
  }
}

/** One JSON object per line: every program can read it, at five times the size of the other formats. */
import type { VectorFacts, VectorFormat, VectorSlice } from './vector-format.ts'
import { withVector } from './vector-format.ts'

export class JsonlFormat implements VectorFormat {
  readonly memory = undefined
  readonly keepsEveryRow = false
  readonly #dimensions: number

  constructor({ dimensions }: VectorFacts) {
    this.#dimensions = dimensions
  }

  head(): Uint8Array {
    return new Uint8Array()
  }

  async *slice(slice: VectorSlice): AsyncGenerator<Uint8Array> {
    for await (const block of slice.blocks()) {
      const { bytes, ids } = withVector(block)
      const numbers = new Float32Array(bytes.buffer, bytes.byteOffset, ids.length * this.#dimensions)
      const lines = ids.map((id, row) => {
        const vector = [...numbers.subarray(row * this.#dimensions, (row + 1) * this.#dimensions)]
        return `${JSON.stringify({ id, vector })}\n`
      })
      yield Buffer.from(lines.join(''))
    }
  }

  tail(): Uint8Array {
    return new Uint8Array()
  }
}

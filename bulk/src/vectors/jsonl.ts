/** One JSON object per line: every program can read it, at five times the size of the other formats. */
import { encodeText } from '../bytes.ts'
import type { VectorFacts, VectorFormat, VectorSlice } from './vector-format.ts'
import { bytesOf, numbersIn, withVector } from './vector-format.ts'

export class JsonlFormat implements VectorFormat {
  readonly memory = undefined
  readonly keepsEveryRow = false
  readonly #facts: VectorFacts

  constructor(facts: VectorFacts) {
    this.#facts = facts
  }

  head(): Uint8Array {
    return new Uint8Array()
  }

  async *slice(slice: VectorSlice): AsyncGenerator<Uint8Array> {
    for await (const block of slice.blocks()) {
      const { bytes, ids } = withVector(block)
      const rowBytes = bytesOf(this.#facts)
      const lines = ids.map((id, row) => {
        const own = bytes.subarray(row * rowBytes, (row + 1) * rowBytes)
        const vector = [...numbersIn(own, this.#facts.type)]
        return `${JSON.stringify({ id, vector })}\n`
      })
      yield encodeText(lines.join(''))
    }
  }

  tail(): Uint8Array {
    return new Uint8Array()
  }
}

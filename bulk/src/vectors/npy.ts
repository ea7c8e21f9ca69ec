/** NumPy's format: a text header, then the matrix. Row n is row n of the corpus; a row without a vector is NaN, or zeros. */
import { encodeText, joinBytes } from '../bytes.ts'
import { numbersOf } from './vector-format.ts'
import type { NumberType, VectorFacts, VectorFormat, VectorSlice } from './vector-format.ts'

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]
/** Room for any number of rows; a multiple of 64, as NumPy aligns it. */
const HEAD_BYTES = 128
const TYPES: Readonly<Record<NumberType, string>> = {
  float32: '<f4',
  float16: '<f2',
  int8: '|i1',
  uint8: '|u1',
  binary: '|i1',
  ubinary: '|u1',
}

export class NpyFormat implements VectorFormat {
  readonly memory = undefined
  readonly keepsEveryRow = true
  readonly #facts: VectorFacts

  constructor(facts: VectorFacts) {
    this.#facts = facts
  }

  head(rows: number): Uint8Array {
    const shape = `{'descr': '${TYPES[this.#facts.type]}', 'fortran_order': False, 'shape': (${rows}, ${numbersOf(this.#facts)}), }`
    const text = `${shape.padEnd(HEAD_BYTES - MAGIC.length - 2 - 1)}\n`
    const length = Uint8Array.of(text.length & 0xff, text.length >> 8)
    return joinBytes([Uint8Array.from(MAGIC), length, encodeText(text)])
  }

  async *slice(slice: VectorSlice): AsyncGenerator<Uint8Array> {
    for await (const { bytes } of slice.blocks()) yield bytes
  }

  tail(): Uint8Array {
    return new Uint8Array()
  }
}

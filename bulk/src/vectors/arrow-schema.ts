/**
 * The Arrow schema of a vector file, for the metadata of Parquet: with it, pyarrow and Polars read vectors of a fixed width instead of
 * lists. It is one message in FlatBuffers, so small that it is written by hand.
 */
import { encodeText, joinBytes } from '../bytes.ts'
import { factTexts, isSigned, numbersOf, type NumberType, type VectorFacts } from './vector-format.ts'

/** A table by the places of its fields. Undefined: a field with its default. */
type Table = readonly (number | string | Table | Tables | undefined)[]
interface Tables {
  readonly tables: readonly Table[]
}

// Numbers of Arrow's Schema.fbs and Message.fbs.
const VERSION_5 = 4
const SCHEMA_HEADER = 1
const TYPE = { int: 2, floatingPoint: 3, utf8: 5, fixedSizeList: 16 }
const SINGLE_PRECISION = 1
const CONTINUATION = 0xffffffff
/** Tables, slots and the message itself begin at multiples of it. */
const ALIGNMENT = 8

export function arrowSchema(facts: VectorFacts): Uint8Array<ArrayBuffer> {
  const element = field('element', ...numberType(facts.type))
  const vector = field('vector', TYPE.fixedSizeList, [numbersOf(facts)], [element])
  const metadata = [...factTexts(facts)].map(([key, value]): Table => [key, value])
  const fields = [field('id', TYPE.utf8, []), vector]
  const schema: Table = [undefined, { tables: fields }, { tables: metadata }]
  const message = writeMessage([VERSION_5, SCHEMA_HEADER, schema])
  const head = new DataView(new ArrayBuffer(8))
  head.setUint32(0, CONTINUATION, true)
  head.setUint32(4, message.length, true)
  return joinBytes([new Uint8Array(head.buffer), message])
}

function field(name: string, typeNumber: number, type: Table, children: readonly Table[] = []): Table {
  return [name, undefined, typeNumber, type, undefined, { tables: children }]
}

function numberType(type: NumberType): readonly [typeNumber: number, type: Table] {
  if (type === 'float32') return [TYPE.floatingPoint, [SINGLE_PRECISION]]
  if (type === 'float16') return [TYPE.floatingPoint, []]
  return [TYPE.int, [8, isSigned(type) ? 1 : undefined]]
}

function writeMessage(root: Table): Uint8Array {
  const words = new Words()
  words.link(words.reserve(1), words.table(root))
  return words.padded()
}

/** Little-endian words of four bytes. Every field takes one, and its low bytes are the number. */
class Words {
  readonly #bytes: number[] = []

  table(fields: Table): number {
    const present = fields.flatMap((value, index) => (value === undefined ? [] : [{ value, index }]))
    // The table of offsets ends where the table begins.
    const count = (present.at(-1)?.index ?? -1) + 1
    const offsets = [4 + 2 * count, 4 + 4 * present.length, ...Array.from({ length: count }, () => 0)]
    for (const [place, { index }] of present.entries()) offsets[2 + index] = 4 + 4 * place
    if (offsets.length % 2 === 1) this.#bytes.push(0, 0)
    const first = this.#bytes.length
    for (const offset of offsets) this.#bytes.push(offset & 0xff, offset >> 8)
    const at = this.reserve(1 + present.length)
    this.#set(at, at - first)
    for (const [place, { value }] of present.entries()) {
      const slot = at + 4 + 4 * place
      if (typeof value === 'number') this.#set(slot, value)
      else this.link(slot, this.#child(value))
    }
    return at
  }

  reserve(words: number): number {
    const at = this.#bytes.length
    for (let byte = 0; byte < 4 * words; byte += 1) this.#bytes.push(0)
    return at
  }

  link(slot: number, to: number): void {
    this.#set(slot, to - slot)
  }

  padded(): Uint8Array {
    while (this.#bytes.length % ALIGNMENT !== 0) this.#bytes.push(0)
    return Uint8Array.from(this.#bytes)
  }

  #child(value: string | Table | Tables): number {
    if (typeof value === 'string') return this.#text(value)
    return 'tables' in value ? this.#tables(value.tables) : this.table(value)
  }

  #tables(tables: readonly Table[]): number {
    const at = this.reserve(1 + tables.length)
    this.#set(at, tables.length)
    for (const [index, table] of tables.entries()) this.link(at + 4 + 4 * index, this.table(table))
    return at
  }

  /** Its length, its bytes, and a zero. */
  #text(text: string): number {
    const bytes = encodeText(text)
    const at = this.reserve(1)
    this.#set(at, bytes.length)
    this.#bytes.push(...bytes, 0)
    while (this.#bytes.length % 4 !== 0) this.#bytes.push(0)
    return at
  }

  #set(at: number, value: number): void {
    for (let byte = 0; byte < 4; byte += 1) this.#bytes[at + byte] = (value >> (8 * byte)) & 0xff
  }
}

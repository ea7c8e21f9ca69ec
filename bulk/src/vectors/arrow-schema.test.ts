import assert from 'node:assert/strict'
import { test } from 'node:test'
import { arrowSchema } from './arrow-schema.ts'
import type { NumberType } from './vector-format.ts'

/** Reads FlatBuffers as their specification says. */
class Table {
  readonly #view: DataView
  readonly #at: number

  constructor(view: DataView, at: number) {
    this.#view = view
    this.#at = at
  }

  /** Undefined: the field has its default. */
  #place(field: number): number | undefined {
    const offsets = this.#at - this.#view.getInt32(this.#at, true)
    const isThere = 4 + 2 * field < this.#view.getUint16(offsets, true)
    const offset = isThere ? this.#view.getUint16(offsets + 4 + 2 * field, true) : 0
    return offset === 0 ? undefined : this.#at + offset
  }

  #target(field: number): number {
    const place = this.#place(field)
    assert.ok(place !== undefined)
    return place + this.#view.getUint32(place, true)
  }

  byte(field: number): number {
    const place = this.#place(field)
    return place === undefined ? 0 : this.#view.getUint8(place)
  }

  integer(field: number): number {
    const place = this.#place(field)
    return place === undefined ? 0 : this.#view.getInt32(place, true)
  }

  text(field: number): string {
    const at = this.#target(field)
    return Buffer.from(this.#view.buffer, at + 4, this.#view.getUint32(at, true)).toString()
  }

  table(field: number): Table {
    return new Table(this.#view, this.#target(field))
  }

  tables(field: number): readonly Table[] {
    const at = this.#target(field)
    return Array.from({ length: this.#view.getUint32(at, true) }, (_, index) => {
      const slot = at + 4 + 4 * index
      return new Table(this.#view, slot + this.#view.getUint32(slot, true))
    })
  }
}

function schemaIn({ buffer }: Uint8Array<ArrayBuffer>): Table {
  const head = new DataView(buffer)
  assert.equal(head.getUint32(0, true), 0xffffffff)
  const length = head.getUint32(4, true)
  assert.equal(length, buffer.byteLength - 8)
  assert.equal(length % 8, 0)
  const message = new DataView(buffer.slice(8))
  const root = new Table(message, message.getUint32(0, true))
  assert.deepEqual([root.byte(0), root.byte(1)], [4, 1], 'version 5, and a schema')
  return root.table(2)
}

/** Type, then its first field, then its second. */
const ELEMENTS: Readonly<Record<NumberType, readonly number[]>> = {
  float32: [3, 1, 0],
  float16: [3, 0, 0],
  int8: [2, 8, 1],
  uint8: [2, 8, 0],
  binary: [2, 8, 1],
  ubinary: [2, 8, 0],
}

for (const [type, element] of Object.entries(ELEMENTS) as [NumberType, readonly number[]][])
  test(`the schema of ${type} names ids as text and vectors as lists of a fixed width, with their space`, () => {
    const width = type.endsWith('binary') ? 512 / 8 : 512
    const schema = schemaIn(arrowSchema({ model: 'Ü', space: 'Ü@512:0123abcd', dimensions: 512, type }))
    const [id, vector, ...others] = schema.tables(1)
    assert.ok(id && vector && others.length === 0)
    assert.deepEqual([id.text(0), id.byte(2), id.tables(5).length], ['id', 5, 0])
    assert.deepEqual([vector.text(0), vector.byte(2), vector.table(3).integer(0)], ['vector', 16, width])
    const [number, ...more] = vector.tables(5)
    assert.ok(number && more.length === 0)
    const kind = number.table(3)
    assert.deepEqual([number.byte(2), kind.integer(0), kind.byte(1)], element)
    assert.deepEqual(
      schema.tables(2).map((pair) => [pair.text(0), pair.text(1)]),
      [
        ['torana.model', 'Ü'],
        ['torana.space', 'Ü@512:0123abcd'],
        ['torana.dimensions', '512'],
        ['torana.type', type],
      ],
    )
  })

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { openFormat } from './open-format.ts'
import { isSigned, numbersOf } from './vector-format.ts'
import type { NumberType, VectorBlock, VectorEnding } from './vector-format.ts'

const DIMENSIONS = 3
const SPACE = 'm@3:0123abcd'

/** Rows 3 and 10 have no vector. Numbers are such that half the bits hold them. */
const rowsOf = (first: number, count: number): VectorBlock => {
  const rows = Array.from({ length: count }, (_, index) => first + index)
  const has = rows.map((row) => row % 7 !== 3)
  const numbers = rows.flatMap((row) => [row, row + 0.5, has[row - first] ? -row : Number.NaN])
  return {
    bytes: new Uint8Array(new Float32Array(numbers).buffer),
    ids: rows.map((row, index) => (has[index] ? `Ü ${row}` : '')),
    has,
  }
}

function halved(block: VectorBlock): VectorBlock {
  return { ...block, bytes: new Uint8Array(new Float16Array(new Float32Array(block.bytes.buffer)).buffer) }
}

/** A file of three slices of two blocks; each slice is written by a newly opened format. */
async function fileOf(ending: VectorEnding, type: NumberType): Promise<Buffer> {
  const facts = { model: 'm', space: SPACE, dimensions: DIMENSIONS, type }
  let memory: unknown
  const open = () => openFormat(ending, facts, memory)
  const pieces: Uint8Array[] = [(await open()).head(0)]
  let kept = 0
  for (let slice = 0; slice < 3; slice += 1) {
    const format = await open()
    const own = [rowsOf(slice * 4, 2), rowsOf(slice * 4 + 2, 2)]
    const ids = own.flatMap((block) => block.ids.filter((id) => id !== ''))
    kept += ids.length
    async function* blocks(): AsyncGenerator<VectorBlock> {
      yield* own.map((block) => (type === 'float16' ? halved(block) : block))
    }
    const firstByte = pieces.reduce((sum, piece) => sum + piece.length, 0)
    pieces.push(...(await Array.fromAsync(format.slice({ ids, blocks }, firstByte))))
    memory = JSON.parse(JSON.stringify(format.memory ?? null)) ?? undefined
  }
  const format = await open()
  const rows = format.keepsEveryRow ? 12 : kept
  return Buffer.concat([format.head(rows), ...pieces.slice(1), format.tail(rows)])
}

const EXPECTED = [0, 1, 2, 4, 5, 6, 7, 8, 9, 11].map((row) => ({
  id: `Ü ${row}`,
  vector: [row, row + 0.5, -row],
}))
const TYPES: readonly NumberType[] = ['float32', 'float16']
const BYTE_TYPES = ['int8', 'uint8', 'binary', 'ubinary'] as const

test('a file of JSON lines has each vector once', async () => {
  const lines = (await fileOf('.jsonl', 'float32')).toString().trim().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as unknown),
    EXPECTED.map(({ id, vector }) => ({ id, vector: vector.map((value) => value + 0) })),
  )
})

test('a NumPy file has a row for each row of the corpus, and NaN where there is no vector', async () => {
  for (const type of TYPES) {
    const file = await fileOf('.npy', type)
    assert.match(
      file.subarray(10, 128).toString(),
      new RegExp(`'descr': '<f${type === 'float32' ? 4 : 2}', 'fortran_order': False, 'shape': \\(12, 3\\)`),
    )
    const bytes = new Uint8Array(file.subarray(128))
    const numbers = type === 'float32' ? new Float32Array(bytes.buffer) : new Float16Array(bytes.buffer)
    assert.deepEqual([...numbers.subarray(3, 6)], [1, 1.5, -1])
    assert.ok(Number.isNaN(numbers[3 * DIMENSIONS + 2]))
    assert.equal(numbers.length, 12 * DIMENSIONS)
  }
})

test('a Parquet file has lists of numbers, and says their space', async () => {
  for (const type of TYPES) {
    const { buffer: file, byteOffset, length } = await fileOf('.parquet', type)
    const bytes = file.slice(byteOffset, byteOffset + length) as ArrayBuffer
    const metadata = parquetMetadata(bytes)
    assert.equal(metadata.row_groups.length, 3)
    const texts = new Map(metadata.key_value_metadata?.map(({ key, value }) => [key, value]))
    assert.deepEqual([texts.get('torana.space'), texts.get('torana.type')], [SPACE, type])
    assert.deepEqual(
      await parquetReadObjects({ file: bytes }),
      EXPECTED.map(({ id, vector }) => ({ id, vector })),
    )
  }
})

/** Ten rows of sixteen dimensions; two slices. The bytes of binary are a pattern like any other. */
async function byteFileOf(ending: VectorEnding, type: NumberType) {
  const dimensions = 16
  const facts = { model: 'm', space: 'm@16:0123abcd', dimensions, type }
  const rowBytes = numbersOf(facts)
  const bytes = Uint8Array.from({ length: 10 * rowBytes }, (_, index) => (index * 37) % 256)
  const pieces: Uint8Array[] = []
  let memory: unknown
  for (const [first, count] of [
    [0, 7],
    [7, 3],
  ] as const) {
    const format = await openFormat(ending, facts, memory)
    const ids = Array.from({ length: count }, (_, index) => `row ${first + index}`)
    const own = bytes.slice(first * rowBytes, (first + count) * rowBytes)
    async function* blocks(): AsyncGenerator<VectorBlock> {
      yield { bytes: own, ids, has: ids.map(() => true) }
    }
    const firstByte = format.head(0).length + pieces.reduce((sum, piece) => sum + piece.length, 0)
    pieces.push(...(await Array.fromAsync(format.slice({ ids, blocks }, firstByte))))
    ;({ memory } = format)
  }
  const format = await openFormat(ending, facts, memory)
  const numbers = isSigned(type) ? new Int8Array(bytes.buffer) : bytes
  const rows = Array.from({ length: 10 }, (_, row) => [
    ...numbers.subarray(row * rowBytes, (row + 1) * rowBytes),
  ])
  return { file: Buffer.concat([format.head(10), ...pieces, format.tail(10)]), rows }
}

for (const type of BYTE_TYPES)
  test(`files of ${type} hold one byte for each number, and every reader gets the same numbers`, async () => {
    const npy = await byteFileOf('.npy', type)
    assert.match(npy.file.toString('latin1', 10, 128), new RegExp(`'\\|${isSigned(type) ? 'i' : 'u'}1'`))
    const matrix = npy.file.subarray(128)
    assert.deepEqual([...(isSigned(type) ? Int8Array.from(matrix) : matrix)], npy.rows.flat())
    const jsonl = await byteFileOf('.jsonl', type)
    assert.deepEqual(
      jsonl.file
        .toString()
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { vector: number[] }).vector),
      jsonl.rows,
    )
    const { file, rows } = await byteFileOf('.parquet', type)
    const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length)
    const read = (await parquetReadObjects({ file: bytes })) as { id: string; vector: number[] }[]
    assert.deepEqual(
      read.map(({ vector }) => [...vector]),
      rows,
    )
  })

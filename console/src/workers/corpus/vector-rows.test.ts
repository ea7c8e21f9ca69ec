import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { VectorRows, type WantedVectors } from './vector-rows.ts'

const WIDTH = 3
const WANTED: WantedVectors = {
  format: 'npy',
  model: 'small',
  space: 'small@3:00000000',
  type: 'float32',
  rows: 10,
}

function vectorOf(row: number): Float32Array<ArrayBuffer> {
  return Float32Array.from([row, row + 0.1, -row])
}

/** Every second line has its numbers as text, as callers may ask for them. */
function lineOf(number: number, customId: string, vector: Float32Array<ArrayBuffer> | undefined): string {
  const embedding =
    vector === undefined || number % 2 === 0
      ? vector && [...vector]
      : Buffer.from(vector.buffer).toString('base64')
  const response =
    embedding === undefined
      ? { status_code: 400, body: { error: {} } }
      : { status_code: 200, body: { model: 'small', data: [{ embedding }] } }
  return JSON.stringify({ id: `batch_req_00_${number}`, custom_id: customId, response, error: null })
}

async function written(wanted: WantedVectors, lines: readonly string[]): Promise<Buffer> {
  const rows = new VectorRows(wanted)
  for (const line of lines) rows.take(line)
  const writing = rows.write()
  for (let step = await writing.next(); ; step = await writing.next())
    if (step.done === true) return Buffer.from(await step.value.arrayBuffer())
}

test('each row has its own vector, whatever the order of the lines, and gaps are NaN', async () => {
  const kind = fc.constantFrom('vector', 'failed', 'no line')
  const corpus = fc.array(fc.record({ kind, place: fc.nat() }), { minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(corpus, async (rows) => {
      fc.pre(rows.some((row) => row.kind === 'vector'))
      const lines = rows
        .flatMap(({ kind: of, place }, row) => (of === 'no line' ? [] : [{ of, place, row }]))
        .map((line, index) => ({ ...line, number: index + 1 }))
        .sort((one, other) => one.place - other.place)
        .map(({ number, row, of }) =>
          lineOf(number, `${row}:id`, of === 'vector' ? vectorOf(row) : undefined),
        )
      const file = await written({ ...WANTED, rows: rows.length }, lines)
      const matrix = new Float32Array(new Uint8Array(file.subarray(128)).buffer)
      assert.equal(matrix.length, rows.length * WIDTH)
      for (const [row, { kind: of }] of rows.entries()) {
        const own = matrix.slice(row * WIDTH, (row + 1) * WIDTH)
        if (of === 'vector') assert.deepEqual(own, vectorOf(row))
        else assert.ok(own.every(Number.isNaN))
      }
    }),
  )
})

test('vectors of many megabytes that came in any order are in the order of their rows', async () => {
  const width = 65_536
  const count = 150
  const vectors = Array.from({ length: count }, (_, row) => new Float32Array(width).fill(row))
  const order = vectors.map((_, row) => (row * 67) % count)
  const lines = order.map((row) => lineOf(2 * row + 1, `${row}:id`, vectors[row]))
  const file = await written({ ...WANTED, rows: count }, lines)
  const matrix = new Float32Array(new Uint8Array(file.subarray(128)).buffer)
  for (let row = 0; row < count; row += 1)
    assert.deepEqual([matrix[row * width], matrix[(row + 1) * width - 1]], [row, row])
})

test('lines without row numbers are rows in their order, under their own ids', async () => {
  const lines = [lineOf(1, 'a', vectorOf(1)), lineOf(3, 'b', undefined), lineOf(4, 'c', vectorOf(4))]
  const wanted = { ...WANTED, format: 'jsonl', rows: undefined } as const
  const file = await written(wanted, lines.toReversed())
  const read = file
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  assert.deepEqual(read, [
    { id: 'a', vector: [...vectorOf(1)] },
    { id: 'c', vector: [...vectorOf(4)] },
  ])
})

const two = JSON.stringify({
  id: 'batch_req_00_1',
  custom_id: '0:a',
  response: { status_code: 200, body: { data: [{ embedding: [1] }, { embedding: [2] }] } },
})
const typed = JSON.stringify({
  id: 'batch_req_00_1',
  custom_id: '0:a',
  response: { status_code: 200, body: { data: [{ embedding: { float: [1], int8: [1] } }] } },
})

const another = lineOf(1, '0:a', vectorOf(1)).replace('"small"', '"large"')

const PROBLEMS: readonly (readonly [what: string, lines: readonly string[], message: RegExp])[] = [
  ['several vectors in a line', [two], /Line 1 has 2 vectors/],
  ['several types in a line', [typed], /several types/],
  [
    'two widths',
    [lineOf(1, '0:a', vectorOf(1)), lineOf(2, '1:b', Float32Array.of(1))],
    /3 dimensions and others 1/,
  ],
  ['two models', [another, lineOf(3, '1:b', vectorOf(1))], /by large and others by small/],
  ['a row twice', [lineOf(1, '0:a', vectorOf(1)), lineOf(2, '0:a', vectorOf(1))], /the row 0 twice/],
  ['a row beyond the last', [lineOf(1, '10:a', vectorOf(1))], /the row 10 twice, or beyond/],
  ['no vector at all', [lineOf(1, '0:a', undefined)], /no vectors yet/],
]

for (const [what, lines, message] of PROBLEMS)
  test(`${what}: there is no file, and the reason is said`, () =>
    assert.rejects(written(WANTED, lines), message))

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { VectorFileProblem, type WantedVectorFile } from '#ports/vector-files.ts'
import { VectorFileWriter } from './vector-file-writer.ts'

const WIDTH = 3
const WANTED: WantedVectorFile = {
  format: 'npy',
  model: 'small',
  space: 'small@3:00000000',
  numbers: 'float32',
  rows: 10,
  hasRowIds: true,
}

function vectorOf(row: number): Float32Array<ArrayBuffer> {
  return Float32Array.from([row, row + 0.1, -row])
}

/** Every second line has its numbers as text, as callers may ask for them. */
function lineOf(number: number, customId: string, vector: Float32Array<ArrayBuffer> | undefined): string {
  const embedding =
    vector === undefined || number % 2 === 0
      ? vector && [...vector]
      : new Uint8Array(vector.buffer).toBase64()
  const response =
    embedding === undefined
      ? { status_code: 400, body: { error: {} } }
      : { status_code: 200, body: { data: [{ embedding }] } }
  return `${JSON.stringify({ id: `batch_req_00_${number}`, custom_id: customId, response, error: null })}\n`
}

const bytesOf = (lines: readonly string[]): Uint8Array => new TextEncoder().encode(lines.join(''))

async function written(
  wanted: WantedVectorFile,
  parts: readonly { readonly firstLine: number; readonly lines: readonly string[] }[],
): Promise<Buffer> {
  const writer = new VectorFileWriter(wanted)
  const pieces: Uint8Array[] = []
  const drain = async (): Promise<void> => {
    for (let piece = await writer.next(); piece !== undefined; piece = await writer.next()) pieces.push(piece)
  }
  for (const [index, { lines }] of parts.entries()) {
    writer.take(bytesOf(lines), parts[index + 1]?.firstLine ?? Infinity)
    await drain()
  }
  writer.end()
  await drain()
  return Buffer.concat(pieces)
}

test('each row has its own vector, whatever the order in which parts and lines end, and gaps are NaN', async () => {
  const kind = fc.constantFrom('vector', 'failed', 'no line')
  const corpus = fc.array(fc.record({ kind, part: fc.integer({ min: 0, max: 3 }) }), {
    minLength: 1,
    maxLength: 40,
  })
  await fc.assert(
    fc.asyncProperty(corpus, async (rows) => {
      fc.pre(rows.some((row) => row.kind === 'vector'))
      const lines = rows.flatMap(({ kind: of, part }, row) => (of === 'no line' ? [] : [{ of, part, row }]))
      const placed = lines.map((line, index) => ({ ...line, number: index + 1 }))
      const parts = Map.groupBy(placed, ({ part }) => part)
      const inOrder = [...parts.values()]
        .map((own) => ({
          firstLine: Math.min(...own.map(({ number }) => number)),
          lines: own
            .toReversed()
            .map(({ number, row, of }) =>
              lineOf(number, `${row}:id`, of === 'vector' ? vectorOf(row) : undefined),
            ),
        }))
        .sort((one, other) => one.firstLine - other.firstLine)
      const file = await written({ ...WANTED, rows: rows.length }, inOrder)
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

test('lines without row numbers are rows in their order, under their own ids', async () => {
  const lines = [lineOf(1, 'a', vectorOf(1)), lineOf(3, 'b', undefined), lineOf(4, 'c', vectorOf(4))]
  const wanted = { ...WANTED, format: 'jsonl', hasRowIds: false, rows: 3 } as const
  const file = await written(wanted, [{ firstLine: 1, lines }])
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

const PROBLEMS: readonly (readonly [what: string, lines: readonly string[], message: RegExp])[] = [
  ['several vectors in a line', [two], /Line 1 has 2 vectors/],
  ['several types in a line', [typed], /several types/],
  [
    'two widths',
    [lineOf(1, '0:a', vectorOf(1)), lineOf(2, '1:b', Float32Array.of(1))],
    /3 dimensions and others 1/,
  ],
  ['a row twice', [lineOf(1, '0:a', vectorOf(1)), lineOf(2, '0:a', vectorOf(1))], /the row 0 twice/],
  ['a row beyond the last', [lineOf(1, '10:a', vectorOf(1))], /the row 10 twice, or beyond/],
  ['no vector at all', [lineOf(1, '0:a', undefined)], /no vectors yet/],
]

for (const [what, lines, message] of PROBLEMS)
  test(`${what}: there is no file, and the reason is said`, async () => {
    await assert.rejects(written(WANTED, [{ firstLine: 1, lines }]), (error: Error) => {
      assert.ok(error instanceof VectorFileProblem)
      assert.match(error.message, message)
      return true
    })
  })

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BatchLines, type Decision, type LongRow, type Measured, type WantedLines } from './batch-lines.ts'

const wanted = (csv: string, more: Partial<WantedLines> = {}): WantedLines => ({
  file: new File([csv], 'corpus.csv'),
  model: 'm',
  textColumn: 'text',
  idColumn: 'id',
  dimensions: null,
  longBytes: undefined,
  ...more,
})

interface Line {
  readonly custom_id: string
  readonly body: { readonly input: string; readonly dimensions?: number }
}

interface Made {
  readonly measured: Measured
  readonly lines: readonly Line[]
  readonly bytes: number
  readonly asked: readonly LongRow[]
}

async function make(of: WantedLines, decide: (row: LongRow) => number = () => 0): Promise<Made> {
  const batch = new BatchLines(of)
  const measuring = batch.measure()
  const asked: LongRow[] = []
  let decisions: readonly Decision[] = []
  for (;;) {
    const { done, value } = await measuring.next(decisions)
    if (done === true) {
      const parts: Uint8Array[] = []
      for await (const part of batch.parts()) parts.push(part)
      const text = Buffer.concat(parts).toString()
      const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]))
      return { measured: value, lines, bytes: Buffer.byteLength(text), asked }
    }
    asked.push(...value.long)
    decisions = value.long.map((row): Decision => [row.row, decide(row)])
  }
}

test('each row with a text becomes a line under its row number and its id', async () => {
  const csv = 'id,text\nA-1,"a red chair, made of oak"\nA-2,\n,a table\n'
  const { measured, lines } = await make(wanted(csv, { dimensions: 256 }))
  assert.deepEqual([measured.rows, measured.lines, measured.firstEmpty], [3, 2, 1])
  assert.deepEqual(
    lines.map(({ custom_id: id, body }) => [id, body.input, body.dimensions]),
    [
      ['0:A-1', 'a red chair, made of oak', 256],
      ['2:2', 'a table', 256],
    ],
  )
  const numbered = await make(wanted(csv, { idColumn: null }))
  assert.deepEqual(
    numbered.lines.map(({ custom_id: id }) => id),
    ['0:0', '2:2'],
  )
})

test('the measured size is the size of what is made, with any texts and decisions', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'ü', '漢', '😀', '"', '\n', ' '), maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(fc.array(text), fc.nat({ max: 8 }), fc.nat({ max: 6 }), async (texts, most, keep) => {
      const csv = `text\n${texts.map((one) => `"${one.replaceAll('"', '""')}"\n`).join('')}`
      const { measured, lines, bytes, asked } = await make(
        wanted(csv, { idColumn: null, longBytes: most }),
        ({ text: one }) => Math.min(keep, one.length),
      )
      assert.deepEqual([measured.bytes, measured.lines], [bytes, lines.length])
      const isLong = (one: string): boolean => Buffer.byteLength(one) > most
      assert.deepEqual(
        asked.map((row) => row.text),
        texts.filter(isLong),
      )
      const kept = texts.map((one) => (isLong(one) ? one.slice(0, keep) : one)).filter((one) => one !== '')
      // JSON has no half of a pair of surrogates.
      assert.deepEqual(
        lines.map(({ body }) => body.input),
        kept.map((one) => JSON.parse(JSON.stringify(one)) as string),
      )
    }),
    { numRuns: 50 },
  )
})

test('a large file is made in parts of some megabytes, and no more is in memory', async () => {
  const csv = `id,text\n${Array.from({ length: 100_000 }, (_, row) => `doc ${row},${'word '.repeat(30)}${row}\n`).join('')}`
  const batch = new BatchLines(wanted(csv))
  const measuring = batch.measure()
  let step = await measuring.next([])
  while (step.done !== true) step = await measuring.next([])
  assert.deepEqual([step.value.rows, step.value.lines], [100_000, 100_000])
  let [bytes, parts] = [0, 0]
  for await (const part of batch.parts()) {
    assert.ok(part.length < 9 * 1024 * 1024, String(part.length))
    bytes += part.length
    parts += 1
  }
  assert.equal(bytes, step.value.bytes)
  assert.ok(parts >= 3, String(parts))
})

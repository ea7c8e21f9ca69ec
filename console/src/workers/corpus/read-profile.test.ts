import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parquetWriteBuffer } from 'hyparquet-writer'
import type { CorpusProfile } from './profile.ts'
import { readProfile } from './read-profile.ts'
import { countBytes } from './source.ts'

async function read(content: BlobPart, name: string): Promise<CorpusProfile> {
  const reading = readProfile(new File([content], name))
  for (let step = await reading.next(); ; step = await reading.next())
    if (step.done === true) return step.value
}

const parquet = parquetWriteBuffer({
  columnData: [
    { name: 'id', data: [1n, 2n], type: 'INT64' },
    { name: 'text', data: ['a chair', 'a lamp'], type: 'STRING' },
  ],
})

const FILES: readonly (readonly [name: string, content: BlobPart, rows: number, columns: string[]])[] = [
  ['a.jsonl', '{"id":1,"text":"x"}\n\n{"id":2,"text":"y","more":[1]}\n', 2, ['id', 'text', 'more']],
  ['pasted', '{"text":"x"}', 1, ['text']],
  ['pasted', 'name;text\na;b', 1, ['name', 'text']],
  ['a.tsv', 'name\ttext\na\tb,c\n', 1, ['name', 'text']],
  ['a.csv', '\uFEFFtext\n"two\nlines"\n', 1, ['text']],
  ['a.parquet', parquet, 2, ['id', 'text']],
]

test('rows and columns of each format are read, whatever its name', async () => {
  for (const [name, content, rows, columns] of FILES) {
    const profile = await read(content, name)
    assert.deepEqual([profile.rows, profile.columns.map((one) => one.name)], [rows, columns], name)
  }
  assert.deepEqual((await read(parquet, 'a.parquet')).preview[1], ['2', 'a lamp'])
})

const WRONG: readonly (readonly [content: BlobPart, message: RegExp, name?: string])[] = [
  ['a,b\n1,2\n3\n', /Row 2 has 1 fields/],
  ['a,a\n1,2\n', /two columns with the name "a"/],
  ['a\n"open', /ends inside of a quoted field/],
  ['', /no rows/],
  ['id,text\n', /no rows/],
  [Uint8Array.from([0x50, 0x4b, 0x03, 0x04, 0xff, 0xfe]), /not text in UTF-8/],
  ['{"a":1}\n{"a":', /Line 2 is not a JSON object/, 'a.jsonl'],
  ['PAR1 and nothing else', /a\.parquet can't be read as Parquet/, 'a.parquet'],
]

test('a file that is no table is refused with the place and the reason', async () => {
  for (const [content, message, name = 'a.csv'] of WRONG) await assert.rejects(read(content, name), message)
})

test('bytes are counted as UTF-8 has them', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'ü', '漢', '😀', '\uD83D', '\uDE00') })
  fc.assert(fc.property(text, (one) => assert.equal(countBytes(one), new TextEncoder().encode(one).length)))
})

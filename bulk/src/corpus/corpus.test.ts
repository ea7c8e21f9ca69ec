import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parquetWriteFile } from 'hyparquet-writer'
import { rowsOf, type ColumnChoice } from './corpus.ts'
import { openCorpus } from './open-corpus.ts'

const folder = mkdtempSync(join(tmpdir(), 'torana-corpus-'))
after(() => rmSync(folder, { recursive: true }))

const WRITERS: Readonly<Record<string, (file: string) => void>> = {
  'c.jsonl': (file) =>
    writeFileSync(file, '{"id":"a","text":"x","photo":"1.png"}\n{"id":"b","text":"","photo":""}'),
  'c.csv': (file) => writeFileSync(file, 'id,text,photo\na,x,1.png\nb,,\n'),
  'c.tsv': (file) => writeFileSync(file, 'id\ttext\tphoto\na\tx\t1.png\nb\t\t\n'),
  'c.parquet': (file) =>
    parquetWriteFile({
      filename: file,
      columnData: [
        { name: 'id', data: ['a', 'b'], type: 'STRING' },
        { name: 'text', data: ['x', ''], type: 'STRING' },
        { name: 'photo', data: ['1.png', ''], type: 'STRING' },
      ],
    }),
}
const NONE = { text: undefined, image: undefined }
const CHOICES: readonly (readonly [columns: Omit<ColumnChoice, 'id'>, text: boolean, image: boolean])[] = [
  [{ text: undefined }, true, false],
  [{ text: undefined, image: 'photo' }, false, true],
  [{ text: 'text', image: 'photo' }, true, true],
]

for (const [name, write] of Object.entries(WRITERS))
  test(`rows of ${name} have the text and the image of the columns that were named`, async () => {
    const file = join(folder, name)
    write(file)
    for (const [columns, hasText, hasImage] of CHOICES) {
      const rows = await Array.fromAsync(rowsOf(await openCorpus(file), { id: undefined, ...columns }, 0))
      const first = { text: hasText ? 'x' : undefined, image: hasImage ? '1.png' : undefined }
      assert.deepEqual(rows, [
        { row: 0, id: 'a', ...first },
        { row: 1, id: 'b', ...NONE },
      ])
    }
  })

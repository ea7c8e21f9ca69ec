import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { recordsIn } from './csv.ts'

async function read(
  text: string,
  pieceLength: number,
  separator = ',',
): Promise<readonly (readonly string[])[]> {
  async function* pieces(): AsyncGenerator<string> {
    for (let at = 0; at < text.length; at += pieceLength) yield text.slice(at, at + pieceLength)
  }
  return Array.fromAsync(recordsIn(pieces(), separator))
}

test('every record comes back as it was written, however the file is cut', async () => {
  const field = fc.string({ unit: fc.constantFrom('a', 'ü', '"', ',', '\n', '\r', ' '), maxLength: 6 })
  const record = fc.array(field, { minLength: 2, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(fc.array(record), fc.integer({ min: 1, max: 9 }), async (records, pieceLength) => {
      const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`
      const text = records.map((fields) => `${fields.map(quoted).join(',')}\r\n`).join('')
      assert.deepEqual(await read(text, pieceLength), records)
    }),
  )
})

test('fields without quotes, blank lines, both line ends and a last line without one are read', async () => {
  for (const pieceLength of [1, 2, 100]) {
    assert.deepEqual(await read('id,text\n\n1,5" pipe\r\n\r\n2,\n3,last', pieceLength), [
      ['id', 'text'],
      ['1', '5" pipe'],
      ['2', ''],
      ['3', 'last'],
    ])
    assert.deepEqual(await read('a\tb,c\n', pieceLength, '\t'), [['a', 'b,c']])
  }
})

test('quotes that are not closed or not doubled are reported, not guessed', async () => {
  await assert.rejects(read('a,"b\n', 3), /ends inside of a quoted field/)
  await assert.rejects(read('a,"b"c\n', 3), /must be doubled/)
})

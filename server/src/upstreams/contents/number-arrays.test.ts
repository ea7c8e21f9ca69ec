import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BrokenAnswer } from '#core/fault/broken-answer.ts'
import { NumberArrays } from './number-arrays.ts'

function scan(text: string, chunkBytes: number) {
  const bytes = Buffer.from(text)
  const arrays = new NumberArrays()
  for (let at = 0; at < bytes.length; at += chunkBytes) arrays.push(bytes.subarray(at, at + chunkBytes))
  const { skeleton, vectors } = arrays.end()
  return { skeleton: JSON.parse(skeleton) as unknown, vectors: vectors.map(({ values }) => [...values]) }
}

describe('vectors are lifted out of an answer, wherever its chunks end', () => {
  const answers: readonly [text: string, skeleton: unknown, vectors: number[][]][] = [
    [
      '{"embeddings":{"float":[[1,2],[ -3 , 4e1 ]]}}',
      { embeddings: { float: [0, 1] } },
      [
        [1, 2],
        [-3, 40],
      ],
    ],
    ['{"embedding":[ \n 0.5]}', { embedding: 0 }, [[0.5]]],
    ['{"a":"[1,2]","b":"\\"[3]","c":[5]}', { a: '[1,2]', b: '"[3]', c: 0 }, [[5]]],
    [
      '{"ä":["ö",[7]],"e":[],"n":[null],"o":[{"v":[8]}]}',
      { ä: ['ö', 0], e: [], n: [null], o: [{ v: 1 }] },
      [[7], [8]],
    ],
    ['[1]', 0, [[1]]],
  ]
  for (const [text, skeleton, vectors] of answers) {
    it(text, () => {
      for (let size = 1; size <= Buffer.byteLength(text); size += 1)
        assert.deepEqual(scan(text, size), { skeleton, vectors }, `chunks of ${size}`)
    })
  }
})

describe('what is no vector is a broken answer', () => {
  for (const text of ['{"a":[1,null]}', '{"a":[1,"2"]}', '{"a":[1,NaN]}', '{"a":[1,[2]]}', '{"a":[1,]}'])
    it(text, () => assert.throws(() => scan(text, 5), BrokenAnswer))

  it('a value without an end is given up', () => {
    const arrays = new NumberArrays()
    const chunk = Buffer.from('[1,'.padEnd(64 * 1024, ' '))
    assert.throws(() => {
      for (let round = 0; round < 20; round += 1) arrays.push(chunk)
    }, /more than 1 MB/)
  })

  it('an answer of text without vectors is given up', () => {
    const arrays = new NumberArrays()
    assert.throws(() => {
      for (let round = 0; round < 40; round += 1) arrays.push(Buffer.from(`"${'x'.repeat(64 * 1024)}",[1],`))
    }, /more than 2 MB/)
  })
})

import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { encode } from 'gpt-tokenizer/encoding/cl100k_base'
import { WorkerTokenCounter } from './tokenizer.ts'

const counter = new WorkerTokenCounter()
after(() => counter.close())

const decode = (...tokens: number[][]) =>
  counter.decode(tokens, 'cl100k_base', { project: 'p', timeoutMs: 600_000 })

describe('decoding token arrays', () => {
  it('gives back any text, byte order marks and shared characters included', async () => {
    const texts = [
      'plain',
      '\ufeffwith a mark',
      'a\ufeffb',
      '🦑 and 👨‍👩‍👧‍👦',
      '日本語',
      '\u0000',
      '<|endoftext|> as text',
    ]
    const tokens = texts.map((text) => encode(text, { disallowedSpecial: new Set<string>() }))
    assert.deepEqual(await decode(...tokens), texts)
  })

  it('keeps an unfinished character out of the next text', async () => {
    const [start = 0, ...rest] = encode('🦑')
    assert.deepEqual(await decode([start]), ['\ufffd'])
    assert.deepEqual(await decode([start, ...rest], [start]), ['🦑', '\ufffd'])
    assert.deepEqual(await decode(encode('hello'), [start, ...rest]), ['hello', '🦑'])
  })

  it('is undefined for tokens that nobody knows', async () => {
    const [end = 0] = encode('<|endoftext|>', { allowedSpecial: 'all' })
    assert.deepEqual(await decode([200_000], [-1], [1.5], [end]), [
      undefined,
      undefined,
      undefined,
      '<|endoftext|>',
    ])
  })
})

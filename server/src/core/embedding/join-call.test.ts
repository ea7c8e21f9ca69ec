import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CONTENT_WIRES, type ContentWireName } from '../catalog/content-capabilities.ts'
import type { Content, Part } from './content.ts'
import { mayJoinCall } from './join-call.ts'

const words: Part = { kind: 'text', text: 'a red chair' }
const address: Part = { kind: 'image', address: 'https://example.org/a.png' }
const image: Part = {
  kind: 'image',
  media: { kind: 'image', format: 'png', size: 0, sha256: '', async *open() {} },
}
const content = (...parts: readonly Part[]): Content => ({ parts })

describe('which contents go in one call', () => {
  const rows: readonly [ContentWireName, others: readonly Content[], Content, boolean][] = [
    ['nova', [content(words)], content(words), false],
    ['titan', [content(words)], content(words), false],
    ['vertex', [content(words)], content(words), false],
    ['vertex-predict', [content(words)], content(words), false],
    ['modality', [content(image)], content(image), true],
    ['modality', [content(image)], content(words), false],
    ['dashscope', [content(words), content(image)], content(words), true],
    ['dashscope', [content(words)], content(words, image), false],
    ['dashscope', [content(words, image)], content(words), false],
    ['voyage', [content(words), content(image)], content(words, image), true],
    ['voyage', [content(words), content(image)], content(address), false],
    ['voyage', [content(address)], content(words), true],
    ['gemini', [content(words), content(image)], content(words, image), true],
  ]
  for (const [wire, others, one, expected] of rows) {
    const kinds = [...others, one].map(({ parts }) => parts.map(({ kind }) => kind).join('+')).join(', ')
    it(`${wire}: ${kinds}`, () => assert.equal(mayJoinCall(wire, others, one), expected))
  }

  it('every wire takes any content alone', () => {
    for (const wire of CONTENT_WIRES) assert.ok(mayJoinCall(wire, [], content(words, image)))
  })
})

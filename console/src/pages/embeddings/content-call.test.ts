import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentsOf, shortInputs } from './content-call.ts'
import type { MediaFile } from './media-store.ts'

const FILES = new Map<string, MediaFile>([
  ['a', { id: 'a', name: 'a.png', kind: 'image', format: 'png', size: 3 }],
  ['b', { id: 'b', name: 'b.pdf', kind: 'file', format: 'pdf', size: 3 }],
  ['c', { id: 'c', name: 'c', kind: 'image', format: undefined, size: 0, url: 'https://example.com/c' }],
])
const media = (...ids: string[]) => ids.map((id) => ({ id, name: id }))

test('a text stays a text, and what has other parts is a content, its text first', () => {
  const inputs = [
    { text: 'words', media: [] },
    { text: '', media: media('a') },
    { text: 'both', media: media('a', 'b') },
  ]
  assert.deepEqual(
    contentsOf(inputs, FILES, ({ id }) => `data:${id}`),
    [
      'words',
      { content: [{ type: 'image_url', image_url: { url: 'data:a' } }] },
      {
        content: [
          { type: 'text', text: 'both' },
          { type: 'image_url', image_url: { url: 'data:a' } },
          { type: 'file', file: { file_data: 'data:b' } },
        ],
      },
    ],
  )
})

test('code to read has addresses in full and bytes left out', () => {
  assert.deepEqual(shortInputs([{ text: '', media: media('a', 'c') }], FILES), [
    '{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,…"}},{"type":"image_url","image_url":{"url":"https://example.com/c"}}]}',
  ])
})

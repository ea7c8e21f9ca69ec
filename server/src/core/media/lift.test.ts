import assert from 'node:assert/strict'
import { test } from 'node:test'
import { liftMedia } from './lift.ts'
import { paramAt } from '../content/place.ts'

const BOUNDS = { maxTextBytes: 1000, maxFiles: 3 }
const HI = 'SGk='
const URL_OF_HI = `data:image/png;base64,${HI}`

function lift(body: unknown): { readonly left: unknown; readonly files: unknown } | undefined {
  const lifted = liftMedia(structuredClone(body), 100, BOUNDS)
  return (
    lifted && {
      left: lifted.value,
      files: lifted.files.map(({ place, bytes }) => [place, bytes && Buffer.from(bytes).toString()]),
    }
  )
}

const WITHOUT_CONTENTS: readonly unknown[] = [
  { input: 'a text' },
  { input: ['a', 'b'] },
  { input: URL_OF_HI },
  { input: [1, 2, 3] },
  { input: [[1, 2], [3]] },
  { input: [new Uint32Array(2)] },
  { input: new Uint32Array(2) },
  { input: [] },
  { input: 'a', inputs: null },
  { model: 'm' },
  [URL_OF_HI],
  'text',
  null,
]
test('a body of texts or tokens is left as it is', () => {
  for (const body of WITHOUT_CONTENTS) assert.equal(liftMedia(body, 100, BOUNDS), undefined)
})

/** The place of the one file. */
const LIFTED: readonly (readonly [place: string, body: unknown])[] = [
  [
    'input/0/content/0/image_url/url',
    { input: [{ content: [{ type: 'image_url', image_url: { url: URL_OF_HI } }] }] },
  ],
  [
    'input/1/content/0/image_url',
    { input: ['text', { content: [{ type: 'image_url', image_url: URL_OF_HI }] }] },
  ],
  [
    'inputs/0/content/0/image_base64',
    { inputs: [{ content: [{ type: 'image_base64', image_base64: HI }] }] },
  ],
  ['inputs/0/content/0/video_base64', { inputs: [{ content: [{ video_base64: URL_OF_HI }] }] }],
  [
    'input/0/content/0/input_audio/data',
    { input: [{ content: [{ input_audio: { data: HI, format: 'wav' } }] }] },
  ],
  ['input/0/content/0/file/file_data', { input: [{ content: [{ file: { file_data: HI } }] }] }],
  ['input/0/content/0/audio/data', { input: [{ content: [{ type: 'audio', audio: { data: HI } }] }] }],
  ['input/0/image_url/url', { input: [{ type: 'image_url', image_url: { url: URL_OF_HI } }] }],
  ['input/0/image', { input: [{ image: HI }] }],
  ['input/0/pdf', { input: [{ pdf: URL_OF_HI }] }],
  ['input/0/bytes', { input: [{ bytes: HI }] }],
  ['input/content/0/image', { input: { content: [{ image: HI }] } }],
  [
    'messages/0/content/1/image_url/url',
    { messages: [{ role: 'user', content: [{ text: 'x' }, { image_url: { url: URL_OF_HI } }] }] },
  ],
  ['input/1', { modality: 'image', input: ['https://example.com/a.png', URL_OF_HI] }],
  ['input', { modality: 'image', input: URL_OF_HI }],
]
for (const [place, body] of LIFTED)
  test(`media at ${place} are lifted`, () => {
    const lifted = lift(body)
    assert.deepEqual(lifted?.files, [[place, 'Hi']])
    assert.ok(!JSON.stringify(lifted?.left).includes(HI))
  })

const KEPT: readonly (readonly [what: string, body: unknown])[] = [
  [
    'an address',
    {
      input: [{ image: 'https://example.com/a.png' }, { image: 'GS://bucket/a.png' }, { bytes: 's3://b/c' }],
    },
  ],
  ['a data URL as a text', { input: [{ content: [{ type: 'text', text: URL_OF_HI }] }, URL_OF_HI] }],
  ['a message that is a text', { messages: [{ role: 'user', content: URL_OF_HI }] }],
  ['a field that is no content', { input: [{ text: 'x' }], other: { image: URL_OF_HI } }],
  ['the format beside it', { input: [{ content: [{ input_audio: { format: 'wav' } }] }] }],
  ['data elsewhere', { input: [{ content: [{ data: HI }] }] }],
]
for (const [what, body] of KEPT)
  test(`${what} stays`, () => assert.deepEqual(lift(body), { left: body, files: [] }))

test('what is not base64 is listed without bytes', () => {
  assert.deepEqual(lift({ input: [{ image: 'a cat' }] })?.files, [['input/0/image', undefined]])
})

test('text beside media has the bound of a body without', () => {
  const body = (length: number) => ({
    input: [{ content: [{ text: 'x'.repeat(length) }, { image: HI.repeat(0) + 'AAAA'.repeat(900) }] }],
  })
  assert.ok(lift(body(900)))
  assert.throws(() => lift(body(1000)), {
    name: 'JsonTooLong',
    message: /more than 1000 characters beside its media/,
  })
  assert.throws(() => lift({ input: [{ text: 'x' }], note: 'x'.repeat(1000) }), { name: 'JsonTooLong' })
  assert.throws(() => liftMedia({ input: 'x' }, 1001, BOUNDS), {
    name: 'JsonTooLong',
    message: 'The body is larger than 1000 bytes. Send the inputs in several requests.',
  })
  assert.throws(() => lift({ input: Array.from({ length: 4 }, () => ({ image: HI })) }), {
    message: /more than 3 files/,
  })
})

test('a fault names the entry or part that a place is in', () => {
  for (const [place, param] of [
    ['input/0/content/1/image_url/url', 'input[0].content[1]'],
    ['inputs/12/content/0/image_base64', 'inputs[12].content[0]'],
    ['input/3/image', 'input[3]'],
    ['input/3', 'input[3]'],
    ['input/image', 'input'],
    ['input', 'input'],
  ] as const)
    assert.equal(paramAt(place), param)
})

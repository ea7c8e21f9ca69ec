import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '../fault/fault.ts'
import type { Content, Media } from '../content/content.ts'
import { readEmbeddingRequest } from './request.ts'

const media = (kind: Media['kind'], format: Media['format'], sha256 = 'aa'): Media => ({
  kind,
  format,
  size: 3,
  sha256,
  async *open() {
    yield new Uint8Array(3)
  },
})
const PNG = media('image', 'png')
const WAV = media('audio', 'wav')
const PDF = media('file', 'pdf')
const MP4 = media('video', 'mp4')
const ADDRESS = 'https://pictures.example/cat.png'

/** Media are at their places; the body has null there, as after they were taken out. */
function contentsOf(body: object, taken: Readonly<Record<string, Media>> = {}): readonly Content[] {
  const { input } = readEmbeddingRequest(
    { model: 'm', ...body },
    8,
    undefined,
    undefined,
    (place) => taken[place],
  )
  assert.ok(input.kind === 'contents', `input is ${input.kind}`)
  return input.contents
}

const image = { kind: 'image', media: PNG }
const text = { kind: 'text', text: 'a red chair' }

/** Every form, and the one content that it says. */
const FORMS: readonly [
  name: string,
  body: object,
  taken: Readonly<Record<string, Media>>,
  parts: readonly object[],
][] = [
  [
    'OpenRouter: content with parts',
    {
      input: [
        {
          content: [
            { type: 'text', text: 'a red chair' },
            { type: 'image_url', image_url: { url: null } },
          ],
        },
      ],
    },
    { 'input/0/content/1/image_url/url': PNG },
    [text, image],
  ],
  [
    'one content without a list',
    { input: { content: [{ type: 'image_url', image_url: { url: null } }] } },
    { 'input/content/0/image_url/url': PNG },
    [image],
  ],
  [
    'OpenRouter: audio with its format',
    { input: [{ content: [{ type: 'input_audio', input_audio: { data: null, format: 'wav' } }] }] },
    { 'input/0/content/0/input_audio/data': WAV },
    [{ kind: 'audio', media: WAV }],
  ],
  [
    'Cohere: inputs',
    { inputs: [{ content: [{ type: 'image_url', image_url: { url: null } }] }] },
    { 'inputs/0/content/0/image_url/url': PNG },
    [image],
  ],
  [
    'Voyage: image_base64 and image_url as strings',
    {
      inputs: [
        {
          content: [
            { type: 'image_base64', image_base64: null },
            { type: 'image_url', image_url: ADDRESS },
          ],
        },
      ],
    },
    { 'inputs/0/content/0/image_base64': PNG },
    [image, { kind: 'image', address: ADDRESS }],
  ],
  [
    'a bare part',
    { input: [{ type: 'image_url', image_url: { url: null } }] },
    { 'input/0/image_url/url': PNG },
    [image],
  ],
  [
    'one message',
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a red chair' },
            { type: 'image_url', image_url: { url: null } },
          ],
        },
      ],
    },
    { 'messages/0/content/1/image_url/url': PNG },
    [text, image],
  ],
  ['Jina: image', { input: [{ image: null }] }, { 'input/0/image': PNG }, [image]],
  ['Jina: pdf', { input: [{ pdf: null }] }, { 'input/0/pdf': PDF }, [{ kind: 'file', media: PDF }]],
  [
    'LlamaIndex: bytes',
    { input: [{ bytes: null }] },
    { 'input/0/bytes': MP4 },
    [{ kind: 'video', media: MP4 }],
  ],
  ['Infinity: modality', { input: [ADDRESS], modality: 'image' }, {}, [{ kind: 'image', address: ADDRESS }]],
  ['Infinity: modality with data', { input: [null], modality: 'image' }, { 'input/0': PNG }, [image]],
  [
    'LiteLLM: a file of any kind',
    { input: [{ content: [{ type: 'file', file: { file_data: null, format: 'image/png' } }] }] },
    { 'input/0/content/0/file/file_data': PNG },
    [image],
  ],
]

for (const [name, body, taken, parts] of FORMS)
  test(`${name} is one content`, () => {
    assert.deepEqual(contentsOf(body, taken), [{ parts }])
  })

test('a mixed list gives one content for each entry, in order', () => {
  const body = {
    input: ['first', { content: [{ type: 'image_url', image_url: { url: null } }] }, { text: 'last' }],
  }
  assert.deepEqual(contentsOf(body, { 'input/1/content/0/image_url/url': PNG }), [
    { parts: [{ kind: 'text', text: 'first' }] },
    { parts: [image] },
    { parts: [{ kind: 'text', text: 'last' }] },
  ])
})

test('contents that are texts alone are texts, which every model reads', () => {
  const body = {
    model: 'm',
    input: ['one', { content: [{ type: 'text', text: 'two' }] }, { content: 'three' }],
  }
  assert.deepEqual(readEmbeddingRequest(body, 8).input, { kind: 'texts', texts: ['one', 'two', 'three'] })
})

const part = (fields: object): object => ({ input: [{ content: [fields] }] })

const REFUSED: readonly [name: string, body: object, code: string, param: string][] = [
  ['input and inputs', { input: 'a', inputs: [{ content: 'b' }] }, 'invalid_input', 'input'],
  ['no input', { inputs: null, messages: null, modality: 'image' }, 'missing_parameter', 'input'],
  ['an empty list', { inputs: [] }, 'empty_input', 'inputs'],
  ['too many', { inputs: Array.from({ length: 9 }, () => ({ text: 'a' })) }, 'too_many_inputs', 'inputs'],
  [
    'two messages',
    {
      messages: [
        { role: 'system', content: 'a' },
        { role: 'user', content: 'b' },
      ],
    },
    'invalid_input',
    'messages',
  ],
  [
    'a message of another role',
    { messages: [{ role: 'system', content: 'a' }] },
    'invalid_input',
    'messages[0]',
  ],
  ['several conversations', { messages: [[{ role: 'user', content: 'a' }]] }, 'invalid_input', 'messages'],
  ['token ids among contents', { input: [{ text: 'a' }, [1, 2]] }, 'invalid_input', 'input[1]'],
  ['a number', { input: [{ text: 'a' }, 7] }, 'invalid_input', 'input[1]'],
  ['an empty text', { input: [{ text: 'a' }, ''] }, 'empty_input', 'input[1]'],
  ['an empty text part', part({ type: 'text', text: '' }), 'empty_input', 'input[0].content[0]'],
  ['no parts', { input: [{ content: [] }] }, 'invalid_input', 'input[0].content'],
  [
    '65 parts',
    { input: [{ content: Array.from({ length: 65 }, () => ({ type: 'text', text: 'a' })) }] },
    'too_many_parts',
    'input[0].content',
  ],
  ['an unknown type', part({ type: 'hologram' }), 'invalid_input', 'input[0].content[0]'],
  [
    'a field of a content that may change the vector',
    { input: [{ content: 'a', params: {} }] },
    'invalid_input',
    'input[0]',
  ],
  [
    'a field of a part that may change the vector',
    part({ type: 'image_url', image_url: ADDRESS, detail: 'low' }),
    'invalid_input',
    'input[0].content[0]',
  ],
  [
    'a detail inside',
    part({ type: 'image_url', image_url: { url: ADDRESS, detail: 'low' } }),
    'invalid_input',
    'input[0].content[0]',
  ],
  [
    'a text in place of data',
    part({ type: 'image_url', image_url: 'a cat' }),
    'invalid_input',
    'input[0].content[0]',
  ],
  [
    'a long address',
    part({ type: 'image_url', image_url: `https://a.example/${'x'.repeat(9000)}` }),
    'invalid_input',
    'input[0].content[0]',
  ],
  [
    'data URI as a string beside a content',
    { input: ['data:image/png;base64,AAAA', { text: 'a' }] },
    'ambiguous_input',
    'input[0]',
  ],
  ['an unknown modality', { input: ['a'], modality: 'smell' }, 'invalid_parameter', 'modality'],
  ['a modality with prose', { input: ['a cat'], modality: 'image' }, 'invalid_input', 'input[0]'],
]

for (const [name, body, code, param] of REFUSED)
  test(`${name} is refused: ${code}`, () => {
    assert.throws(
      () => contentsOf(body),
      (error) => error instanceof Fault && error.code === code && error.param === param,
    )
  })

test('a field that may change the vector is named, wherever it is', () => {
  for (const image_url of [{ url: ADDRESS, detail: 'low' }, { detail: 'low' }])
    assert.throws(() => contentsOf(part({ type: 'image_url', image_url })), { message: /a field 'detail'/ })
})

test('media of another kind than declared are refused, whatever their name says', () => {
  assert.throws(
    () =>
      contentsOf(part({ type: 'image_url', image_url: { url: null } }), {
        'input/0/content/0/image_url/url': PDF,
      }),
    (error) =>
      error instanceof Fault && error.code === 'invalid_media' && /bytes are PDF/.test(error.message),
  )
})

test('a lifted data URI where a text is expected is ambiguous', () => {
  assert.throws(
    () => contentsOf({ input: [null, { text: 'a' }] }, { 'input/0': PNG }),
    (error) => error instanceof Fault && error.code === 'ambiguous_input',
  )
})

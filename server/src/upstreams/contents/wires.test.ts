/** The bytes of each wire, as its provider describes them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ContentWireName } from '#core/catalog/content-capabilities.ts'
import type { Content, Part } from '#core/content/content.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { aMedia, content, contentCall, part, text } from '#test/support/content-calls.ts'
import { joinedBody } from '../openai/json-body.ts'
import { jsonParts } from './base64.ts'
import { wireOf } from './wires.ts'

const png = part(aMedia('png', Buffer.from('PNG!')))
const mp3 = part(aMedia('mp3', Buffer.from('sound')))
const mp4 = part(aMedia('mp4', Buffer.from('film')))
const pdf = part(aMedia('pdf', Buffer.from('paper')))
const chair = text('a "red" chair')
const [PNG, MP3, MP4, PDF] = ['UE5HIQ==', 'c291bmQ=', 'ZmlsbQ==', 'cGFwZXI=']
const address: Part = { kind: 'image', address: 'https://example.org/a.png' }
const audioAddress: Part = { kind: 'audio', address: 'https://example.org/a.mp3' }

interface Case {
  readonly wire: ContentWireName
  readonly provider?: string
  readonly contents: readonly Content[]
  readonly call?: Partial<EmbeddingCall>
  readonly path: string
  readonly body: object
}

const cases: readonly Case[] = [
  {
    wire: 'gemini',
    contents: [content(chair, png), content(pdf)],
    call: { dimensions: 256 },
    path: '/models/m:batchEmbedContents',
    body: {
      requests: [
        {
          model: 'models/m',
          content: {
            parts: [{ text: 'a "red" chair' }, { inlineData: { mimeType: 'image/png', data: PNG } }],
          },
          outputDimensionality: 256,
        },
        {
          model: 'models/m',
          content: { parts: [{ inlineData: { mimeType: 'application/pdf', data: PDF } }] },
          outputDimensionality: 256,
        },
      ],
    },
  },
  {
    wire: 'vertex',
    contents: [content(chair, mp4)],
    call: { dimensions: 256 },
    path: '/models/m:embedContent',
    body: {
      content: { parts: [{ text: 'a "red" chair' }, { inlineData: { mimeType: 'video/mp4', data: MP4 } }] },
      embedContentConfig: { outputDimensionality: 256, autoTruncate: false },
    },
  },
  {
    wire: 'vertex-predict',
    contents: [content(png)],
    call: { dimensions: 128 },
    path: '/models/m:predict',
    body: {
      instances: [{ image: { bytesBase64Encoded: PNG, mimeType: 'image/png' } }],
      parameters: { dimension: 128 },
    },
  },
  {
    wire: 'vertex-predict',
    contents: [content(mp4)],
    path: '/models/m:predict',
    body: {
      instances: [
        {
          video: {
            bytesBase64Encoded: MP4,
            mimeType: 'video/mp4',
            videoSegmentConfig: { intervalSec: 120 },
          },
        },
      ],
    },
  },
  {
    wire: 'cohere',
    contents: [content(chair, png), content(chair)],
    call: { dimensions: 256, inputType: 'search_document' },
    path: '/embed',
    body: {
      model: 'm',
      input_type: 'search_document',
      inputs: [
        {
          content: [
            { type: 'text', text: 'a "red" chair' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
          ],
        },
        { content: [{ type: 'text', text: 'a "red" chair' }] },
      ],
      embedding_types: ['float'],
      output_dimension: 256,
      truncate: 'NONE',
    },
  },
  {
    wire: 'cohere',
    provider: 'amazon-bedrock',
    contents: [content(png)],
    call: { inputType: 'search_query' },
    path: '/model/m/invoke',
    body: {
      input_type: 'search_query',
      inputs: [{ content: [{ type: 'image_url', image_url: `data:image/png;base64,${PNG}` }] }],
      embedding_types: ['float'],
      truncate: 'NONE',
    },
  },
  {
    wire: 'voyage',
    contents: [content(chair, png), content(mp4)],
    call: { dimensions: 512, inputType: 'query' },
    path: '/multimodalembeddings',
    body: {
      model: 'm',
      inputs: [
        {
          content: [
            { type: 'text', text: 'a "red" chair' },
            { type: 'image_base64', image_base64: `data:image/png;base64,${PNG}` },
          ],
        },
        { content: [{ type: 'video_base64', video_base64: `data:video/mp4;base64,${MP4}` }] },
      ],
      input_type: 'query',
      truncation: false,
      output_dimension: 512,
    },
  },
  {
    wire: 'voyage',
    contents: [content(chair, address)],
    path: '/multimodalembeddings',
    body: {
      model: 'm',
      inputs: [
        {
          content: [
            { type: 'text', text: 'a "red" chair' },
            { type: 'image_url', image_url: 'https://example.org/a.png' },
          ],
        },
      ],
      truncation: false,
    },
  },
  {
    wire: 'jina',
    contents: [content(chair), content(png), content(pdf), content(address)],
    call: {
      dimensions: 128,
      inputType: 'retrieval.query',
      inputTypeField: 'task',
      extraFields: { normalized: true },
    },
    path: '/embeddings',
    body: {
      normalized: true,
      model: 'm',
      dimensions: 128,
      task: 'retrieval.query',
      input: [
        { text: 'a "red" chair' },
        { image: `data:image/png;base64,${PNG}` },
        { pdf: `data:application/pdf;base64,${PDF}` },
        { image: 'https://example.org/a.png' },
      ],
    },
  },
  {
    wire: 'nova',
    contents: [content(chair)],
    call: { inputType: 'GENERIC_INDEX', width: 1024 },
    path: '/model/m/invoke',
    body: {
      schemaVersion: 'nova-multimodal-embed-v1',
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: 'GENERIC_INDEX',
        embeddingDimension: 1024,
        text: { truncationMode: 'NONE', value: 'a "red" chair' },
      },
    },
  },
  {
    wire: 'nova',
    contents: [content(mp4)],
    call: { inputType: 'GENERIC_INDEX', width: 1024 },
    path: '/model/m/invoke',
    body: {
      schemaVersion: 'nova-multimodal-embed-v1',
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: 'GENERIC_INDEX',
        embeddingDimension: 1024,
        video: { format: 'mp4', embeddingMode: 'AUDIO_VIDEO_COMBINED', source: { bytes: MP4 } },
      },
    },
  },
  {
    wire: 'titan',
    contents: [content(png, chair)],
    call: { dimensions: 384 },
    path: '/model/m/invoke',
    body: { inputImage: PNG, inputText: 'a "red" chair', embeddingConfig: { outputEmbeddingLength: 384 } },
  },
  {
    wire: 'messages',
    contents: [content(chair, png, mp3)],
    call: { user: 'u', extraFields: { padding: 'max_length' } },
    path: '/embeddings',
    body: {
      padding: 'max_length',
      model: 'm',
      user: 'u',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a "red" chair' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
            { type: 'input_audio', input_audio: { data: MP3, format: 'mp3' } },
          ],
        },
      ],
    },
  },
  {
    wire: 'messages',
    contents: [content(mp4), content(audioAddress)],
    path: '/embeddings',
    body: {
      model: 'm',
      messages: [
        [
          {
            role: 'user',
            content: [{ type: 'video_url', video_url: { url: `data:video/mp4;base64,${MP4}` } }],
          },
        ],
        [
          {
            role: 'user',
            content: [{ type: 'audio_url', audio_url: { url: 'https://example.org/a.mp3' } }],
          },
        ],
      ],
    },
  },
  {
    wire: 'modality',
    contents: [content(png), content(address)],
    path: '/embeddings',
    body: {
      model: 'm',
      input: [`data:image/png;base64,${PNG}`, 'https://example.org/a.png'],
      modality: 'image',
    },
  },
  {
    wire: 'modality',
    contents: [content(chair)],
    path: '/embeddings',
    body: { model: 'm', input: ['a "red" chair'], modality: 'text' },
  },
  {
    wire: 'openrouter',
    contents: [content(chair, address), content(mp3), content(pdf)],
    call: { inputType: 'search_query', inputTypeField: 'input_type' },
    path: '/embeddings',
    body: {
      model: 'm',
      input_type: 'search_query',
      input: [
        {
          content: [
            { type: 'text', text: 'a "red" chair' },
            { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
          ],
        },
        { content: [{ type: 'input_audio', input_audio: { data: MP3, format: 'mp3' } }] },
        {
          content: [{ type: 'input_file', input_file: { data: `data:application/pdf;base64,${PDF}` } }],
        },
      ],
    },
  },
  {
    wire: 'dashscope',
    contents: [content(chair), content(png)],
    call: { dimensions: 512 },
    path: '/services/embeddings/multimodal-embedding/multimodal-embedding',
    body: {
      model: 'm',
      input: { contents: [{ text: 'a "red" chair' }, { image: `data:image/png;base64,${PNG}` }] },
      parameters: { dimension: 512 },
    },
  },
  {
    wire: 'dashscope',
    contents: [content(chair, png)],
    path: '/services/embeddings/multimodal-embedding/multimodal-embedding',
    body: {
      model: 'm',
      input: { contents: [{ text: 'a "red" chair' }, { image: `data:image/png;base64,${PNG}` }] },
      parameters: { enable_fusion: true },
    },
  },
]

describe('the bytes of a call', () => {
  for (const { wire, provider = 'p', contents, call: overrides, path, body } of cases) {
    const kinds = contents.map(({ parts }) => parts.map(({ kind }) => kind).join('+')).join(', ')
    it(`${wire} at ${provider}: ${kinds}`, async () => {
      const row = { title: '', wire, provider, base: '', model: 'm', contents, usage: undefined }
      const call = contentCall(row, 'http://localhost', overrides)
      const translator = wireOf(call.deployment, wire)
      assert.equal(translator.path(call), path)
      const whole = joinedBody(jsonParts(translator.body(call, contents)))
      const sent = Buffer.concat(await Array.fromAsync(whole.open()))
      assert.equal(sent.toString(), JSON.stringify(body))
      assert.equal(sent.length, whole.size)
    })
  }
})

it('a number that JavaScript would change is written as it came', () => {
  const exact = (JSON as unknown as { rawJSON(text: string): object }).rawJSON('12345678901234567890')
  assert.deepEqual(jsonParts({ seed: exact, list: [], none: undefined, empty: {} }), [
    '{"seed":12345678901234567890,"list":[],"empty":{}}',
  ])
})

describe('what an answer says about its use', () => {
  const picture = [content(chair, png)]
  const film = [content(chair, png), content(mp4)]
  const words = [content(chair)]
  const unknown = { kind: 'unknown' }
  const measured = (tokens: number, byKind?: object): object =>
    byKind === undefined ? { kind: 'measured', tokens } : { kind: 'measured', tokens, byKind }
  const rows: readonly [ContentWireName, readonly Content[], object, object][] = [
    // `images` is a number of images, not of tokens.
    ['cohere', picture, { meta: { billed_units: { input_tokens: 3, images: 1 } } }, unknown],
    [
      'cohere',
      picture,
      { meta: { billed_units: { input_tokens: 3, image_tokens: 7, images: 1 } } },
      measured(10, { text: 3, image: 7 }),
    ],
    ['cohere', words, { meta: { billed_units: { input_tokens: 3 } } }, measured(3, { text: 3 })],
    [
      'voyage',
      picture,
      { usage: { text_tokens: 3, image_pixels: 5600, total_tokens: 13 } },
      measured(13, { text: 3, image: 10 }),
    ],
    ['voyage', film, { usage: { text_tokens: 3, image_pixels: 5600, total_tokens: 99 } }, measured(99)],
    ['voyage', words, { usage: { total_tokens: 3 } }, measured(3)],
    ['nova', words, { inputTokenCount: 3 }, measured(3, { text: 3 })],
    ['nova', [content(png)], { inputTokenCount: 0 }, unknown],
    ['titan', picture, { inputTextTokenCount: 3 }, measured(3, { text: 3 })],
    ['titan', [content(png)], { inputTextTokenCount: 0 }, unknown],
    ['gemini', picture, {}, unknown],
    ['gemini', picture, { usageMetadata: { promptTokenCount: 9 } }, measured(9)],
    [
      'gemini',
      picture,
      {
        usageMetadata: {
          promptTokenCount: 9,
          promptTokensDetails: [
            { modality: 'TEXT', tokenCount: 3 },
            { modality: 'IMAGE', tokenCount: 6 },
            { modality: 'MODALITY_UNSPECIFIED', tokenCount: 1 },
          ],
        },
      },
      measured(9, { text: 3, image: 6 }),
    ],
    ['dashscope', picture, { usage: { input_tokens: 3 } }, unknown],
    ['dashscope', film, { usage: { input_tokens: 3, image_tokens: 8 } }, measured(11)],
    ['openrouter', picture, { usage: { prompt_tokens: -1 } }, unknown],
    ['openrouter', picture, { usage: { prompt_tokens: 0 } }, unknown],
    ['openrouter', picture, { usage: 'much' }, unknown],
  ]
  for (const [wire, contents, answer, usage] of rows) {
    it(`${wire}: ${JSON.stringify(answer)}`, () => {
      const translator = wireOf(
        { upstream: { name: '', dialect: 'openai', headers: {}, settings: {} } },
        wire,
      )
      assert.deepEqual(
        translator.read(answer as Readonly<Record<string, unknown>>, contents, {}).usage,
        usage,
      )
    })
  }
})

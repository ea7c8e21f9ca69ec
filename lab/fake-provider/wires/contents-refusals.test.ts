/** What each wire of contents refuses, in its own form. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { contentVector } from '../contents.ts'
import { dataUri, image, pdf, video, wav, type SampleMedia } from '../sample-media.ts'
import { startFakeProvider } from '../server.ts'
import { vectorOf } from '../vectors.ts'
import {
  base64Of,
  novaBody,
  post,
  spoken,
  type Given,
  type Json,
  type Name,
  type Posted,
  type Spoken,
} from './contents-client.ts'

const provider = await startFakeProvider()
after(() => provider.close())

const png = await image('png')
const gif = await image('gif')
const wide = await image('png', { width: 4001, height: 4000 })
const broken: SampleMedia = { type: 'image/png', bytes: Buffer.from('no image at all') }
const mislabelled: SampleMedia = { type: 'image/jpeg', bytes: png.bytes }
const ofBytes = (bytes: number): SampleMedia => ({
  type: 'image/png',
  bytes: Buffer.concat([png.bytes, Buffer.alloc(bytes)]),
})
const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item)

const ask = (wire: Name, contents: Given[][], scenario = 'plain'): Promise<Posted> => {
  const { path, body }: Spoken = spoken[wire]
  return post(`${provider.url}/${scenario}`, path, body(contents))
}
const askWith = (wire: Name, contents: Given[][], more: object): Promise<Posted> => {
  const { path, body }: Spoken = spoken[wire]
  return post(`${provider.url}/plain`, path, { ...body(contents), ...more })
}

/** Where each provider's form of an error has its message. */
const messages: Partial<Record<Name, (body: Json) => unknown>> = {
  google: ({ error }) => (String(error?.['status']) === 'INVALID_ARGUMENT' ? error?.['message'] : null),
  vertex: ({ error }) => (String(error?.['status']) === 'INVALID_ARGUMENT' ? error?.['message'] : null),
  cohere: ({ id, message }) => (String(id) === 'fake' ? message : null),
  voyage: ({ detail }) => detail,
  jina: ({ detail }) => detail,
  nova: ({ message }) => message,
  titan: ({ message }) => message,
  'bedrock cohere': ({ message }) => message,
  vllm: ({ error }) => (String(error?.['type']) === 'BadRequestError' ? error?.['message'] : null),
  'sglang, one conversation': ({ error }) => error?.['message'],
  infinity: ({ error }) => (Number(error?.['code']) >= 400 ? error?.['message'] : null),
  openrouter: ({ error }) => (Number(error?.['code']) === 400 ? error?.['message'] : null),
  dashscope: ({ code, message }) => (String(code) === 'InvalidParameter' ? message : null),
}

const refused: { wire: Name; what: string; contents: Given[][]; says: RegExp; scenario?: string }[] = [
  { wire: 'google', what: 'seven images', contents: [times(7, png)], says: /images in one input: 7/ },
  { wire: 'google', what: 'a format it does not read', contents: [[gif]], says: /gif. Supported: png, jpeg/ },
  { wire: 'google', what: 'what is no image', contents: [[broken]], says: /unknown format/ },
  {
    wire: 'google',
    what: 'another format than declared',
    contents: [[mislabelled]],
    says: /declared as jpeg, is png/,
  },
  { wire: 'google', what: 'a video of 121 seconds', contents: [[video(121)]], says: /seconds of video: 121/ },
  { wire: 'google', what: 'a PDF of seven pages', contents: [[pdf(7)]], says: /pages in one document: 7/ },
  {
    wire: 'google',
    what: 'a body beyond 20 MiB',
    contents: [[ofBytes(16_000_000)]],
    says: /payload size exceeds/,
  },
  { wire: 'google', what: '101 inputs', contents: times(101, ['x']), says: /Too many inputs/ },
  { wire: 'vertex', what: 'seven images', contents: [times(7, png)], says: /images in one input: 7/ },
  { wire: 'cohere', what: '97 inputs', contents: times(97, [png]), says: /Too many inputs: 97/ },
  {
    wire: 'cohere',
    what: '20 MB of images',
    contents: [[ofBytes(12_000_000)], [ofBytes(9_000_000)]],
    says: /bytes of media/,
  },
  { wire: 'cohere', what: 'an audio clip', contents: [[wav(1)]], says: /Unknown content type 'input_audio'/ },
  { wire: 'cohere', what: 'what is no image', contents: [[broken]], says: /unknown format/ },
  { wire: 'voyage', what: 'more than 16 million pixels', contents: [[wide]], says: /pixels in one image/ },
  { wire: 'voyage', what: 'more than 20 MB', contents: [[ofBytes(20_000_001)]], says: /bytes in one image/ },
  {
    wire: 'voyage',
    what: 'an audio clip',
    contents: [[wav(1)]],
    says: /Unknown content type 'audio_base64'/,
  },
  { wire: 'voyage', what: '1001 inputs', contents: times(1001, ['x']), says: /Too many inputs/ },
  { wire: 'jina', what: 'what is no image', contents: [[broken]], says: /unknown format/ },
  { wire: 'nova', what: 'an audio clip of 31 seconds', contents: [[wav(31)]], says: /seconds of audio/ },
  { wire: 'nova', what: 'a video of 31 seconds', contents: [[video(31)]], says: /seconds of video/ },
  {
    wire: 'nova',
    what: 'another format than declared',
    contents: [[mislabelled]],
    says: /declared as jpeg, is png/,
  },
  { wire: 'titan', what: 'a format it does not read', contents: [[gif]], says: /gif. Supported: png, jpeg/ },
  {
    wire: 'titan',
    what: 'a text of more than 128 tokens',
    contents: [['x'.repeat(516), png]],
    says: /Max input tokens: 128/,
  },
  { wire: 'bedrock cohere', what: 'what is no image', contents: [[broken]], says: /unknown format/ },
  {
    wire: 'vllm',
    what: 'too many images',
    contents: [[png, png]],
    says: /At most 1 image\(s\) may be/,
    scenario: 'max-images-1',
  },
  {
    wire: 'vllm',
    what: 'too many parts',
    contents: [['a', png, 'b']],
    says: /parts in one input: 3/,
    scenario: 'max-parts-2',
  },
  {
    wire: 'vllm',
    what: 'a kind it does not take',
    contents: [[wav(1)]],
    says: /does not support audio/,
    scenario: 'takes-image',
  },
  {
    wire: 'vllm',
    what: 'an image',
    contents: [[png]],
    says: /does not support image/,
    scenario: 'takes-text',
  },
  {
    wire: 'sglang, one conversation',
    what: 'an image',
    contents: [[png]],
    says: /Image count 1 exceeds limit 0/,
    scenario: 'max-images-0',
  },
  { wire: 'infinity', what: '33 images', contents: times(33, [png]), says: /Too many inputs: 33/ },
  { wire: 'infinity', what: 'a video', contents: [[video(1)]], says: /'modality' must be/ },
  {
    wire: 'infinity',
    what: 'an audio clip as an image',
    contents: [[{ ...wav(1), type: 'image/png' }]],
    says: /wav. Supported/,
  },
  { wire: 'openrouter', what: 'what is no image', contents: [[broken]], says: /unknown format/ },
  { wire: 'dashscope', what: '21 contents', contents: times(21, [png]), says: /Too many inputs: 21/ },
  {
    wire: 'dashscope',
    what: 'an image above 10 MB',
    contents: [[ofBytes(10_000_001)]],
    says: /bytes in one image/,
  },
  { wire: 'dashscope', what: 'a gif', contents: [[gif]], says: /gif. Supported/ },
]

describe("every wire of contents refuses in its provider's form what its model does not take", () => {
  for (const { wire, what, contents, says, scenario } of refused) {
    it(`${wire}: ${what}`, async () => {
      const answer = await ask(wire, contents, scenario)
      assert.ok([400, 422].includes(answer.status), `${answer.status} ${answer.text.slice(0, 300)}`)
      assert.match(String(messages[wire]?.(answer.json)), says)
      assert.equal(provider.entries().at(-1)?.served, false)
    })
  }

  const fields: { wire: Name; what: string; more: object; says: RegExp }[] = [
    {
      wire: 'voyage',
      what: 'addresses beside base64',
      more: {
        inputs: [
          { content: [{ type: 'image_url', image_url: 'https://example.com/a.png' }] },
          { content: [{ type: 'image_base64', image_base64: dataUri(png) }] },
        ],
      },
      says: /must not be mixed/,
    },
    {
      wire: 'voyage',
      what: 'base64 without the head of a data URI',
      more: { inputs: [{ content: [{ type: 'image_base64', image_base64: base64Of(png) }] }] },
      says: /must be a data URI/,
    },
    {
      wire: 'voyage',
      what: 'a video, before 3.5',
      more: {
        model: 'voyage-multimodal-3-w64',
        inputs: [{ content: [{ type: 'video_base64', video_base64: dataUri(video(1)) }] }],
      },
      says: /does not support video/,
    },
    { wire: 'cohere', what: 'inputs beside texts', more: { texts: ['x'] }, says: /Exactly one of/ },
    {
      wire: 'cohere',
      what: 'inputs of the third generation',
      more: { model: 'embed-english-v3.0-w64' },
      says: /does not support image/,
    },
    {
      wire: 'cohere',
      what: 'an address',
      more: {
        inputs: [{ content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] }],
      },
      says: /must be base64, not an address/,
    },
    {
      wire: 'cohere',
      what: 'two images of the third generation',
      more: {
        model: 'embed-english-v3.0-w64',
        input_type: 'image',
        inputs: undefined,
        images: [dataUri(png), dataUri(png)],
      },
      says: /images in one request: 2/,
    },
    {
      wire: 'jina',
      what: 'an image, of a text model',
      more: { model: 'jina-embeddings-v3-w64' },
      says: /does not support image/,
    },
    {
      wire: 'jina',
      what: 'two media in one object',
      more: { input: [{ text: 'x', image: base64Of(png) }] },
      says: /one of text, image/,
    },
    {
      wire: 'nova',
      what: 'two modalities',
      more: novaBody([['x']], { image: { format: 'png', source: { bytes: base64Of(png) } } }),
      says: /exactly one of/,
    },
    {
      wire: 'nova',
      what: 'a width it does not have',
      more: novaBody([['x']], { embeddingDimension: 100 }),
      says: /must be one of 256/,
    },
    {
      wire: 'titan',
      what: 'a width it does not have',
      more: { embeddingConfig: { outputEmbeddingLength: 100 } },
      says: /must be one of 256/,
    },
    {
      wire: 'openrouter',
      what: 'strings beside contents',
      more: { input: ['x', { content: [{ type: 'text', text: 'y' }] }] },
      says: /Invalid input/,
    },
    {
      wire: 'dashscope',
      what: 'fusing, where the model does not',
      more: { model: 'tongyi-embedding-vision-plus-w64', parameters: { enable_fusion: true } },
      says: /enable_fusion is not supported/,
    },
    {
      wire: 'dashscope',
      what: 'two keys in one content',
      more: { input: { contents: [{ text: 'x', image: dataUri(png) }] } },
      says: /exactly one of/,
    },
    {
      wire: 'dashscope',
      what: 'a video inline',
      more: { input: { contents: [{ video: dataUri(video(1)) }] } },
      says: /must not be a data URI|must be/,
    },
    { wire: 'vllm', what: 'input beside messages', more: { input: 'x' }, says: /exclude each other/ },
  ]
  for (const { wire, what, more, says } of fields) {
    it(`${wire}: ${what}`, async () => {
      const answer = await askWith(wire, [[png]], more)
      assert.ok([400, 422].includes(answer.status), `${answer.status} ${answer.text.slice(0, 300)}`)
      assert.match(String(messages[wire]?.(answer.json)), says)
    })
  }

  it('the refused call is in the log with the sums of its parts', async () => {
    await ask('google', [[gif]])
    const [[note] = []] = provider.entries().at(-1)?.contents ?? []
    assert.deepEqual([note?.kind, note && 'format' in note && note.format], ['image', 'gif'])
  })
})

describe('addresses are recorded, never fetched', () => {
  const address = 'https://pictures.invalid/a.png'
  const rows: [wire: Name, more: object][] = [
    ['voyage', { inputs: [{ content: [{ type: 'image_url', image_url: address }] }] }],
    ['openrouter', { input: [{ content: [{ type: 'image_url', image_url: { url: address } }] }] }],
    ['vllm', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: address } }] }] }],
    ['jina', { input: [{ image: address }] }],
    ['infinity', { modality: 'image', input: [address] }],
    ['dashscope', { input: { contents: [{ image: address }] } }],
    ['google single', { content: { parts: [{ fileData: { mimeType: 'image/png', fileUri: address } }] } }],
  ]
  for (const [wire, more] of rows) {
    it(wire, async () => {
      const answer = await askWith(wire, [[png]], more)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(provider.entries().at(-1)?.contents, [[{ kind: 'image', address }]])
    })
  }
})

describe('vertex multimodalembedding@001 answers a vector for each modality', () => {
  const path = 'vertex/v1/publishers/google/models/multimodalembedding@001:predict'
  const instance = {
    text: 'a red chair',
    image: { bytesBase64Encoded: base64Of(png), mimeType: 'image/png' },
  }
  const predict = (instances: object[], parameters: object = {}) =>
    post(`${provider.url}/plain`, path, { instances, parameters })

  it('text and image apart, 1408 wide, with no usage', async () => {
    const { json } = await predict([instance])
    const { textEmbedding, imageEmbedding } = json['predictions']?.[0] ?? assert.fail()
    assert.deepEqual(Float32Array.from(textEmbedding as unknown as number[]), vectorOf('a red chair', 1408))
    assert.deepEqual(
      Float32Array.from(imageEmbedding as unknown as number[]),
      contentVector([png.bytes], 1408),
    )
    assert.deepEqual(Object.keys(json), ['predictions'])
  })

  it('a video has a vector for each interval', async () => {
    const source = { bytesBase64Encoded: base64Of(video(40)) }
    const { json } = await predict([{ video: source }])
    assert.equal(json['predictions']?.[0]?.['videoEmbeddings']?.length, 3)
  })

  it('refuses a second instance and a width it does not have', async () => {
    assert.equal((await predict([instance, instance])).status, 400)
    assert.equal((await predict([instance], { dimension: 300 })).status, 400)
    assert.equal((await predict([instance], { dimension: 256 })).status, 200)
  })
})

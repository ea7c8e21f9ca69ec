import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { ImageModelV4, ImageModelV4CallOptions } from '@ai-sdk/provider'
import { fast, imagesOf, packages } from '../packages.ts'
import { startFakeProvider } from '../server.ts'
import { assertLogged, lastPurchase } from './test-client.ts'

type Row = {
  title: string
  wire: string
  model: (base: string) => ImageModelV4
  options?: Partial<ImageModelV4CallOptions>
  pictures: [format: string, width: number, height: number][]
  size: string | null
  /** How moderation reaches the package; null where it takes the answer for a good one. */
  moderation: RegExp | null
  /** The package makes its message of the status alone. */
  statusOnly?: true
}

const rows: Row[] = [
  {
    title: 'Google',
    wire: 'google',
    model: (base) => packages.google(base).image('gemini-3-pro-image'),
    options: { aspectRatio: '16:9', providerOptions: { google: { imageConfig: { imageSize: '2K' } } } },
    pictures: [['png', 2688, 1536]],
    size: '16:9 2K',
    moderation: null,
  },
  {
    title: 'Vertex',
    wire: 'vertex',
    model: (base) => packages.vertex(base).image('gemini-2.5-flash-image'),
    options: {
      aspectRatio: '3:4',
      providerOptions: { vertex: { imageConfig: { imageOutputOptions: { mimeType: 'image/jpeg' } } } },
    },
    pictures: [['jpeg', 864, 1184]],
    size: '3:4 1K',
    moderation: null,
  },
  {
    title: 'Bedrock Nova Canvas',
    wire: 'bedrock',
    model: (base) => packages.bedrock(base).image('amazon.nova-canvas-v1:0'),
    options: { n: 2, size: '512x320', providerOptions: { bedrock: { quality: 'premium' } } },
    pictures: [
      ['png', 512, 320],
      ['png', 512, 320],
    ],
    size: '512x320',
    moderation: /Prompt Moderated/,
  },
  {
    title: 'Bedrock Titan',
    wire: 'bedrock',
    model: (base) => packages.bedrock(base).image('amazon.titan-image-generator-v2:0'),
    options: { size: '512x512' },
    pictures: [['png', 512, 512]],
    size: '512x512',
    moderation: /no images/,
  },
  {
    title: 'Black Forest Labs',
    wire: 'black-forest-labs',
    model: (base) => packages.bfl(base).image('flux-pro-1.1'),
    options: {
      size: '512x768',
      providerOptions: { blackForestLabs: { outputFormat: 'png', pollTimeoutMillis: 100 } },
    },
    pictures: [['png', 512, 768]],
    size: '512x768',
    // A moderated job is polled until the time is up.
    moderation: /timed out/,
  },
  {
    title: 'Replicate',
    wire: 'replicate',
    model: (base) => packages.replicate(base).image('black-forest-labs/flux-schnell'),
    options: { n: 2, aspectRatio: '3:2', providerOptions: { replicate: { output_format: 'jpg', ...fast } } },
    pictures: [
      ['jpeg', 1248, 832],
      ['jpeg', 1248, 832],
    ],
    size: '3:2',
    moderation: /NSFW/,
  },
  {
    title: 'Replicate, by version and with one output',
    wire: 'replicate',
    model: (base) => packages.replicate(base).image('me/mine:pro-1'),
    options: { size: '256x128', providerOptions: { replicate: fast } },
    pictures: [['webp', 256, 128]],
    size: '256x128',
    moderation: /NSFW/,
  },
  {
    title: 'fal',
    wire: 'fal',
    model: (base) => packages.fal(base).image('fal-ai/flux/dev'),
    options: { n: 2, size: '320x200', providerOptions: { fal: { outputFormat: 'png' } } },
    pictures: [
      ['png', 320, 200],
      ['png', 320, 200],
    ],
    size: '320x200',
    moderation: null,
  },
  {
    title: 'Luma',
    wire: 'luma',
    model: (base) => packages.luma(base).image('photon-1'),
    options: { aspectRatio: '16:9', providerOptions: { luma: fast } },
    pictures: [['jpeg', 1360, 768]],
    size: '16:9',
    moderation: /failed/,
  },
  {
    title: 'Fireworks',
    wire: 'fireworks',
    model: (base) => packages.fireworks(base).image('accounts/fireworks/models/flux-1-dev-fp8'),
    options: { aspectRatio: '1:1' },
    pictures: [['jpeg', 1024, 1024]],
    size: '1:1',
    moderation: /Bad Request/,
    statusOnly: true,
  },
  {
    title: 'Fireworks, by size',
    wire: 'fireworks',
    model: (base) => packages.fireworks(base).image('accounts/fireworks/models/SSD-1B'),
    options: { size: '320x200', headers: { accept: 'image/png' } },
    pictures: [['png', 320, 200]],
    size: '320x200',
    moderation: /Bad Request/,
    statusOnly: true,
  },
  {
    title: 'Together',
    wire: 'together',
    model: (base) => packages.together(base).image('black-forest-labs/FLUX.1-dev'),
    options: { n: 2, size: '320x200', providerOptions: { togetherai: { output_format: 'png' } } },
    pictures: [
      ['png', 320, 200],
      ['png', 320, 200],
    ],
    size: '320x200',
    moderation: /safety system/,
  },
  {
    title: 'xAI',
    wire: 'xai',
    model: (base) => packages.xai(base).image('grok-imagine-image'),
    options: { n: 2, aspectRatio: '2:1', providerOptions: { xai: { output_format: 'png' } } },
    pictures: [
      ['png', 1456, 720],
      ['png', 1456, 720],
    ],
    size: '2:1',
    moderation: /content policy violation/,
  },
]

const provider = await startFakeProvider()
after(() => provider.close())

describe('every wire answers the AI SDK package of its provider', () => {
  for (const { title, model: modelAt, options, ...row } of rows) {
    const ask = (scenario: string) =>
      imagesOf(modelAt(`${provider.url}/${scenario}`), { prompt: `a red bicycle by ${title}`, ...options })

    it(`${title}: pictures of the right size and format, as in the log; no field is unknown`, async () => {
      const pictures = await ask('strict-fields')
      const entry = lastPurchase(provider)
      await assertLogged(pictures, entry)
      assert.deepEqual(
        entry?.pictures?.map(({ format, width, height }) => [format, width, height]),
        row.pictures,
      )
      assert.deepEqual([entry?.wire, entry?.n, entry?.size], [row.wire, options?.n ?? 1, row.size])
      assert.ok(modelAt('http://x').modelId.endsWith(entry?.model ?? '-'))
    })

    it(`${title}: an error reaches the package in the provider's own shape`, async () => {
      await assert.rejects(ask('status-429'), (error: Error & Record<string, unknown>) => {
        assert.equal(error.name, 'AI_APICallError')
        assert.match(error.message, row.statusOnly ? /Too Many Requests/ : /The scenario answers 429/)
        assert.equal(error['statusCode'], 429)
        assert.equal((error['responseHeaders'] as Record<string, string>)['retry-after'], '7')
        return true
      })
      assert.equal(lastPurchase(provider)?.served, false)
    })

    it(`${title}: moderation shows where the provider shows it`, async () => {
      if (row.moderation !== null) await assert.rejects(ask('moderation'), row.moderation)
      else await ask('moderation')
      assert.equal(lastPurchase(provider)?.served, row.wire === 'fal')
    })

    it(`${title}: a missing credential is refused`, async () => {
      const { path } = lastPurchase(provider) ?? assert.fail()
      const answer = await fetch(provider.url + path.replace('moderation', 'plain'), {
        method: 'POST',
        body: '{}',
      })
      assert.equal(answer.status, 401)
    })
  }
})

describe('what the packages make of moderation inside a 200', () => {
  const url = (path: string) => `${provider.url}/moderation/${path}`
  const post = async (path: string, headers: Record<string, string>, body: object) => {
    const answer = await fetch(url(path), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    assert.equal(answer.status, 200)
    return JSON.stringify(await answer.json())
  }

  it('Gemini names the reason and has no picture', async () => {
    const body = {
      contents: [{ role: 'user', parts: [{ text: 'x' }] }],
      generationConfig: { responseModalities: ['IMAGE'] },
    }
    const text = await post('google/v1beta/models/gemini-x:generateContent', { 'x-goog-api-key': 'k' }, body)
    assert.match(text, /"finishReason":"IMAGE_SAFETY"/)
    assert.doesNotMatch(text, /inlineData/)
  })

  it('fal marks the picture', async () => {
    const text = await post(
      'fal/fal-ai/flux',
      { authorization: 'Key k' },
      { prompt: 'x', image_size: 'square' },
    )
    assert.match(text, /"has_nsfw_concepts":\[true\]/)
  })

  it('Stability on Bedrock gives a reason in the place of a picture', async () => {
    const text = await post(
      'bedrock/model/stability.sd3-5-large-v1:0/invoke',
      { authorization: 'Bearer k' },
      { prompt: 'x' },
    )
    assert.match(text, /"finish_reasons":\["Filter reason: prompt"\]/)
  })
})

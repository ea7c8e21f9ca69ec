import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { ImageFormat, OfferedSize } from '#core/catalog/catalog.ts'
import type { FailureKind } from '#core/fault/failure.ts'
import type { ImageAnswer, ImageCall, ImageEvents } from '#ports/image-upstream.ts'
import { imageCallOf } from '#test/support/ai-sdk-images.ts'
import { upstreamFailureOf } from '#test/support/upstream-failure.ts'
import type { LogEntry } from '../../../../lab/fake-provider/log.ts'
import type { FakeProvider } from '../../../../lab/fake-provider/server.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'
import { tokensOf } from '../../../../lab/fake-provider/vectors.ts'
import { aiSdkImage } from './image.ts'

/** One row for each wire and path of the fake provider. */
interface Row {
  readonly title: string
  readonly provider: string
  readonly base: string
  readonly model: string
  /** A size other than the wire's default, and how the wire was asked for it. */
  readonly size: OfferedSize
  readonly asked: string
  /** Formats that can be asked for. */
  readonly formats: readonly ImageFormat[]
  readonly options?: Partial<ImageCall>
  readonly several?: true
  readonly polled?: true
  /** Answers with addresses, so that the submit's answer is worth keeping. */
  readonly addresses?: true
  readonly reportsTokens?: true
  /** An answer with a refused image may be charged, or is not known to be free. */
  readonly refusalMayBeCharged?: true
}

const pixels = { size: { width: 768, height: 512 }, asked: '768x512' }
const ratio = (width: number, height: number, asked = '16:9') => ({
  size: { width, height, aspectRatio: asked },
  asked,
})
const bedrock = {
  provider: 'amazon-bedrock',
  base: 'bedrock',
  ...pixels,
  formats: [],
  several: true,
} as const
const two = { formats: ['png', 'jpeg'] } as const
const three = { formats: ['png', 'jpeg', 'webp'] } as const
const polledTwo = { ...two, polled: true } as const
const flux = { provider: 'black-forest-labs', base: 'bfl/v1', ...polledTwo } as const
const replicate = { provider: 'replicate', base: 'replicate/v1', several: true, polled: true } as const
const fireworks = { provider: 'fireworks', base: 'fireworks/inference/v1' }
const rows: readonly Row[] = [
  {
    title: 'Google',
    provider: 'google',
    base: 'google/v1beta',
    model: 'gemini-3-pro-image',
    size: { width: 2688, height: 1536, aspectRatio: '16:9', resolution: '2K' },
    asked: '16:9 2K',
    formats: [],
    reportsTokens: true,
  },
  {
    title: 'Vertex',
    provider: 'google-vertex',
    base: 'vertex/v1/publishers/google',
    model: 'gemini-2.5-flash-image',
    ...ratio(1344, 768),
    asked: '16:9 1K',
    ...two,
    options: { format: 'jpeg', compression: 50 },
    reportsTokens: true,
  },
  {
    title: 'Bedrock Nova Canvas',
    model: 'amazon.nova-canvas-v1:0',
    ...bedrock,
    options: { quality: 'premium' },
  },
  {
    title: 'Bedrock Titan',
    model: 'amazon.titan-image-generator-v2:0',
    ...bedrock,
    refusalMayBeCharged: true,
  },
  { title: 'Black Forest Labs, in pixels', model: 'flux-pro-1.1', ...flux, ...pixels },
  { title: 'Black Forest Labs, by ratio', model: 'flux-kontext-pro', ...flux, ...ratio(1184, 672) },
  {
    title: 'fal',
    provider: 'fal',
    base: 'fal',
    model: 'fal-ai/flux/dev',
    ...pixels,
    ...two,
    several: true,
    addresses: true,
    refusalMayBeCharged: true,
  },
  {
    title: 'Replicate, by ratio',
    model: 'black-forest-labs/flux-schnell',
    ...replicate,
    ...ratio(1360, 768),
    ...three,
    options: { format: 'webp', compression: 40 },
  },
  {
    title: 'Replicate, a version in pixels',
    model: 'stability-ai/sdxl:7762fd07',
    ...replicate,
    ...pixels,
    ...three,
  },
  {
    title: 'Fireworks',
    model: 'accounts/fireworks/models/flux-1-schnell-fp8',
    ...fireworks,
    ...ratio(1360, 768),
    ...two,
  },
  {
    title: 'Fireworks, in pixels',
    model: 'accounts/fireworks/models/SSD-1B',
    ...fireworks,
    ...pixels,
    ...two,
  },
  {
    title: 'Fireworks Kontext',
    model: 'accounts/fireworks/models/flux-kontext-pro',
    ...fireworks,
    ...ratio(1360, 768),
    ...polledTwo,
  },
  {
    title: 'Together',
    provider: 'togetherai',
    base: 'together/v1',
    model: 'black-forest-labs/FLUX.1-schnell',
    ...pixels,
    ...two,
    several: true,
  },
  {
    title: 'xAI',
    provider: 'xai',
    base: 'xai/v1',
    model: 'grok-imagine-image',
    size: { ...ratio(1360, 768).size, resolution: '1k' },
    asked: '16:9',
    ...three,
    options: { quality: 'high', user: 'a-user' },
    several: true,
    refusalMayBeCharged: true,
  },
  {
    title: 'Luma',
    provider: 'luma',
    base: 'luma',
    model: 'photon-1',
    ...ratio(1184, 880, '4:3'),
    ...polledTwo,
  },
]

let fake: FakeProvider
before(async () => {
  fake = await startFakeProvider()
})
after(() => fake.close())
const upstream = aiSdkImage({ connectTimeoutMs: 1000, answerBytes: 64 * 1024 * 1024, pollIntervalMs: 5 })

function callTo(row: Row, scenario: string, overrides: Partial<ImageCall> = {}): ImageCall {
  return imageCallOf(row.provider, row.model, `${fake.url}/${scenario}/${row.base}`, overrides)
}

/** Records submits; previews are never reported. */
function listener(recorded: string[] = []): ImageEvents {
  return {
    submitted: async (text) => void recorded.push(text),
    partial: () => assert.fail('a preview'),
  }
}

const entriesOf = ({ callId }: ImageCall): LogEntry[] =>
  fake.entries().filter((entry) => entry.callId === callId)
const purchasesOf = (call: ImageCall): LogEntry[] =>
  entriesOf(call).filter(({ operation }) => operation === 'submit' || operation === 'generate')
const failureOf = (call: ImageCall) => upstreamFailureOf(upstream.generate(call, listener()))

/** Images are bit-equal to those that the upstream sold. */
function assertSold({ pictures }: ImageAnswer, purchase: LogEntry | undefined): void {
  assert.deepEqual(
    pictures.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex')),
    purchase?.pictures?.map(({ sha256 }) => sha256),
  )
}

async function refusedUnsent(call: ImageCall, param: string): Promise<void> {
  const { kind, detail, mayBeCharged } = await failureOf(call)
  assert.deepEqual([kind, detail.param, mayBeCharged], ['refused', param, false])
  assert.deepEqual(entriesOf(call), [])
}

for (const row of rows) {
  describe(`${row.title} through its package`, () => {
    it('pictures are bit-equal to those in the upstream’s log, in the size that was asked for', async () => {
      const call = callTo(row, 'strict-fields', { size: row.size, ...row.options })
      const recorded: string[] = []
      const answer = await upstream.generate(call, listener(recorded))
      const [purchase, second] = purchasesOf(call)
      assert.equal(second, undefined)
      assertSold(answer, purchase)
      assert.equal(purchase?.size, row.asked)
      const { width, height } = purchase.pictures?.[0] ?? assert.fail()
      assert.deepEqual([width, height], [row.size.width, row.size.height])
      assert.deepEqual([purchase.served, purchase.authorization], [true, '9876'])
      assert.equal(recorded.length, row.polled || row.addresses ? 1 : 0)
      const { textInput, imageOutput } = answer.tokens
      const known = row.reportsTokens ? [tokensOf(call.prompt), 1290] : [undefined, undefined]
      assert.deepEqual([textInput, imageOutput], known)
    })

    for (const format of ['png', 'jpeg', 'webp'] as const) {
      const can = row.formats.includes(format)
      it(`${format} is ${can ? 'what comes when it is asked for' : 'refused before anything is sent'}`, async () => {
        const call = callTo(row, 'strict-fields', { format })
        if (!can) return refusedUnsent(call, 'output_format')
        await upstream.generate(call, listener())
        assert.equal(purchasesOf(call)[0]?.pictures?.[0]?.format, format)
      })
    }

    it(
      row.several ? 'several pictures come in one call' : 'it is not asked for more than it makes',
      async () => {
        const call = callTo(row, 'plain', { images: 2 })
        if (!row.several) return refusedUnsent(call, 'n')
        const answer = await upstream.generate(call, listener())
        assertSold(answer, purchasesOf(call)[0])
        assert.equal(answer.pictures.length, 2)
      },
    )

    const { polled = false, addresses = false, refusalMayBeCharged = false } = row
    const failures: readonly (readonly [FailureKind, mayBeCharged: boolean, isApt: boolean, ...string[]])[] =
      [
        ['contentRefused', refusalMayBeCharged, true, 'moderation', 'moderation-output'],
        ['rejectedUs', false, true, 'status-401'],
        ['missing', false, true, 'status-404'],
        ['rateLimited', false, true, 'status-429'],
        ['failed', false, true, 'status-503'],
        ['refused', false, true, 'status-400'],
        ['broken', true, true, 'html-200', 'half-body'],
        ['unreachable', true, true, 'serves-then-resets'],
        ['failed', false, polled, 'job-fails'],
        ['rejectedUs', true, polled, 'poll-status-401'],
        ['broken', true, polled || addresses, 'file-status-404', 'file-half', 'foreign-files'],
      ]
    for (const [kind, mayBeCharged, isApt, ...scenarios] of failures)
      for (const scenario of isApt ? scenarios : [])
        it(`${scenario} is ${kind}, and ${mayBeCharged ? 'may have been' : 'is not'} charged`, async () => {
          const call = callTo(row, scenario)
          const failure = await failureOf(call)
          assert.deepEqual([failure.kind, failure.mayBeCharged], [kind, mayBeCharged], failure.message)
          assert.equal(purchasesOf(call).length, 1)
        })

    if (polled || addresses) {
      it('after a crash the pictures come without a second purchase', async () => {
        const call = callTo(row, 'plain', { size: row.size })
        const { promise, resolve } = Promise.withResolvers<string>()
        const dead: ImageEvents = {
          submitted: (text) => {
            resolve(text)
            return new Promise(() => {})
          },
          partial: () => {},
        }
        void upstream.generate({ ...call, timeoutMs: 2000 }, dead).catch(() => {})
        const submitted = await promise
        assert.equal(entriesOf(call).length, 1)
        const next = aiSdkImage({ connectTimeoutMs: 1000, answerBytes: 64 * 1024 * 1024, pollIntervalMs: 5 })
        const answer = await next.generate(
          { ...call, submitted },
          {
            submitted: () => assert.fail('written down twice'),
            partial: () => {},
          },
        )
        const [purchase, second] = fake
          .entries()
          .filter(({ served, callId }) => served && callId === call.callId)
        assert.equal(second, undefined)
        assertSold(answer, purchase)
      })

      it('a submit that can not be written down ends the call with that reason', async () => {
        const call = callTo(row, 'plain')
        const full: ImageEvents = {
          submitted: () => Promise.reject(new Error('the disk is full')),
          partial: () => {},
        }
        await assert.rejects(upstream.generate(call, full), /the disk is full/)
      })
    }
  })
}

describe('what can not be said on a wire is refused before anything is sent', () => {
  const google = rows[0] ?? assert.fail()
  const cases: [overrides: Partial<ImageCall>, param: string][] = [
    [{ size: { width: 1024, height: 1024 } }, 'size'],
    [{ size: { width: 1024, height: 1024, aspectRatio: 'square' } }, 'size'],
    [{ quality: 'high' }, 'quality'],
    [{ background: 'transparent' }, 'background'],
    [{ moderation: 'low' }, 'moderation'],
    [{ compression: 50 }, 'output_compression'],
    [{ user: 'a-user' }, 'user'],
    [{ safetyIdentifier: 'a-user' }, 'safety_identifier'],
    [{ partialImages: 0 }, 'stream'],
    [{ extraFields: { style: 'vivid' } }, 'style'],
  ]
  for (const [overrides, param] of cases)
    it(JSON.stringify(overrides), () => refusedUnsent(callTo(google, 'plain', overrides), param))

  it('a value that the package does not take', async () => {
    const bedrock = rows.find(({ title }) => title === 'Bedrock Nova Canvas') ?? assert.fail()
    const call = callTo(bedrock, 'plain', { quality: 'splendid' })
    const failure = await failureOf(call)
    assert.equal(failure.kind, 'refused')
    assert.match(failure.message, /quality splendid/)
    assert.deepEqual(entriesOf(call), [])
  })

  it('what the package itself reports as not sent is no silent success', async () => {
    const fireworks = rows.find(({ title }) => title === 'Fireworks') ?? assert.fail()
    const call = callTo(fireworks, 'plain', { size: { width: 768, height: 512 } })
    const failure = await failureOf(call)
    assert.deepEqual([failure.kind, failure.mayBeCharged], ['refused', true])
  })

  it('a model that the package no longer serves is the operator’s to put right', async () => {
    const call = imageCallOf('google', 'imagen-4.0', `${fake.url}/plain/google/v1beta`)
    const failure = await failureOf(call)
    assert.deepEqual([failure.kind, failure.mayBeCharged], ['rejectedUs', false])
  })

  it('a provider that makes no pictures', async () => {
    const failure = await failureOf(imageCallOf('cohere', 'x', `${fake.url}/plain/cohere/v2`))
    assert.equal(failure.kind, 'rejectedUs')
    assert.match(failure.message, /provider is "cohere"; .*google, google-vertex/)
  })
})

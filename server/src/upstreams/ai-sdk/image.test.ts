import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { ImageFormat, OfferedSize } from '#core/catalog/catalog.ts'
import type { FailureKind } from '#core/fault/failure.ts'
import type { ImageCall, ImageEvents } from '#ports/image-upstream.ts'
import { imageCallOf } from '#test/support/ai-sdk-images.ts'
import { upstreamFailureOf } from '#test/support/upstream-failure.ts'
import type { LogEntry } from '../../../../tools/fake-provider/log.ts'
import type { FakeProvider } from '../../../../tools/fake-provider/server.ts'
import { startFakeProvider } from '../../../../tools/fake-provider/server.ts'
import { tokensOf } from '../../../../tools/fake-provider/vectors.ts'
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

const wide = { width: 1344, height: 768, aspectRatio: '16:9' }
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
    size: wide,
    asked: '16:9 1K',
    formats: ['png', 'jpeg'],
    options: { format: 'jpeg', compression: 50 },
    reportsTokens: true,
  },
  {
    title: 'Bedrock Nova Canvas',
    provider: 'amazon-bedrock',
    base: 'bedrock',
    model: 'amazon.nova-canvas-v1:0',
    size: { width: 768, height: 512 },
    asked: '768x512',
    formats: [],
    options: { quality: 'premium' },
    several: true,
  },
  {
    title: 'Bedrock Titan',
    provider: 'amazon-bedrock',
    base: 'bedrock',
    model: 'amazon.titan-image-generator-v2:0',
    size: { width: 768, height: 512 },
    asked: '768x512',
    formats: [],
    several: true,
    refusalMayBeCharged: true,
  },
  {
    title: 'Black Forest Labs, in pixels',
    provider: 'black-forest-labs',
    base: 'bfl/v1',
    model: 'flux-pro-1.1',
    size: { width: 768, height: 512 },
    asked: '768x512',
    formats: ['png', 'jpeg'],
    polled: true,
  },
  {
    title: 'Black Forest Labs, by ratio',
    provider: 'black-forest-labs',
    base: 'bfl/v1',
    model: 'flux-kontext-pro',
    size: { width: 1184, height: 672, aspectRatio: '16:9' },
    asked: '16:9',
    formats: ['png', 'jpeg'],
    polled: true,
  },
  {
    title: 'fal',
    provider: 'fal',
    base: 'fal',
    model: 'fal-ai/flux/dev',
    size: { width: 768, height: 512 },
    asked: '768x512',
    formats: ['png', 'jpeg'],
    several: true,
    addresses: true,
    refusalMayBeCharged: true,
  },
  {
    title: 'Replicate, by ratio',
    provider: 'replicate',
    base: 'replicate/v1',
    model: 'black-forest-labs/flux-schnell',
    size: { width: 1360, height: 768, aspectRatio: '16:9' },
    asked: '16:9',
    formats: ['png', 'jpeg', 'webp'],
    options: { format: 'webp', compression: 40 },
    several: true,
    polled: true,
  },
  {
    title: 'Replicate, a version in pixels',
    provider: 'replicate',
    base: 'replicate/v1',
    model: 'stability-ai/sdxl:7762fd07',
    size: { width: 768, height: 512 },
    asked: '768x512',
    formats: ['png', 'jpeg', 'webp'],
    several: true,
    polled: true,
  },
  {
    title: 'Fireworks',
    provider: 'fireworks',
    base: 'fireworks/inference/v1',
    model: 'accounts/fireworks/models/flux-1-schnell-fp8',
    size: { width: 1360, height: 768, aspectRatio: '16:9' },
    asked: '16:9',
    formats: ['png', 'jpeg'],
  },
  {
    title: 'Fireworks, in pixels',
    provider: 'fireworks',
    base: 'fireworks/inference/v1',
    model: 'accounts/fireworks/models/SSD-1B',
    size: { width: 768, height: 512 },
    asked: '768x512',
    formats: ['png', 'jpeg'],
  },
  {
    title: 'Fireworks Kontext',
    provider: 'fireworks',
    base: 'fireworks/inference/v1',
    model: 'accounts/fireworks/models/flux-kontext-pro',
    size: { width: 1360, height: 768, aspectRatio: '16:9' },
    asked: '16:9',
    formats: ['png', 'jpeg'],
    polled: true,
  },
  {
    title: 'Together',
    provider: 'togetherai',
    base: 'together/v1',
    model: 'black-forest-labs/FLUX.1-schnell',
    size: { width: 768, height: 512 },
    asked: '768x512',
    formats: ['png', 'jpeg'],
    several: true,
  },
  {
    title: 'xAI',
    provider: 'xai',
    base: 'xai/v1',
    model: 'grok-imagine-image',
    size: { width: 1360, height: 768, aspectRatio: '16:9', resolution: '1k' },
    asked: '16:9',
    formats: ['png', 'jpeg', 'webp'],
    options: { quality: 'high', user: 'somebody' },
    several: true,
    refusalMayBeCharged: true,
  },
  {
    title: 'Luma',
    provider: 'luma',
    base: 'luma',
    model: 'photon-1',
    size: { width: 1184, height: 880, aspectRatio: '4:3' },
    asked: '4:3',
    formats: ['png', 'jpeg'],
    polled: true,
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
const sumOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

for (const row of rows) {
  describe(`${row.title} through its package`, () => {
    it('pictures are bit-equal to those in the upstream’s books, in the size that was asked for', async () => {
      const call = callTo(row, 'strict-fields', { size: row.size, ...row.options })
      const recorded: string[] = []
      const answer = await upstream.generate(call, listener(recorded))
      const [purchase, second] = purchasesOf(call)
      assert.equal(second, undefined)
      assert.deepEqual(
        answer.pictures.map(({ bytes }) => sumOf(bytes)),
        purchase?.pictures?.map(({ sha256 }) => sha256),
      )
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
        if (can) {
          await upstream.generate(call, listener())
          assert.equal(purchasesOf(call)[0]?.pictures?.[0]?.format, format)
          return
        }
        const failure = await upstreamFailureOf(upstream.generate(call, listener()))
        assert.deepEqual([failure.kind, failure.detail.param], ['refused', 'output_format'])
        assert.equal(failure.mayBeCharged, false)
        assert.deepEqual(entriesOf(call), [])
      })
    }

    it(
      row.several ? 'several pictures come in one call' : 'it is not asked for more than it makes',
      async () => {
        const call = callTo(row, 'plain', { images: 2 })
        if (row.several) {
          const { pictures } = await upstream.generate(call, listener())
          assert.deepEqual(
            pictures.map(({ bytes }) => sumOf(bytes)),
            purchasesOf(call)[0]?.pictures?.map(({ sha256 }) => sha256),
          )
          assert.equal(pictures.length, 2)
          return
        }
        const failure = await upstreamFailureOf(upstream.generate(call, listener()))
        assert.deepEqual([failure.kind, failure.detail.param], ['refused', 'n'])
        assert.deepEqual(entriesOf(call), [])
      },
    )

    for (const scenario of ['moderation', 'moderation-output']) {
      it(`${scenario} is a refusal of the content`, async () => {
        const call = callTo(row, scenario)
        const failure = await upstreamFailureOf(upstream.generate(call, listener()))
        assert.equal(failure.kind, 'contentRefused', failure.message)
        assert.equal(failure.mayBeCharged, row.refusalMayBeCharged ?? false)
        assert.equal(purchasesOf(call).length, 1)
      })
    }

    const failures: [scenario: string, kind: FailureKind, mayBeCharged: boolean][] = [
      ['status-401', 'rejectedUs', false],
      ['status-404', 'missing', false],
      ['status-429', 'rateLimited', false],
      ['status-503', 'failed', false],
      ['status-400', 'refused', false],
      ['html-200', 'broken', true],
      ['half-body', 'broken', true],
      ['serves-then-resets', 'unreachable', true],
      ...(row.polled
        ? ([
            ['job-fails', 'failed', false],
            ['poll-status-401', 'rejectedUs', true],
          ] as const)
        : []),
      ...(row.polled || row.addresses
        ? ([
            ['file-status-404', 'broken', true],
            ['file-half', 'broken', true],
            ['foreign-files', 'broken', true],
          ] as const)
        : []),
    ].map((failure) => [...failure] as [string, FailureKind, boolean])
    for (const [scenario, kind, mayBeCharged] of failures) {
      it(`${scenario} is ${kind}, and ${mayBeCharged ? 'may have been' : 'is not'} charged`, async () => {
        const call = callTo(row, scenario)
        const failure = await upstreamFailureOf(upstream.generate(call, listener()))
        assert.deepEqual([failure.kind, failure.mayBeCharged], [kind, mayBeCharged], failure.message)
        assert.equal(purchasesOf(call).length, 1)
      })
    }

    if (row.polled || row.addresses) {
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
        const { pictures } = await next.generate(
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
        assert.deepEqual(
          pictures.map(({ bytes }) => sumOf(bytes)),
          purchase?.pictures?.map(({ sha256 }) => sha256),
        )
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
    [{ user: 'somebody' }, 'user'],
    [{ safetyIdentifier: 'somebody' }, 'safety_identifier'],
    [{ partialImages: 0 }, 'stream'],
    [{ extraFields: { style: 'vivid' } }, 'style'],
  ]
  for (const [overrides, param] of cases) {
    it(JSON.stringify(overrides), async () => {
      const call = callTo(google, 'plain', overrides)
      const failure = await upstreamFailureOf(upstream.generate(call, listener()))
      assert.deepEqual([failure.kind, failure.detail.param], ['refused', param])
      assert.equal(failure.mayBeCharged, false)
      assert.deepEqual(entriesOf(call), [])
    })
  }

  it('a value that the package does not take', async () => {
    const bedrock = rows.find(({ title }) => title === 'Bedrock Nova Canvas') ?? assert.fail()
    const call = callTo(bedrock, 'plain', { quality: 'splendid' })
    const failure = await upstreamFailureOf(upstream.generate(call, listener()))
    assert.equal(failure.kind, 'refused')
    assert.match(failure.message, /quality splendid/)
    assert.deepEqual(entriesOf(call), [])
  })

  it('what the package itself reports as not sent is no silent success', async () => {
    const fireworks = rows.find(({ title }) => title === 'Fireworks') ?? assert.fail()
    const call = callTo(fireworks, 'plain', { size: { width: 768, height: 512 } })
    const failure = await upstreamFailureOf(upstream.generate(call, listener()))
    assert.deepEqual([failure.kind, failure.mayBeCharged], ['refused', true])
  })

  it('a model that the package no longer serves is the operator’s to put right', async () => {
    const call = imageCallOf('google', 'imagen-4.0', `${fake.url}/plain/google/v1beta`)
    const failure = await upstreamFailureOf(upstream.generate(call, listener()))
    assert.deepEqual([failure.kind, failure.mayBeCharged], ['rejectedUs', false])
  })

  it('a provider that makes no pictures', async () => {
    const failure = await upstreamFailureOf(
      upstream.generate(imageCallOf('cohere', 'x', `${fake.url}/plain/cohere/v2`), listener()),
    )
    assert.equal(failure.kind, 'rejectedUs')
    assert.match(failure.message, /provider is "cohere"; .*google, google-vertex/)
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { hasMedia, isText, type Content, type Part } from '#core/content/content.ts'
import type { FailureKind } from '#core/fault/failure.ts'
import { valuesOf } from '#core/embedding/vector.ts'
import { yieldLoop } from '#runtime/event-loop.ts'
import {
  aMedia,
  content,
  contentCall,
  contentRows,
  part,
  samples,
  text,
  type ContentRow,
} from '#test/support/content-calls.ts'
import { upstreamFailureOf } from '#test/support/upstream-failure.ts'
import { isBitType, numbersOf } from '#core/catalog/vector-type.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { contentVector } from '../../../../lab/fake-provider/contents.ts'
import { startFakeProvider, type FakeProvider } from '../../../../lab/fake-provider/server.ts'
import { truncated } from '../../../../lab/fake-provider/vectors.ts'
import { typedNumbers } from '../../../../lab/fake-provider/vector-types.ts'
import { widthOf } from '../../../../lab/fake-provider/wire.ts'
import { UpstreamHttp } from '../connect/http.ts'
import { contentsUpstream } from './exchange.ts'

const http = new UpstreamHttp({
  connectTimeoutMs: 1000,
  answerBytes: 64 * 1024 * 1024,
  yieldOnSending: yieldLoop,
})
const upstream = contentsUpstream(http, yieldLoop)
let fake: FakeProvider
before(async () => {
  fake = await startFakeProvider()
})
after(async () => {
  await http.close()
  await fake.close()
})
const at = (scenario: string): string => `${fake.url}/${scenario}`
const { png, jpeg, sound, film, paper, chair } = samples

function rowOf(title: string): ContentRow {
  return contentRows.find((row) => row.title === title) ?? assert.fail(title)
}

async function bytesOf(one: Part): Promise<string | Uint8Array> {
  if (isText(one)) return one.text
  return hasMedia(one) ? Buffer.concat(await Array.fromAsync(one.media.open())) : assert.fail()
}

async function expectedOf(contents: readonly Content[], width: number): Promise<Float32Array[]> {
  return Promise.all(
    contents.map(async ({ parts }) => contentVector(await Promise.all(parts.map(bytesOf)), width)),
  )
}

function entryOf({ callId }: EmbeddingCall) {
  return fake.entries().find((entry) => entry.callId === callId) ?? assert.fail(callId)
}

type Expected = readonly [scenario: string, kind: FailureKind, status: number | undefined, message: RegExp]

for (const row of contentRows) {
  describe(row.title, () => {
    it('vectors are bit-equal to the upstream’s and in input order; the bytes of media arrive as they were', async () => {
      const call = contentCall(row, at('plain'))
      const { vectors, usage, isFullWidth } = await upstream.embed(call)
      assert.deepEqual(vectors.map(valuesOf), await expectedOf(row.contents, call.width))
      assert.deepEqual([usage, isFullWidth], [row.usage, false])
      const entry = entryOf(call)
      const sums = row.contents.map(({ parts }) =>
        parts.map((one) => (hasMedia(one) ? one.media.sha256 : one.kind)),
      )
      const received = entry.contents?.map((parts) =>
        parts.map((one) => (one.kind === 'text' || 'address' in one ? one.kind : one.sha256)),
      )
      assert.deepEqual(received, sums)
      assert.deepEqual([entry.authorization, entry.model], ['9876', row.model])
    })

    it('dimensions and input type reach the wire', async () => {
      const width = row.dimensions ?? assert.fail()
      const call = contentCall(row, at('plain'), { dimensions: width, width })
      const { vectors } = await upstream.embed(call)
      const whole = await expectedOf(row.contents, widthOf(row.model))
      assert.deepEqual(
        vectors.map(valuesOf),
        whole.map((vector) => truncated(vector, width)),
      )
      const { dimensions, inputType } = entryOf(call)
      const named = row.wire === 'messages' || row.wire === 'dashscope' ? null : (row.inputType ?? null)
      assert.deepEqual([dimensions, inputType], [width, named])
    })

    it('texts alone take the same wire', async () => {
      const texts = row.single ? ['only one'] : ['one', 'another "text"', 'ein Kätzchen']
      const call = contentCall(row, at('plain'), { inputs: { kind: 'texts', texts } })
      const { vectors } = await upstream.embed(call)
      const expected = texts.map((words) => contentVector([words], call.width))
      assert.deepEqual(vectors.map(valuesOf), expected)
    })

    const failures: readonly Expected[] = [
      ['status-401', 'rejectedUs', 401, /The scenario answers 401/],
      ['status-404', 'missing', 404, /The scenario answers 404/],
      ['status-429', 'rateLimited', 429, /The scenario answers 429/],
      ['status-500', 'failed', 500, /The scenario answers 500/],
      ['status-400', 'refused', 400, /The scenario answers 400/],
      ['garbage', 'broken', 200, /./],
      ['html-200', 'broken', 200, /an answer that is not JSON/],
      ['nan', 'broken', 200, /./],
      ['infinite', 'broken', 200, /not a finite number/],
      ['half-body', 'broken', 200, /./],
      ['reset', 'unreachable', undefined, /./],
      ['zero-vector', 'broken', 200, /a vector of zeros/],
      ['wrong-width', 'broken', 200, /dimensions instead of/],
      ...(row.single ? [] : ([['wrong-count', 'broken', 200, /vectors for \d inputs/]] as const)),
      ...(row.indexed ? ([['duplicate-index', 'broken', 200, /index 0 twice/]] as const) : []),
    ]
    for (const [scenario, kind, status, message] of failures) {
      it(`${scenario} is ${kind}, and nothing is tried twice`, async () => {
        const call = contentCall(row, at(scenario))
        const failure = await upstreamFailureOf(upstream.embed(call))
        assert.equal(failure.kind, kind, failure.message)
        assert.match(failure.message, message)
        // An answer that is broken as it arrives is given up before its end.
        if (kind !== 'broken') assert.equal(failure.detail.status, status)
        assert.equal(failure.detail.retryAfterMs, scenario === 'status-429' ? 7000 : undefined)
        assert.equal(fake.entries().filter(({ callId }) => callId === call.callId).length, 1)
      })
    }

    if (row.indexed) {
      it('vectors that come in another order are put in input order', async () => {
        const call = contentCall(row, at('shuffled'))
        const { vectors } = await upstream.embed(call)
        assert.deepEqual(vectors.map(valuesOf), await expectedOf(row.contents, call.width))
      })
    }

    it('an upstream that never answers times out', async () => {
      const failure = await upstreamFailureOf(
        upstream.embed(contentCall(row, at('never'), { timeoutMs: 80 })),
      )
      assert.equal(failure.kind, 'timedOut')
    })
  })
}

describe('a type that the upstream makes itself is asked for on its wire, and comes as whole numbers', () => {
  for (const [title, type, field] of [
    ['Cohere', 'ubinary', 'embedding_types'],
    ['Cohere', 'int8', 'embedding_types'],
    ['Voyage', 'binary', 'output_dtype'],
    ['Voyage', 'uint8', 'output_dtype'],
    ['Jina', 'ubinary', 'embedding_type'],
  ] as const)
    it(`${type} of ${title}`, async () => {
      const row = rowOf(title)
      const whole = widthOf(row.model)
      const asked = contentCall(row, at('plain'), { outputType: type, width: numbersOf(type, whole) })
      const { deployment } = asked
      const capabilities = { ...deployment.capabilities, outputTypeField: field }
      const { vectors } = await upstream.embed({ ...asked, deployment: { ...deployment, capabilities } })
      const floats = await expectedOf(row.contents, whole)
      for (const [index, vector] of vectors.map(valuesOf).entries()) {
        assert.equal(vector.length, numbersOf(type, whole))
        const [smallest, most] = type.startsWith('u') ? [0, 255] : [-128, 127]
        assert.ok(vector.every((value) => Number.isInteger(value) && value >= smallest && value <= most))
        if (isBitType(type))
          assert.deepEqual([...vector], typedNumbers(floats[index] as Float32Array, type, 0))
      }
    })
})

describe('what can not be sent is refused before anything is sent', () => {
  const both = [content(chair, png)]
  const refusals: readonly [row: string, overrides: Partial<EmbeddingCall>, message: RegExp][] = [
    ['Vertex, predict', contents(both), /can not be fused/],
    ['Vertex, predict', contents([content(sound)]), /kind audio can not be sent/],
    ['Vertex, predict', { inputType: 'q' }, /no input type/],
    ['Gemini', { outputType: 'int8' }, /type int8 can not be asked for/],
    ['Vertex', contents([content(chair), content(png)]), /one content in a call/],
    ['Nova, image', contents(both), /can not be fused/],
    ['Nova, image', contents([content(paper)]), /kind file can not be sent/],
    ['Nova, image', { inputType: undefined }, /needs an input type/],
    ['Titan', contents([content(png, jpeg)]), /one text and one image/],
    ['Titan', contents([content(film)]), /kind video can not be sent/],
    ['Cohere', { inputType: undefined }, /needs an input type/],
    ['Cohere', contents([content(sound)]), /kind audio can not be sent/],
    ['Cohere', { extraFields: { truncate: 'END' } }, /'truncate' can not be sent/],
    ['Cohere', { user: 'u' }, /'user' can not be sent/],
    ['Cohere', { inputs: { kind: 'tokens', tokens: [[1]] } }, /token ids can not be sent/],
    [
      'Cohere',
      contents([content({ kind: 'image', address: 'https://example.org/a.png' })]),
      /an address can not/,
    ],
    [
      'Voyage',
      contents([content(png), content({ kind: 'image', address: 'https://example.org/a.png' })]),
      /addresses and media/,
    ],
    ['Jina', contents(both), /can not be fused/],
    ['Infinity', contents([content(png), content(chair)]), /several kinds/],
    ['Infinity', contents([content(film)]), /kind video can not be sent/],
    ['vllm', contents([content(paper)]), /kind file can not be sent/],
    ['DashScope', contents([content(chair, png), content(chair)]), /one content in a call/],
    ['DashScope', contents([content(film)]), /by address/],
  ]
  for (const [title, overrides, message] of refusals) {
    it(`${title}: ${String(message)}`, async () => {
      const before = fake.counters().calls
      const failure = await upstreamFailureOf(
        upstream.embed(contentCall(rowOf(title), at('plain'), overrides)),
      )
      assert.deepEqual([failure.kind, failure.detail.charge], ['refused', 'none'], failure.message)
      assert.match(failure.message, message)
      assert.equal(fake.counters().calls, before)
    })
  }
})

function contents(list: readonly Content[]): Partial<EmbeddingCall> {
  return { inputs: { kind: 'contents', contents: list } }
}

describe('media', () => {
  it('of many megabytes are read in steps and arrive as they were', async () => {
    const bytes = Buffer.alloc(12 * 1024 * 1024 + 1, 7)
    bytes.set((await bytesOf(png)) as Uint8Array)
    const large = aMedia('png', bytes, 100_003)
    const call = contentCall(rowOf('vllm'), at('plain'), contents([content(text('x'), part(large))]))
    await upstream.embed(call)
    const [[, received] = []] = entryOf(call).contents ?? []
    assert.equal(received && 'sha256' in received && received.sha256, large.sha256)
  })

  it('that can not be read fail the call, which the upstream did not get', async () => {
    const lost = part({ ...aMedia('png', Buffer.alloc(10)), open: brokenOff })
    const settings = { region: 'eu-west-1', accessKeyId: 'AKIAFAKE', secretAccessKey: 'secret' }
    for (const [row, credentials] of [
      ['Gemini', {}],
      ['Titan', { apiKey: undefined, settings }],
    ] as const) {
      const call = contentCall(rowOf(row), at('plain'), contents([content(lost)]), credentials)
      const failure = await upstreamFailureOf(upstream.embed(call))
      assert.deepEqual([failure.kind, failure.detail.charge], ['unreachable', 'none'], failure.message)
      assert.doesNotMatch(failure.message, /secret file/)
    }
  })
})

async function* brokenOff(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(1)
  throw new Error('the secret file is gone')
}

it('counts of a server that does not count are unknown', async () => {
  const call = contentCall(rowOf('vllm'), at('plain'))
  const { deployment } = call
  const capabilities = { ...deployment.capabilities, countsTokens: false }
  const { usage } = await upstream.embed({ ...call, deployment: { ...deployment, capabilities } })
  assert.deepEqual(usage, { kind: 'unknown' })
})

it('counts that an upstream leaves out are unknown, not zero', async () => {
  for (const row of contentRows) {
    const { usage } = await upstream.embed(contentCall(row, at('no-usage')))
    assert.deepEqual(usage, { kind: 'unknown' }, row.title)
  }
})

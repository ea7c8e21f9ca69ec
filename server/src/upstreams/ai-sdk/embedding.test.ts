import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { FailureKind } from '#core/fault/failure.ts'
import { valuesOf } from '#core/embedding/vector.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import type { Row } from '#test/support/ai-sdk-calls.ts'
import { longestRoundMs } from '#test/support/loop-watch.ts'
import { callOf, failureOf, rowOf, rows, texts, textsOf, withUpstream } from '#test/support/ai-sdk-calls.ts'
import type { FakeProvider } from '../../../../lab/fake-provider/server.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'
import { tokensOf, truncated, vectorOf } from '../../../../lab/fake-provider/vectors.ts'
import { widthOf } from '../../../../lab/fake-provider/wire.ts'
import { aiSdkEmbedding } from './embedding.ts'

const fakeProgram = fileURLToPath(new URL('../../../../lab/fake-provider/main.ts', import.meta.url))
const cohere = rowOf('Cohere')
/** The most CPU time that one turn of the event loop may take. */
const MAX_ROUND_MS = 20

let fake: FakeProvider
before(async () => {
  fake = await startFakeProvider()
})
after(() => fake.close())
const at = (scenario: string): string => `${fake.url}/${scenario}`
const upstream = aiSdkEmbedding({ connectTimeoutMs: 1000, answerBytes: 256 * 1024 * 1024 })

for (const row of rows) {
  describe(`${row.title} through its package`, () => {
    it('vectors are bit-equal to the upstream’s and in input order, tokens and the call id are in the ledger and in the upstream’s log', async () => {
      const call = callOf(row, at('plain'))
      const { vectors, usage } = await upstream.embed(call)
      assert.deepEqual(
        vectors.map(valuesOf),
        textsOf(call).map((text) => vectorOf(text, call.width)),
      )
      const tokens = textsOf(call).reduce((sum, text) => sum + tokensOf(text), 0)
      assert.deepEqual(
        usage,
        row.reportsTokens === false ? { kind: 'unknown' } : { kind: 'measured', tokens },
      )
      const entry = fake.entries().at(-1)
      assert.deepEqual([entry?.callId, entry?.authorization, entry?.model], [call.callId, '9876', row.model])
      assert.deepEqual(
        [entry?.inputType, entry?.dimensions],
        [row.inputType ?? null, row.silentDimensions ?? null],
      )
    })

    it('dimensions and input type reach the wire', async () => {
      const width = row.dimensions ?? assert.fail()
      const call = callOf(row, at('plain'), { dimensions: width, width })
      const { vectors } = await upstream.embed(call)
      const expected = textsOf(call).map((text) => truncated(vectorOf(text, widthOf(row.model)), width))
      assert.deepEqual(vectors.map(valuesOf), expected)
      const entry = fake.entries().at(-1)
      assert.deepEqual([entry?.inputType, entry?.dimensions], [row.inputType ?? null, width])
    })

    const failures: [scenario: string, kind: FailureKind, status: number | undefined, message: RegExp][] = [
      ['status-401', 'rejectedUs', 401, /The scenario answers 401/],
      ['status-404', 'missing', 404, /The scenario answers 404/],
      ['status-429', 'rateLimited', 429, /The scenario answers 429/],
      ['status-500', 'failed', 500, /The scenario answers 500/],
      ['status-503+error-html', 'failed', 503, /The scenario answers 503/],
      ['status-400', 'refused', 400, /The scenario answers 400/],
      ['garbage', 'broken', 200, /an answer that is not JSON/],
      ['html-200', 'broken', 200, /an answer that is not JSON/],
      ['nan', 'broken', 200, /an answer that is not JSON/],
      ['infinite', 'broken', 200, /an answer that does not hold vectors of numbers/],
      ['half-body', 'broken', 200, /an answer that was cut off/],
      ['reset', 'unreachable', undefined, /./],
      ['serves-then-resets', 'unreachable', undefined, /./],
      ['zero-vector', 'broken', undefined, /a vector of zeros/],
      [
        'wrong-width',
        'broken',
        undefined,
        new RegExp(`a vector of ${widthOf(row.model) - 1} dimensions instead of ${widthOf(row.model)}`),
      ],
      ...(row.single ? [] : [['wrong-count', 'broken', undefined, /3 vectors for 4 inputs/] as const]),
    ].map((failure) => [...failure] as [string, FailureKind, number | undefined, RegExp])

    for (const [scenario, kind, status, message] of failures) {
      it(`${scenario} is ${kind}`, async () => {
        const failure = await failureOf(upstream, callOf(row, at(scenario)))
        assert.equal(failure.kind, kind, failure.message)
        assert.equal(failure.detail.status, status)
        assert.match(failure.message, message)
        assert.equal(failure.detail.retryAfterMs, scenario === 'status-429' ? 7000 : undefined)
        if (status !== undefined) assert.match(failure.detail.upstreamRequestId ?? '', /^fake-\d+$/)
      })
    }

    it('an upstream that never answers times out', async () => {
      const failure = await failureOf(upstream, callOf(row, at('never'), { timeoutMs: 80.5 }))
      assert.equal(failure.kind, 'timedOut')
      assert.match(failure.message, /no answer within 81 ms/)
    })

    it('nothing is tried twice', async () => {
      // Found by call: one that an earlier test gave up may still arrive.
      for (const scenario of ['status-503', 'reset']) {
        const call = callOf(row, at(scenario))
        await failureOf(upstream, call)
        assert.equal(fake.entries().filter(({ callId }) => callId === call.callId).length, 1)
      }
    })
  })
}

describe('the index of a vector is the upstream’s word, which the packages do not read', () => {
  for (const title of ['Voyage', 'Mistral', 'Alibaba', 'Fireworks']) {
    it(`${title}: answers in another order are put right`, async () => {
      const call = callOf(rowOf(title), at('shuffled'))
      const { vectors } = await upstream.embed(call)
      assert.deepEqual(
        vectors.map(valuesOf),
        texts.map((text) => vectorOf(text, call.width)),
      )
    })
    it(`${title}: an index that comes twice is a broken answer`, async () => {
      const failure = await failureOf(upstream, callOf(rowOf(title), at('duplicate-index')))
      assert.equal(failure.kind, 'broken')
      assert.match(failure.message, /index 0 twice/)
    })
  }
})

describe('tokens that the upstream does not report are unknown, not zero', () => {
  for (const title of [
    'Bedrock Cohere',
    'Bedrock Nova',
    'Mistral',
    'Alibaba',
    'Fireworks',
    'Vertex, embedContent',
  ]) {
    it(title, async () => {
      const { usage } = await upstream.embed(callOf(rowOf(title), at('no-usage')))
      assert.deepEqual(usage, { kind: 'unknown' })
    })
  }
})

describe('what can not be sent is refused, never left out', () => {
  const refusals: [title: string, row: Row, overrides: Partial<EmbeddingCall>, message: RegExp][] = [
    ['extra fields', cohere, { extraFields: { truncate: 'END' } }, /'truncate' can not be sent/],
    ['user', cohere, { user: 'u' }, /'user' can not be sent/],
    ['token ids', cohere, { inputs: { kind: 'tokens', tokens: [[1]] } }, /token ids can not be sent/],
    [
      'a width the package does not take',
      cohere,
      { dimensions: 300, width: 300 },
      /invalid cohere provider options \(dimensions 300/,
    ],
    [
      'an input type the package does not know',
      cohere,
      { inputType: 'poem' },
      /invalid cohere provider options \(input type poem/,
    ],
    [
      'an input type Mistral has no word for',
      rowOf('Mistral'),
      { inputType: 'query' },
      /no input type can be named/,
    ],
    [
      'no input type for Cohere, whose package would choose one',
      cohere,
      { inputType: undefined },
      /needs an input type/,
    ],
    [
      'more inputs than the package sends',
      cohere,
      { inputs: { kind: 'texts', texts: Array<string>(97).fill('x') } },
      /96 values per call/,
    ],
  ]
  for (const [title, row, overrides, message] of refusals) {
    it(title, async () => {
      const before = fake.counters().calls
      const failure = await failureOf(upstream, callOf(row, at('plain'), overrides))
      assert.equal(failure.kind, 'refused')
      assert.match(failure.message, message)
      assert.equal(fake.counters().calls, before)
    })
  }
})

describe('the thread', () => {
  it('keeps the event loop free while the largest answer is read', async () => {
    // In a separate process, because it too would hold the loop.
    const child = spawn(process.execPath, [fakeProgram, '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [started] = (await once(child.stdout, 'data')) as [Buffer]
    const address = /http:\S+/.exec(started.toString())?.[0] ?? assert.fail(started.toString())
    const call = callOf({ ...rowOf('Vertex'), model: 'text-embedding-w3072' }, at('plain'), {
      inputs: { kind: 'texts', texts: Array.from({ length: 250 }, (_, index) => `text ${index}`) },
    })
    const there = withUpstream(call, { baseUrl: `${address}/plain/${rowOf('Vertex').base}` })
    try {
      const longestMs = await longestRoundMs(MAX_ROUND_MS, async () => {
        assert.equal((await upstream.embed(there)).vectors.length, 250)
      })
      assert.ok(longestMs < MAX_ROUND_MS, `the event loop was held for ${longestMs} ms`)
    } finally {
      child.kill()
    }
  })

  it('that can not start fails the calls that wait for it, and the next one', async () => {
    const unable = aiSdkEmbedding({
      connectTimeoutMs: 1000,
      answerBytes: 256 * 1024 * 1024,
      proxy: { https: 'no address' },
    })
    await assert.rejects(unable.embed(callOf(cohere, at('plain'))), /Invalid URL/)
    await assert.rejects(unable.embed(callOf(cohere, at('plain'))), /Invalid URL/)
  })
})

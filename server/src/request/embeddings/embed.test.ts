import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { identityOf, type Part } from '#core/content/content.ts'
import { inputCount, type Input } from '#core/embedding/input.ts'
import { truncate, valuesOf } from '#core/embedding/vector.ts'
import type { FailureKind } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { ThreadBusy } from '#ports/asker.ts'
import type { CallRecord, Overcount } from '#ports/observer.ts'
import type { CountAsker, TokenCounter } from '#ports/tokens.ts'
import { bitsOf, MANY_RUNS } from '#test/support/arbitraries.ts'
import { aDeployment, type DeploymentOverrides } from '#test/support/deployments.ts'
import {
  decoded,
  embedInMemory,
  memoryTokens,
  MemoryUpstream,
  type Journey,
  type MemoryUpstreamOptions,
} from '#test/support/embedding.ts'
import { aModel, aRequest, type ModelOverrides } from '#test/support/models.ts'
import { tokensOf, vectorOf } from '../../../../lab/fake-provider/vectors.ts'
import type { EmbedResult } from './embed-result.ts'

const FAILURES: readonly FailureKind[] = [
  'rejectedUs',
  'missing',
  'rateLimited',
  'failed',
  'unreachable',
  'timedOut',
  'broken',
]

const texts = fc
  .array(
    fc.oneof(
      fc.constantFrom('a', 'b', 'c', 'dd', 'ééé', '"\\\n'),
      fc.string({ minLength: 1, maxLength: 30 }),
    ),
    {
      minLength: 1,
      maxLength: 16,
    },
  )
  .map((texts): Input => ({ kind: 'texts', texts }))
const tokens = fc
  .array(
    fc
      .tuple(fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([ids, packed]) => (packed ? Uint32Array.from(ids) : ids)),
    { minLength: 1, maxLength: 16 },
  )
  .map((tokens): Input => ({ kind: 'tokens', tokens }))

const part = fc.oneof(
  fc.constantFrom('a', 'b', 'ééé').map((text): Part => ({ kind: 'text', text })),
  fc
    .tuple(fc.constantFrom('aa', 'bb', 'cc'), fc.integer({ min: 1, max: 40 }))
    .map(([sha256, size]): Part => ({
      kind: 'image',
      media: {
        kind: 'image',
        format: 'png',
        size,
        sha256: `${sha256}${size}`,
        width: 8,
        height: 8,
        async *open() {},
      },
    })),
)
const contents = fc
  .array(
    fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => ({ parts })),
    { minLength: 1, maxLength: 12 },
  )
  .map((contents): Input => ({ kind: 'contents', contents }))

const contentCapabilities = fc.record({
  wire: fc.constant('openrouter' as const),
  inputs: fc.constant(['text', 'image'] as const),
  fuses: fc.constant(true),
  maxParts: fc.constant(3),
  // One content may have three images of forty bytes.
  maxImages: fc.option(fc.integer({ min: 3, max: 9 }), { nil: undefined }),
  maxCallBytes: fc.option(fc.integer({ min: 120, max: 300 }), { nil: undefined }),
  formats: fc.constant(['png'] as const),
  fetches: fc.constant(false),
})

const capabilities = fc.record({
  maxInputs: fc.integer({ min: 1, max: 7 }),
  maxTokens: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
  // The room for model name and options is subtracted from it.
  maxBytes: fc.option(fc.integer({ min: 4090, max: 4300 }), { nil: undefined }),
  maxParallelCalls: fc.integer({ min: 1, max: 4 }),
  tokenArrays: fc.boolean(),
  contents: contentCapabilities,
})
const situation = fc
  .record({
    input: fc.oneof(texts, tokens, contents),
    deployments: fc.array(capabilities, { minLength: 1, maxLength: 3 }),
    outcomes: fc.array(fc.option(fc.constantFrom(...FAILURES), { freq: 2, nil: undefined }), {
      minLength: 1,
      maxLength: 8,
    }),
    loopRounds: fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
    forms: fc.constantFrom(undefined, ['text', 'base64', 'float32'] as const),
    encoding: fc.constantFrom('float' as const, 'base64' as const),
    prefixed: fc.boolean(),
    dimensions: fc.constantFrom(undefined, undefined, 8, 3),
    tokenizer: fc.constantFrom('cl100k_base' as const, 'none' as const),
  })
  .map((given) => ({
    ...given,
    // A prefix goes into the first text of a content, which its identity here does not show.
    prefixed: given.prefixed && given.input.kind !== 'contents',
  }))

type Situation = typeof situation extends fc.Arbitrary<infer Value> ? Value : never

function textsIn(input: Input): readonly string[] {
  switch (input.kind) {
    case 'texts':
      return input.texts
    case 'tokens':
      return input.tokens.map(decoded)
    case 'contents':
      return input.contents.map((content) => identityOf(content) ?? '')
  }
}

function modelFor({ deployments, prefixed, tokenizer, input }: Situation) {
  return aModel({
    facts: {
      matryoshka: true,
      // Token ids can't always go out as they are, so they need a tokenizer.
      tokenizer: input.kind === 'tokens' ? 'cl100k_base' : tokenizer,
      inputType: prefixed
        ? { rule: 'prefix', prefixes: { query: 'query: ' }, default: 'query' }
        : { rule: 'none' },
    },
    deployments: deployments.map((capabilities, priority) =>
      aDeployment({
        id: `d${priority}`,
        priority,
        capabilities,
        price: { kind: 'perToken', nanoUsdPerMillionTokens: 1_000_000n },
      }),
    ),
  })
}

function billedTokens({ served }: MemoryUpstream): number {
  return served.reduce((sum, { usage }) => sum + (usage.kind === 'measured' ? usage.tokens : 0), 0)
}

/** The cost is that of the calls actually served; the usage counts every input alone. */
function assertUsage({ input, prefixed }: Situation, { usage }: EmbedResult, upstream: MemoryUpstream): void {
  const billed = billedTokens(upstream)
  assert.equal(usage.source, 'upstream')
  // One nano-dollar a token, and repeats are sent once.
  assert.deepEqual(usage.cost, { kind: 'known', nanoUsd: BigInt(billed) })
  const all = textsIn(input)
  if (new Set(all).size === all.length) assert.equal(usage.promptTokens, billed)
  // Where our count and the upstream's agree on each text, its share is its own count.
  if (input.kind === 'texts' && !prefixed) {
    assert.equal(
      usage.promptTokens,
      all.reduce((sum, text) => sum + tokensOf(text), 0),
    )
  }
}

test('any inputs × any caps × any duplicates × any failures: vectors and usage of one by one, in order', async () => {
  await fc.assert(
    fc.asyncProperty(situation, async (given) => {
      const { input, outcomes, deployments, dimensions } = given
      const upstream = new MemoryUpstream({
        loopRounds: given.loopRounds,
        ...(given.forms && { forms: given.forms }),
        // The last deployment never fails, so that there is an answer.
        plan: ({ deployment }, number) =>
          deployment.priority === deployments.length - 1 ? undefined : outcomes[number % outcomes.length],
      })
      const model = modelFor(given)
      const answer = await embedInMemory(
        aRequest({ input, encoding: given.encoding, dimensions }),
        model,
        upstream,
      )

      assert.deepEqual(upstream.violations, [])
      const prefix = given.prefixed ? 'query: ' : ''
      const expected = textsIn(input).map((text) => {
        const whole = vectorOf(prefix + text, 8)
        return bitsOf(dimensions === 3 ? truncate(whole, 3) : whole).join()
      })
      assert.deepEqual(
        answer.vectors.map((vector) => bitsOf(valuesOf(vector)).join()),
        expected,
      )
      assert.equal(answer.attempts, upstream.calls.length)
      for (const [id, peak] of upstream.peaks) {
        assert.ok(
          peak <= (deployments[Number(id.slice(1))]?.maxParallelCalls ?? 0),
          `${peak} calls at once on ${id}`,
        )
      }
      const servedBy = new Set(upstream.served.map(({ call }) => call.deployment.id))
      assert.deepEqual(new Set(answer.deployments), servedBy)
      // Every distinct input was served once, and only once.
      const served = upstream.served.flatMap(({ call: { inputs } }) => textsIn(inputs))
      assert.equal(served.length, new Set(textsIn(input)).size)
      assert.equal(new Set(served).size, served.length)
      assertUsage(given, answer, upstream)
    }),
    MANY_RUNS,
  )
})

test('whatever an upstream can count, its count is divided without loss: k times each text is k times its usage', async () => {
  const repeated = fc.record({
    texts: fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 }),
    repeats: fc.integer({ min: 1, max: 4 }),
    maxInputs: fc.integer({ min: 1, max: 5 }),
    counts: fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 5 }),
  })
  await fc.assert(
    fc.asyncProperty(repeated, async ({ texts, repeats, maxInputs, counts }) => {
      let calls = 0
      const upstream = new MemoryUpstream({
        // A text of one byte and the eight tokens that servers may put around it: no more can be counted.
        usage: (_, texts) => ({
          kind: 'measured',
          tokens: Math.min(counts[calls++ % counts.length] as number, 9 * texts.length),
        }),
      })
      const input: Input = { kind: 'texts', texts: Array.from({ length: repeats }, () => texts).flat() }
      const model = aModel({ deployments: [aDeployment({ capabilities: { maxInputs } })] })
      const { usage } = await embedInMemory(aRequest({ input }), model, upstream)
      assert.equal(usage.promptTokens, billedTokens(upstream) * repeats)
    }),
    MANY_RUNS,
  )
})

test('a count above what is expected is charged up to four times that, told as it came, and called an estimate beyond', async () => {
  const price = { kind: 'perToken', nanoUsdPerMillionTokens: 1_000_000_000_000n } as const
  const model = aModel({ deployments: [aDeployment({ price })], facts: { maxInputTokens: 100 } })
  const inputs = fc.oneof(
    fc
      .uniqueArray(fc.string({ minLength: 1, maxLength: 200 }), { minLength: 1, maxLength: 8 })
      .map((texts) => ({
        input: { kind: 'texts', texts } satisfies Input,
        most: texts.reduce((sum, text) => sum + 8 + Math.min(100, Buffer.byteLength(text)), 0),
      })),
    fc.array(fc.nat(999), { minLength: 1, maxLength: 20 }).map((ids) => ({
      input: { kind: 'tokens', tokens: [Uint32Array.from(ids)] } satisfies Input,
      most: ids.length,
    })),
  )
  const count = fc.oneof(fc.nat(2000), fc.maxSafeNat())
  await fc.assert(
    fc.asyncProperty(inputs, count, async ({ input, most }, drawn) => {
      // Fewer tokens than inputs are no count at all.
      const tokens = Math.max(drawn, inputCount(input))
      const overcounts: Overcount[] = []
      const upstream = new MemoryUpstream({ usage: () => ({ kind: 'measured', tokens }) })
      const { usage } = await embedInMemory(aRequest({ input }), model, upstream, { overcounts })
      const charged = Math.min(tokens, 4 * most)
      assert.equal(usage.promptTokens, tokens)
      assert.deepEqual(usage.cost, { kind: 'known', nanoUsd: BigInt(charged) * 1_000_000n })
      assert.equal(usage.source, tokens > charged ? 'estimated' : 'upstream')
      assert.deepEqual(
        overcounts.map(({ excessTokens, cutTokens }) => [excessTokens, cutTokens]),
        tokens > most ? [[tokens - most, tokens - charged]] : [],
      )
    }),
    MANY_RUNS,
  )
})

test('where the upstream does not count, Torana estimates and says so', async () => {
  const upstream = new MemoryUpstream({ usage: () => ({ kind: 'unknown' }) })
  const input: Input = { kind: 'texts', texts: ['four', 'eight888', 'four'] }
  const { usage } = await embedInMemory(aRequest({ input }), aModel(), upstream)
  assert.deepEqual(usage, { promptTokens: 4, source: 'estimated', cost: { kind: 'unpriced' } })
})

/** One request that must fail, and the fault that its caller gets. */
async function faultOf(
  asked: Parameters<typeof aRequest>[0],
  model: ModelOverrides,
  options: MemoryUpstreamOptions & Journey = {},
): Promise<{ fault: Fault; upstream: MemoryUpstream }> {
  const upstream = new MemoryUpstream(options)
  try {
    await embedInMemory(aRequest(asked), aModel(model), upstream, options)
  } catch (error) {
    if (error instanceof Fault) return { fault: error, upstream }
    throw error
  }
  throw new Error('there was no fault')
}

const three: readonly DeploymentOverrides[] = [0, 1, 2].map((priority) => ({ id: `d${priority}`, priority }))

test('a refusal of the request or its content is final: no other deployment is asked', async () => {
  for (const kind of ['refused', 'contentRefused'] as const) {
    const { fault, upstream } = await faultOf(
      {},
      { deployments: three.map(aDeployment) },
      { plan: () => kind },
    )
    assert.equal(upstream.calls.length, 1)
    assert.equal(fault.entry.status, 400)
  }
})

test('when every deployment fails, each was tried once and the last one’s failure is told', async () => {
  const { fault, upstream } = await faultOf(
    {},
    { deployments: three.map(aDeployment) },
    { plan: () => 'failed' },
  )
  assert.deepEqual(
    upstream.calls.map(({ deployment }) => deployment.id),
    ['d0', 'd1', 'd2'],
  )
  assert.equal(fault.code, 'upstream_failed')
  assert.match(fault.message, /^d2 failed.*last of 3 attempts/)
})

test('no more deployments are tried than the limit allows', async () => {
  const { upstream } = await faultOf(
    {},
    { deployments: three.map(aDeployment) },
    { plan: () => 'failed', limits: { maxAttempts: 2 } },
  )
  assert.equal(upstream.calls.length, 2)
})

test('a connection cut before any answer is tried once more on the only deployment; other failures are not', async () => {
  for (const [kind, calls] of [
    ['unreachable', 2],
    ['failed', 1],
    ['timedOut', 1],
    ['broken', 1],
    ['rateLimited', 1],
  ] as const) {
    const { upstream } = await faultOf({}, {}, { plan: () => kind })
    assert.equal(upstream.calls.length, calls, kind)
  }
})

test('no call is begun after the time of the request has run out', async () => {
  let nowMs = 0
  const { fault, upstream } = await faultOf(
    {},
    { deployments: three.map(aDeployment) },
    { plan: () => ((nowMs += 1000), 'failed'), monotonicMs: () => nowMs, limits: { requestTimeoutMs: 1500 } },
  )
  assert.equal(fault.code, 'upstream_timeout')
  assert.deepEqual(
    upstream.calls.map(({ timeoutMs }) => timeoutMs),
    [1500, 500],
  )
})

test('the caller’s own time-out shortens ours, with a moment left to read the answer', async () => {
  for (const [callerTimeoutMs, timeoutMs] of [
    [10_000, 9750],
    [300, 150],
    [3_600_000, 30_000],
  ] as const) {
    const upstream = new MemoryUpstream()
    await embedInMemory(aRequest(), aModel(), upstream, { callerTimeoutMs })
    assert.equal(upstream.calls[0]?.timeoutMs, timeoutMs)
  }
})

test('after one part has failed for good, no further part is begun', async () => {
  const input: Input = { kind: 'texts', texts: Array.from({ length: 50 }, (_, index) => `text ${index}`) }
  const deployments = [aDeployment({ capabilities: { maxInputs: 1, maxParallelCalls: 2 } })]
  const { upstream } = await faultOf(
    { input },
    { deployments },
    { plan: (_, number) => (number === 3 ? 'refused' : undefined), loopRounds: [1, 3] },
  )
  assert.ok(upstream.calls.length <= 6, String(upstream.calls.length))
})

test('a request with a field that ties inputs together is sent whole, repeats included, or refused', async () => {
  const input: Input = { kind: 'texts', texts: ['a', 'b', 'a'] }
  const upstream = new MemoryUpstream()
  const tied = { input, extraFields: { late_chunking: true } }
  await embedInMemory(aRequest(tied), aModel(), upstream)
  assert.deepEqual(
    upstream.calls.map(({ inputs }) => inputs),
    [input],
  )
  const { fault } = await faultOf(tied, { deployments: [aDeployment({ capabilities: { maxInputs: 2 } })] })
  assert.deepEqual([fault.code, fault.param], ['request_not_splittable', 'late_chunking'])
})

test('every call is recorded with how it ended, and never with its texts', async () => {
  const records: CallRecord[] = []
  const upstream = new MemoryUpstream({ plan: (_, number) => (number === 0 ? 'failed' : undefined) })
  const input: Input = { kind: 'texts', texts: ['canary one', 'canary two'] }
  await embedInMemory(aRequest({ input }), aModel({ deployments: three.map(aDeployment) }), upstream, {
    records,
  })
  assert.deepEqual(
    records.map(({ deployment, outcome, inputs }) => [deployment, outcome, inputs]),
    [
      ['d0', 'failed', 2],
      ['d1', 'ok', 2],
    ],
  )
  assert.doesNotMatch(JSON.stringify(records), /canary/)
})

test('an input with more tokens than the model reads is named, and nothing is sent', async () => {
  const facts = { maxInputTokens: 4, tokenCounts: 'exact' } as const
  for (const input of [
    { kind: 'texts', texts: ['short', 'this text has more than four tokens'] },
    { kind: 'tokens', tokens: [[1], [1, 2, 3, 4, 5]] },
  ] as const) {
    const { fault, upstream } = await faultOf({ input }, { facts })
    assert.deepEqual([fault.code, fault.param, upstream.calls.length], ['input_too_long', 'input[1]', 0])
  }
})

test('a text that is too long by its bytes is refused without counting; others are counted up to the limit', async () => {
  const facts = { maxInputTokens: 100, tokenCounts: 'exact' } as const
  const asked: number[] = []
  const counted: TokenCounter = {
    ...memoryTokens,
    async count(texts, tokenizer, asker) {
      asked.push(asker.most)
      return memoryTokens.count(texts, tokenizer, asker)
    },
  }
  const ask = (text: string) =>
    faultOf({ input: { kind: 'texts', texts: ['short', text] } }, { facts }, { tokens: counted })
  const { fault } = await ask('x'.repeat(100 * 128 + 1))
  assert.deepEqual([fault.code, fault.param, asked], ['input_too_long', 'input[1]', []])
  assert.match(fault.message, /has more than 100 tokens; '.*' reads at most 100/)
  assert.equal((await ask('é '.repeat(4000))).fault.code, 'input_too_long')
  assert.deepEqual(asked, [102])
})

test('counting has the time of the request, and a paid answer is not lost for a count', async () => {
  const asked: CountAsker[] = []
  const late: TokenCounter = {
    ...memoryTokens,
    async count(_texts, _tokenizer, asker) {
      asked.push(asker)
      throw new ThreadBusy('late', 'no time')
    },
  }
  const request = aRequest({ input: { kind: 'texts', texts: ['a b c d e f', 'g'] } })
  const limited = aModel({ facts: { maxInputTokens: 4, tokenCounts: 'exact' } })
  const journey = { tokens: late, callerTimeoutMs: 10_250 }
  await assert.rejects(embedInMemory(request, limited, new MemoryUpstream(), journey), { kind: 'late' })
  assert.deepEqual(asked, [{ project: 'p', timeoutMs: 10_000, most: 5 }])
  const silent = new MemoryUpstream({ usage: () => ({ kind: 'unknown' }) })
  const { usage } = await embedInMemory(request, aModel(), silent, journey)
  assert.deepEqual([usage.source, usage.promptTokens], ['estimated', 4])
})

test('a token id that nobody knows is named by its place in the request', async () => {
  const tokens = [[1], [1], [2, 1_000_000]]
  const { fault } = await faultOf(
    { input: { kind: 'tokens', tokens } },
    { deployments: [aDeployment({ capabilities: { tokenArrays: false } })] },
  )
  assert.deepEqual([fault.code, fault.param], ['invalid_input', 'input[2]'])
})

test('one request never runs more calls at once on a deployment than it allows, not even on failover', async () => {
  const input: Input = { kind: 'texts', texts: Array.from({ length: 48 }, (_, index) => `text ${index}`) }
  const deployments = [
    aDeployment({ id: 'first', priority: 0, capabilities: { maxInputs: 12, maxParallelCalls: 4 } }),
    aDeployment({ id: 'second', priority: 1, capabilities: { maxInputs: 1, maxParallelCalls: 2 } }),
  ]
  const upstream = new MemoryUpstream({
    plan: ({ deployment }) => (deployment.id === 'first' ? 'failed' : undefined),
    loopRounds: [3],
  })
  await embedInMemory(aRequest({ input }), aModel({ deployments }), upstream)
  assert.deepEqual(Object.fromEntries(upstream.peaks), { first: 4, second: 2 })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import fc from 'fast-check'
import type { Input } from '#core/embedding/input.ts'
import { truncate, valuesOf } from '#core/embedding/vector.ts'
import type { FailureKind } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { ENTRY_OVERHEAD_BYTES, MemoryVectorCache } from '#stores/memory/vector-cache.ts'
import { bitsOf, runs } from '#test/support/arbitraries.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { decoded, MemoryUpstream } from '#test/support/embedding.ts'
import { aModel, type ModelOverrides } from '#test/support/models.ts'
import { SharingNode } from '#test/support/sharing.ts'
import { tokensOf, vectorOf } from '../../../../lab/fake-provider/vectors.ts'
import type { EmbedResult } from './embed-result.ts'
import type { CacheUse } from './embed.ts'
import { Flights } from './shared-vectors.ts'

const BAD = 'bad'
/** Few, so that callers meet. */
const WORDS = ['a', 'b', 'cc', 'ddddddd', 'é é é', BAD]
const TOKENS = [[1], [2, 1], [1, 2], Uint32Array.of(1, 2), [3, 4, 5]]

const texts = fc
  .array(fc.nat(WORDS.length * 3), { minLength: 1, maxLength: 4 })
  // The bad one seldom.
  .map((picks): Input => ({ kind: 'texts', texts: picks.map((at) => WORDS[at] ?? WORDS[at % 5] ?? '') }))
const tokens = fc
  .array(fc.nat(TOKENS.length - 1), { minLength: 1, maxLength: 3 })
  .map((picks): Input => ({ kind: 'tokens', tokens: picks.map((at) => TOKENS[at] ?? [1]) }))

const caller = fc.record({
  input: fc.oneof({ weight: 4, arbitrary: texts }, { weight: 1, arbitrary: tokens }),
  project: fc.constantFrom('p', 'p', 'q'),
  dimensions: fc.constantFrom(undefined, undefined, 3, 8),
  encoding: fc.constantFrom('float' as const, 'base64' as const),
  cacheUse: fc.constantFrom<CacheUse>('usual', 'usual', 'usual', 'fresh', 'none'),
  isTied: fc.nat(7).map((value) => value === 0),
  user: fc.constantFrom(undefined, undefined, 'somebody'),
})
type Caller = typeof caller extends fc.Arbitrary<infer Value> ? Value : never

const situation = fc.record({
  /** Rounds of concurrent callers; time passes between them. */
  rounds: fc.array(fc.array(caller, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }),
  passMs: fc.constantFrom(0, 400, 1000),
  hasCache: fc.nat(4).map((value) => value > 0),
  entries: fc.constantFrom(0, 1, 3, 1000),
  microBatch: fc.option(
    fc.record({
      maxWaitMs: fc.constant(1),
      maxItems: fc.integer({ min: 2, max: 6 }),
      acrossProjects: fc.boolean(),
    }),
    { nil: undefined },
  ),
  maxInputs: fc.constantFrom(1, 3, 2048),
  nativeAt: fc.constantFrom(undefined, 0, 1),
  outcomes: fc.array(
    fc.option(fc.constantFrom<FailureKind>('failed', 'broken', 'rateLimited', 'unreachable', 'timedOut'), {
      freq: 2,
      nil: undefined,
    }),
    { minLength: 1, maxLength: 4 },
  ),
  loopRounds: fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }),
})
type Situation = typeof situation extends fc.Arbitrary<infer Value> ? Value : never

function modelFor({ hasCache, microBatch, maxInputs, nativeAt }: Situation) {
  return aModel({
    facts: { matryoshka: true },
    cache: hasCache ? { ttlMs: 1000 } : undefined,
    microBatch,
    deployments: [0, 1].map((priority) =>
      aDeployment({
        id: `d${priority}`,
        priority,
        price: { kind: 'perToken', nanoUsdPerMillionTokens: 1_000_000n },
        capabilities: {
          maxInputs,
          dimensions: nativeAt === priority ? { kind: 'range', min: 1, max: 8 } : { kind: 'none' },
        },
      }),
    ),
  })
}

function textsIn(input: Input): readonly string[] {
  return input.kind === 'texts' ? input.texts : input.kind === 'tokens' ? input.tokens.map(decoded) : []
}

function tokensIn(input: Input): number {
  const counts =
    input.kind === 'texts'
      ? input.texts.map(tokensOf)
      : input.kind === 'tokens'
        ? input.tokens.map(({ length }) => length)
        : []
  return counts.reduce((sum, count) => sum + count, 0)
}

const wholes = new Map<string, Float32Array>()
function wholeOf(text: string): Float32Array {
  const whole = wholes.get(text) ?? vectorOf(text, 8)
  wholes.set(text, whole)
  return whole
}

function bitsIn({ vectors }: EmbedResult): string[] {
  return vectors.map((vector) => bitsOf(valuesOf(vector)).join())
}

function assertAnswer({ input, dimensions }: Caller, answer: EmbedResult): void {
  const expected = textsIn(input).map((text) =>
    bitsOf(dimensions === 3 ? truncate(wholeOf(text), 3) : wholeOf(text)).join(),
  )
  assert.deepEqual(bitsIn(answer), expected)
  assert.equal(answer.usage.promptTokens, tokensIn(input))
  const { cache } = answer
  if (cache !== undefined) assert.equal(cache.hits + cache.misses, expected.length)
}

async function askOne(node: SharingNode, asking: Caller): Promise<void> {
  const { input, dimensions, encoding, user, isTied, project, cacheUse } = asking
  const extraFields = isTied ? { late_chunking: true } : {}
  const isBad = textsIn(input).includes(BAD)
  try {
    const answer = await node.ask({ input, dimensions, encoding, user, extraFields }, project, { cacheUse })
    assert.ok(!isBad, 'a refused text has no vector')
    assertAnswer(asking, answer)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    if (error.code === 'request_not_splittable') assert.ok(isTied)
    else assert.deepEqual([isBad, error.entry.status], [true, 400], error.message)
  }
}

const eachGetsItsOwn = fc.asyncProperty(situation, async (given) => {
  const { outcomes } = given
  const upstream = new MemoryUpstream({
    loopRounds: given.loopRounds,
    plan: ({ deployment, inputs }, number) => {
      if (inputs.kind === 'texts' && inputs.texts.includes(BAD)) return 'refused'
      // The last deployment never fails, so that there is an answer.
      return deployment.priority === 1 ? undefined : outcomes[number % outcomes.length]
    },
  })
  const node = new SharingNode(modelFor(given), upstream, {
    maxBytes: given.entries * (ENTRY_OVERHEAD_BYTES + 32),
  })
  for (const round of given.rounds) {
    await Promise.all(round.map((asking) => askOne(node, asking)))
    node.clock.ms += given.passMs
  }
  // Requests that failed are written to the ledger after they have ended.
  await yieldLoop()
  assert.deepEqual(upstream.violations, [])
  const paid = node.paidByCall()
  assert.equal(paid.size, upstream.served.length)
  for (const { call, usage } of upstream.served) {
    assert.ok(usage.kind === 'measured')
    assert.equal(paid.get(call.callId)?.tokens, usage.tokens)
  }
})

// Before the first test is declared: from then on the runner follows every promise,
// which takes several times as long, as do the traces of planned failures.
const { stackTraceLimit } = Error
Error.stackTraceLimit = 0
const outcome = await fc.check(eachGetsItsOwn, runs(50_000))
Error.stackTraceLimit = stackTraceLimit

test('any callers at once × cache × flights × batches × failures: each gets the vectors of its very texts, in order, and what a call used is divided without loss', async () => {
  assert.equal(await fc.asyncDefaultReportMessage(outcome), undefined)
})

const some = (texts: readonly string[]): Input => ({ kind: 'texts', texts })

function cached(overrides: ModelOverrides = {}): ReturnType<typeof aModel> {
  return aModel({ cache: { ttlMs: 1000 }, ...overrides })
}

function textsOfCalls({ calls }: MemoryUpstream): (readonly string[])[] {
  return calls.map(({ inputs }) => textsIn(inputs))
}

test('partial hits, repeats and a shuffled order: no text is given another’s vector, and only what is unknown is sent, once', async () => {
  const upstream = new MemoryUpstream()
  const node = new SharingNode(cached(), upstream)
  await node.ask({ input: some(['b', 'd']) })
  const asked = ['d', 'a', 'b', 'a', 'd', 'c', 'b', 'a']
  const answer = await node.ask({ input: some(asked) })
  assert.deepEqual(
    bitsIn(answer),
    asked.map((text) => bitsOf(vectorOf(text, 8)).join()),
  )
  assert.deepEqual(textsOfCalls(upstream), [
    ['b', 'd'],
    ['a', 'c'],
  ])
  assert.deepEqual(answer.cache, { hits: 4, misses: 4 })
  assert.deepEqual(answer.deployments, ['embed-w8/test', 'cache'])
})

test('a text kept from a list serves the same text alone, and the other way round', async () => {
  const upstream = new MemoryUpstream()
  const node = new SharingNode(cached(), upstream)
  for (const [texts, calls] of [
    [['a'], 1],
    [['a'], 1],
    [['a', 'b'], 2],
    [['b'], 2],
  ] as const) {
    const answer = await node.ask({ input: some(texts) })
    assert.deepEqual(
      bitsIn(answer),
      texts.map((text) => bitsOf(vectorOf(text, 8)).join()),
    )
    assert.equal(upstream.calls.length, calls)
  }
})

test('however many texts a request has, the cache is asked once', async () => {
  const asked: number[] = []
  class CountingCache extends MemoryVectorCache {
    override getMany(digests: readonly string[]): ReturnType<MemoryVectorCache['getMany']> {
      asked.push(digests.length)
      return super.getMany(digests)
    }
  }
  const cache = new CountingCache({ maxBytes: 1e9, clock: { monotonicMs: () => 0 } })
  const node = new SharingNode(cached(), new MemoryUpstream(), { cache })
  const many = Array.from({ length: 2000 }, (_, index) => `text ${index}`)
  await node.ask({ input: some(many) })
  const again = await node.ask({ input: some([...many, ...many.slice(0, 48)]) })
  assert.deepEqual(asked, [2000, 2000])
  assert.deepEqual(again.cache, { hits: 2048, misses: 0 })
})

test('a vector is served for the time to live of now: one that was kept for longer is made again', async () => {
  const upstream = new MemoryUpstream()
  const before = new SharingNode(cached({ cache: { ttlMs: 60_000 } }), upstream)
  const { cache } = before
  const after = new SharingNode(cached({ cache: { ttlMs: 1000 } }), upstream, { cache })
  await before.ask({ input: some(['a']) })
  for (const [passMs, calls] of [
    [999, 1],
    [1, 2],
  ] as const) {
    for (const { clock } of [before, after]) clock.ms += passMs
    await after.ask({ input: some(['a']) })
    assert.equal(upstream.calls.length, calls)
  }
})

test('a request waits only for one that ends by its own deadline', () => {
  const flights = new Flights()
  const end = flights.begin('a', 2000)
  for (const [deadlineMs, isJoined] of [
    [1999, false],
    [2000, true],
    [2001, true],
  ] as const)
    assert.equal(flights.get('a', deadlineMs) !== undefined, isJoined, `${deadlineMs}`)
  end?.({ error: undefined })
  assert.equal(flights.get('a', 2000), undefined)
})

test('what another request waits for is not asked for again; should that one fail, it is, by one of those who wait', async () => {
  for (const fails of [false, true]) {
    const upstream = new MemoryUpstream({
      loopRounds: [4],
      plan: (_, number) => (fails && number === 0 ? 'failed' : undefined),
    })
    const node = new SharingNode(cached(), upstream)
    const [first, ...others] = await Promise.allSettled(
      Array.from({ length: 3 }, () => node.ask({ input: some(['a']) })),
    )
    assert.equal(first?.status, fails ? 'rejected' : 'fulfilled')
    for (const { status } of others) assert.equal(status, 'fulfilled')
    assert.equal(upstream.calls.length, fails ? 2 : 1)
  }
})

test('a text that fails twice has failed for all who wait for it: they do not try one after another', async () => {
  const upstream = new MemoryUpstream({ loopRounds: [4], plan: () => 'failed' })
  const node = new SharingNode(cached(), upstream)
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => node.ask({ input: some(['a']) })),
  )
  assert.ok(outcomes.every(({ status }) => status === 'rejected'))
  assert.equal(upstream.calls.length, 2)
})

test('what comes from another’s call is not used when its deployment was found outside the space meanwhile', async () => {
  const upstream = new MemoryUpstream({ loopRounds: [4] })
  const node = new SharingNode(cached(), upstream, { isTrusted: () => false })
  const answers = await Promise.all([node.ask({ input: some(['a']) }), node.ask({ input: some(['a']) })])
  assert.equal(upstream.calls.length, 2)
  assert.deepEqual(
    answers.map(({ cache }) => cache?.hits),
    [0, 0],
  )
})

test('a deployment that makes narrow vectors itself and one whose vectors are cut never mix widths', async () => {
  const native = { kind: 'range', min: 1, max: 8 } as const
  for (const nativeFirst of [false, true]) {
    const deployments = [0, 1].map((priority) =>
      aDeployment({
        id: `d${priority}`,
        priority,
        capabilities: { dimensions: (priority === 0) === nativeFirst ? native : { kind: 'none' } },
      }),
    )
    const model = aModel({
      facts: { matryoshka: true },
      deployments,
      microBatch: { maxWaitMs: 1, maxItems: 2, acrossProjects: true },
    })
    const upstream = new MemoryUpstream({
      loopRounds: [4],
      plan: ({ deployment }) => (deployment.id === 'd0' ? 'failed' : undefined),
    })
    const node = new SharingNode(model, upstream)
    const asked = [3, undefined, 3, undefined]
    const answers = await Promise.all(asked.map((dimensions) => node.ask({ input: some(['a']), dimensions })))
    assert.deepEqual(
      answers.map(({ vectors: [vector] }) => vector && valuesOf(vector).length),
      [3, 8, 3, 8],
    )
  }
})

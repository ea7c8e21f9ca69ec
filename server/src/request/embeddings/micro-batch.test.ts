import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import { valuesOf } from '#core/embedding/vector.ts'
import { UpstreamFailure, type FailureKind } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { bitsOf } from '#test/support/arbitraries.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { MemoryUpstream, type MemoryUpstreamOptions, type Plan } from '#test/support/embedding.ts'
import { aModel, type ModelOverrides } from '#test/support/models.ts'
import { aKey, SharingNode, type SharingNodeOptions } from '#test/support/sharing.ts'
import { tokensOf, vectorOf } from '../../../../lab/fake-provider/vectors.ts'
import type { EmbedResult } from './embed-result.ts'
import { RequestTrace } from '#core/request/request-trace.ts'
import type { EmbedOptions } from './embed.ts'

const microBatch = { maxWaitMs: 4, maxItems: 64, acrossProjects: true }

function start(
  options: MemoryUpstreamOptions & SharingNodeOptions = {},
  model: ModelOverrides = {},
): { readonly node: SharingNode; readonly upstream: MemoryUpstream } {
  const upstream = new MemoryUpstream(options)
  return { upstream, node: new SharingNode(aModel({ microBatch, ...model }), upstream, options) }
}

function ask(
  node: SharingNode,
  texts: readonly string[],
  project = 'p',
  options: Partial<EmbedOptions> = {},
): Promise<EmbedResult> {
  return node.ask({ input: { kind: 'texts', texts } }, project, options)
}

function assertVectors({ vectors }: EmbedResult, texts: readonly string[]): void {
  assert.deepEqual(
    vectors.map((vector) => bitsOf(valuesOf(vector))),
    texts.map((text) => bitsOf(vectorOf(text, 8))),
  )
}

const word = (index: number): string => `text ${index}`
const words = (count: number): string[] => Array.from({ length: count }, (_, index) => word(index))
const textsOf = ({ calls }: MemoryUpstream): (readonly string[])[] =>
  calls.map(({ inputs }) => (inputs.kind === 'texts' ? inputs.texts : []))
const holds =
  (bad: string): NonNullable<MemoryUpstreamOptions['plan']> =>
  ({ inputs }) =>
    inputs.kind === 'texts' && inputs.texts.includes(bad) ? 'refused' : undefined

test('requests that come together share one call; each gets its own vectors, usage and row with the same call id', async () => {
  const { node, upstream } = start({ usage: () => ({ kind: 'measured', tokens: 67 }) })
  const lists = [['a', 'bb'], ['ccccccccc'], ['dd', 'a b c d', 'e']]
  const answers = await Promise.all(lists.map((texts) => ask(node, texts)))
  for (const [index, answer] of answers.entries()) assertVectors(answer, lists[index] ?? [])
  assert.deepEqual(textsOf(upstream), [lists.flat()])
  const rows = node.memory.entries()
  assert.equal(rows.length, 3)
  assert.equal(new Set(rows.map(({ requestId }) => requestId)).size, 3)
  assert.deepEqual(new Set(rows.map(({ callId }) => callId)), new Set([upstream.calls[0]?.callId]))
  assert.equal(
    rows.reduce((sum, { tokens = 0 }) => sum + tokens, 0),
    67,
  )
  assert.deepEqual(
    answers.map(({ usage }) => usage.promptTokens).toSorted((a, b) => a - b),
    rows.map(({ tokens = 0 }) => tokens).toSorted((a, b) => a - b),
  )
})

test('a count that a shared call can not have used is cut, and no member is charged more than four times what is expected of it', async () => {
  for (const tokens of [9, 60, 70, 71, 280, 281, Number.MAX_SAFE_INTEGER]) {
    const { node } = start({ usage: () => ({ kind: 'measured', tokens }) })
    const lists = [['a', 'bb'], ['ccccccccc'], ['dd', 'a b c d', 'e']]
    await Promise.all(lists.map((texts, index) => ask(node, texts, `p${index}`)))
    const rows = node.memory.entries().toSorted((a, b) => (a.project < b.project ? -1 : 1))
    // A token has at least one byte, and a server puts at most eight around a text.
    const most = lists.map((texts) => texts.reduce((sum, text) => sum + 8 + text.length, 0))
    const times = tokens > 70 ? 4 : 1
    assert.ok(rows.every((row, index) => (row.tokens ?? 0) <= times * (most[index] ?? 0)))
    assert.equal(
      rows.reduce((sum, row) => sum + (row.tokens ?? 0), 0),
      Math.min(tokens, 280),
    )
    assert.ok(rows.every(({ usage }) => usage === (tokens > 280 ? 'estimated' : 'upstream')))
    const reported = rows.reduce((sum, { remarks }) => sum + (remarks?.reportedTokens ?? 0), 0)
    assert.equal(reported, tokens > 280 ? tokens : 0)
  }
})

test('a refused call is taken apart: only the sender of the bad text is refused, in few calls', async () => {
  for (const bad of [0, 31, 63]) {
    const { node, upstream } = start({ plan: holds(word(bad)) })
    const outcomes = await Promise.allSettled(words(64).map((text) => ask(node, [text])))
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') assertVectors(outcome.value, [word(index)])
      else assert.deepEqual([index, (outcome.reason as Fault).entry.status], [bad, 400])
    }
    assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 1)
    // Two halves for each of six levels, and the whole.
    assert.ok(upstream.calls.length <= 13, String(upstream.calls.length))
    const paid = node.paidByCall()
    for (const { call, usage } of upstream.served)
      assert.equal(paid.get(call.callId)?.tokens, usage.kind === 'measured' ? usage.tokens : undefined)
  }
})

test('when every text is bad, the calls are still fewer than two for each request', async () => {
  const { node, upstream } = start({ plan: () => 'contentRefused' })
  const outcomes = await Promise.allSettled(words(16).map((text) => ask(node, [text])))
  assert.ok(outcomes.every(({ status }) => status === 'rejected'))
  // The shared call, eight for halves, and one for each request.
  assert.equal(upstream.calls.length, 25)
})

test('a member whose money is gone by the time of the call does not spoil the others', async () => {
  const price = { kind: 'perToken', nanoUsdPerMillionTokens: 1_000_000_000n } as const
  const { node, upstream } = start(
    { plan: (_, number) => (number === 0 ? 'broken' : undefined) },
    { deployments: [0, 1].map((priority) => aDeployment({ id: `d${priority}`, priority, price })) },
  )
  // For one call, not for two: what the first may have cost stays reserved.
  const limitNanoUsd = 1000n * BigInt(Buffer.byteLength('poor'))
  const budgets = [{ id: 'project:poor', limitNanoUsd, per: 'total', hard: true }] as const
  const outcomes = await Promise.allSettled([
    ...['a', 'b'].map((text) => ask(node, [text], 'rich')),
    ask(node, ['poor'], 'poor', { key: aKey('poor', { budgets }) }),
    ...['c', 'd'].map((text) => ask(node, [text], 'rich')),
  ])
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'ok' : (outcome.reason as Fault).code)),
    ['ok', 'ok', 'budget_exhausted', 'ok', 'ok'],
  )
  assert.ok(upstream.calls.length <= 4)
  assert.ok(upstream.calls.slice(1).every((call) => call.deployment.id === 'd1'))
})

test('a failing deployment fails over for the whole batch at once', async () => {
  const { node, upstream } = start(
    { plan: ({ deployment }) => (deployment.id === 'd0' ? 'failed' : undefined) },
    { deployments: [0, 1].map((priority) => aDeployment({ id: `d${priority}`, priority })) },
  )
  const answers = await Promise.all(words(8).map((text) => ask(node, [text])))
  for (const [index, answer] of answers.entries()) {
    assertVectors(answer, [word(index)])
    assert.deepEqual([answer.attempts, answer.deployments], [2, ['d1']])
  }
  assert.deepEqual(textsOf(upstream), [words(8), words(8)])
})

test('when all deployments fail, each member hears of it, after as many tries as alone', async () => {
  for (const [kind, calls] of [
    ['unreachable', 2],
    ['rateLimited', 1],
    // The shared call, and one for each member.
    ['timedOut', 5],
  ] as const) {
    const { node, upstream } = start({ plan: () => kind })
    const outcomes = await Promise.allSettled(words(4).map((text) => ask(node, [text])))
    for (const outcome of outcomes)
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof Fault)
    assert.equal(upstream.calls.length, calls, kind)
  }
})

test('a text that an upstream chokes on costs only its sender an answer', async () => {
  const { node, upstream } = start({
    plan: ({ inputs }) => (inputs.kind === 'texts' && inputs.texts.includes(word(5)) ? 'broken' : undefined),
  })
  const outcomes = await Promise.allSettled(words(16).map((text) => ask(node, [text])))
  assert.deepEqual(
    outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : [])),
    [5],
  )
  assert.equal(upstream.calls.length, 9)
})

/** An upstream that fails for some texts in one way, and quotes all texts of the call in every message. */
function quoting(kind: FailureKind, status: number | undefined, isBad: (text: string) => boolean): Plan {
  return ({ inputs, deployment }) => {
    const texts = inputs.kind === 'texts' ? inputs.texts : []
    if (!texts.some(isBad)) return undefined
    const words = texts.join(', ')
    throw new UpstreamFailure(kind, words, {
      deployment: deployment.id,
      status,
      code: words,
      param: words,
      upstreamRequestId: words,
    })
  }
}

const QUOTED_FAILURES = [
  ['refused', 400],
  ['refused', 413],
  ['refused', 422],
  ['contentRefused', 400],
  ['rejectedUs', 403],
  ['missing', 404],
  ['timedOut', 408],
  ['timedOut', 504],
  ['timedOut', undefined],
  ['failed', 424],
  ['failed', 500],
  ['failed', 503],
  ['broken', undefined],
  ['broken', 200],
] as const

for (const [kind, status] of QUOTED_FAILURES)
  test(`one bad text or ten: what is fine alone succeeds, and nobody reads another's text, after ${kind} ${status ?? ''}`, async () => {
    for (const isBad of [(text: string) => text === word(5), (text: string) => text.endsWith('0')]) {
      const { node, upstream } = start({ plan: quoting(kind, status, isBad) })
      const outcomes = await Promise.allSettled(
        words(64).map((text, index) => ask(node, [text], `p${index % 3}`)),
      )
      for (const [index, outcome] of outcomes.entries()) {
        if (!isBad(word(index))) {
          assert.ok(outcome.status === 'fulfilled', `${index} failed`)
          assertVectors(outcome.value, [word(index)])
        } else {
          assert.ok(outcome.status === 'rejected')
          assertOwnWords(outcome.reason, index)
        }
      }
      assert.ok(upstream.calls.length <= 1 + 32 + 64, String(upstream.calls.length))
    }
  })

for (const [kind, status] of [
  ['timedOut', 504],
  ['timedOut', undefined],
  ['rateLimited', 429],
  ['rejectedUs', 403],
  ['missing', 404],
  ['unreachable', undefined],
  ['failed', 500],
  ['broken', 200],
] as const)
  test(`an upstream that is ill shows nobody another's text, and gets few calls: ${kind} ${status ?? ''}`, async () => {
    const { node, upstream } = start({ plan: quoting(kind, status, () => true) })
    const outcomes = await Promise.allSettled(
      words(16).map((text, index) => ask(node, [text], `p${index % 3}`)),
    )
    for (const [index, outcome] of outcomes.entries()) {
      assert.ok(outcome.status === 'rejected')
      if (status !== undefined) assertOwnWords(outcome.reason, index)
    }
    assert.ok(upstream.calls.length <= 25, String(upstream.calls.length))
  })

test("the log of a request has no words of another project's text, whatever an upstream calls the shared call", async () => {
  const { node } = start({ plan: quoting('refused', 400, (text) => text === word(5)) })
  const traces = words(64).map(() => new RequestTrace(0))
  await Promise.allSettled(
    words(64).map((text, index) =>
      ask(node, [text], `p${index % 3}`, { trace: traces[index] as RequestTrace }),
    ),
  )
  assert.ok(traces.some(({ calls }) => calls.some(({ sharedWith }) => sharedWith > 0)))
  for (const [index, { calls }] of traces.entries())
    for (const [, number] of JSON.stringify(calls).matchAll(/text (\d+)/g))
      assert.equal(Number(number) % 3, index % 3)
})

/** Everything that a fault reveals, in the answer and in the log. */
function assertOwnWords(reason: unknown, index: number): void {
  assert.ok(reason instanceof Fault, String(reason))
  const shown = JSON.stringify([reason.message, reason.param, reason.upstream, String(reason.cause)])
  for (const [quoted] of shown.matchAll(/text \d+/g)) assert.equal(quoted, word(index), shown)
}

for (const kind of [
  'rateLimited',
  'rejectedUs',
  'missing',
  'unreachable',
  'timedOut',
  'failed',
  'broken',
] as const)
  test(`what shares a call is served by another deployment after ${kind}`, async () => {
    const { node, upstream } = start(
      { plan: ({ deployment }) => (deployment.id === 'd0' ? kind : undefined) },
      { deployments: [0, 1].map((priority) => aDeployment({ id: `d${priority}`, priority })) },
    )
    const answers = await Promise.all(words(8).map((text) => ask(node, [text])))
    for (const [index, answer] of answers.entries()) {
      assertVectors(answer, [word(index)])
      assert.deepEqual([answer.attempts, answer.deployments], [2, ['d1']])
    }
    // Together, except after a timeout: a second one would leave no time to separate them.
    assert.equal(upstream.calls.length, kind === 'timedOut' ? 9 : 2)
  })

test('who is in a hurry is not joined with others, whose call would end with its time', async () => {
  const { node, upstream } = start({
    plan: ({ timeoutMs }) => (timeoutMs > 1000 ? undefined : 'timedOut'),
  })
  const outcomes = await Promise.allSettled([
    ask(node, ['a']),
    ask(node, ['hurried'], 'p', { callerTimeoutMs: 400 }),
    ask(node, ['b']),
  ])
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'ok' : (outcome.reason as Fault).code)),
    ['ok', 'upstream_timeout', 'ok'],
  )
  assert.deepEqual(textsOf(upstream), [['hurried'], ['a', 'b']])
})

test('who has no time left when the batch leaves is not in it', async () => {
  const { node, upstream } = start({
    wait: async () => {
      await yieldLoop()
      node.clock.ms += 30_500
    },
  })
  const outcomes = await Promise.allSettled([
    ask(node, ['hurried'], 'p', { callerTimeoutMs: 30_450 }),
    ask(node, ['a']),
    ask(node, ['b']),
  ])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  )
  assert.deepEqual(textsOf(upstream), [['a', 'b']])
})

test('projects share a call only where that is allowed', async () => {
  for (const acrossProjects of [true, false]) {
    const { node, upstream } = start({}, { microBatch: { ...microBatch, acrossProjects } })
    await Promise.all(['p', 'q', 'p', 'q'].map((project, index) => ask(node, [word(index)], project)))
    assert.deepEqual(
      textsOf(upstream),
      acrossProjects
        ? [words(4)]
        : [
            [word(0), word(2)],
            [word(1), word(3)],
          ],
    )
  }
})

test('what a call says beside its inputs is the same for all who share it: user, extra fields and width', async () => {
  const capabilities = { harmlessFields: ['trace'], dimensions: { kind: 'range', min: 1, max: 8 } } as const
  const { node, upstream } = start(
    {},
    { facts: { matryoshka: true }, deployments: [aDeployment({ capabilities })] },
  )
  const variants = [{}, { user: 'x' }, { user: 'y' }, { extraFields: { trace: 1 } }, { dimensions: 3 }]
  const twice = [...variants, ...variants]
  await Promise.all(
    twice.map((variant, index) => node.ask({ ...variant, input: { kind: 'texts', texts: [word(index)] } })),
  )
  assert.deepEqual(
    upstream.calls.map(({ user, extraFields, dimensions }) => [user, extraFields, dimensions]),
    [
      [undefined, {}, undefined],
      ['x', {}, undefined],
      ['y', {}, undefined],
      [undefined, { trace: 1 }, undefined],
      [undefined, {}, 3],
    ],
  )
})

test('no call carries more texts than maxItems, and a full one does not wait', async () => {
  const waits: number[] = []
  const { node, upstream } = start(
    { wait: (ms) => (waits.push(ms), new Promise(() => {})) },
    { microBatch: { ...microBatch, maxWaitMs: 7, maxItems: 4 } },
  )
  const lists = [['a'], ['b', 'c'], ['d', 'e', 'f'], ['g'], ['h', 'i', 'j', 'k', 'l']]
  const answers = await Promise.all(lists.map((texts) => ask(node, texts)))
  for (const [index, answer] of answers.entries()) assertVectors(answer, lists[index] ?? [])
  assert.deepEqual(
    textsOf(upstream).toSorted((one, other) => (one.join() < other.join() ? -1 : 1)),
    [
      ['a', 'b', 'c'],
      ['d', 'e', 'f', 'g'],
      ['h', 'i', 'j', 'k', 'l'],
    ],
  )
  assert.deepEqual(waits, [7, 7])
})

test('a batch that is more than a deployment takes at once is taken apart before it is sent', async () => {
  const { node, upstream } = start({}, { deployments: [aDeployment({ capabilities: { maxInputs: 3 } })] })
  const answers = await Promise.all(words(10).map((text) => ask(node, [text])))
  for (const [index, answer] of answers.entries()) assertVectors(answer, [word(index)])
  assert.deepEqual(upstream.violations, [])
  assert.deepEqual(textsOf(upstream).flat().toSorted(), words(10).toSorted())
  assert.equal(
    answers.reduce((sum, { usage }) => sum + usage.promptTokens, 0),
    words(10).reduce((sum, text) => sum + tokensOf(text), 0),
  )
})

test('whoever comes while a batch stands in line still gets in, up to maxItems', async () => {
  const { node, upstream } = start(
    // The first call is in progress while all others come.
    { loopRounds: [100, 0, 0] },
    {
      microBatch: { ...microBatch, maxItems: 4 },
      deployments: [aDeployment({ limits: { concurrency: 1 } })],
    },
  )
  const answers = [ask(node, ['first'])]
  for (const text of words(6)) {
    // Longer than a batch waits for further requests.
    for (let round = 0; round < 5; round += 1) await yieldLoop()
    answers.push(ask(node, [text]))
  }
  const [, ...others] = await Promise.all(answers)
  for (const [index, answer] of others.entries()) assertVectors(answer, [word(index)])
  assert.deepEqual(textsOf(upstream), [['first'], words(6).slice(0, 4), words(6).slice(4)])
})

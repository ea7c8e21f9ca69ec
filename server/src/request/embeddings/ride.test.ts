import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RIDE_TEXT } from '#core/embedding/probe-texts.ts'
import { valuesOf } from '#core/embedding/vector.ts'
import { bitsOf, runs } from '#test/support/arbitraries.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { MemoryUpstream, type MemoryUpstreamOptions } from '#test/support/embedding.ts'
import { aModel, type ModelOverrides } from '#test/support/models.ts'
import { aKey, SharingNode } from '#test/support/sharing.ts'
import { RidingProbes } from '#worker/spaces/rides.ts'
import { tokensOf, vectorOf } from '../../../../lab/fake-provider/vectors.ts'
import type { EmbedResult } from './embed-result.ts'
import type { EmbedOptions } from './embed.ts'
import { askRide, offerOf } from './probe.ts'

const RIDER = bitsOf(vectorOf(RIDE_TEXT, 8))

/** A node whose calls all have a ride, unless `intervalMs` says otherwise. `judged`: the deployments of rides, in order. */
function start(
  options: MemoryUpstreamOptions & {
    readonly intervalMs?: number
    /** What a ride shows. */
    readonly isOutside?: (deployment: string) => boolean
    /** What is known of it when a call ends. */
    readonly hasLeft?: (deployment: string) => boolean
  } = {},
  overrides: ModelOverrides = {},
) {
  const { intervalMs = 0, isOutside = () => false, hasLeft = () => false } = options
  const upstream = new MemoryUpstream(options)
  const judged: string[] = []
  const model = aModel({ isGuarded: true, ...overrides })
  const node = new SharingNode(model, upstream, {
    rides: (dependencies) =>
      new RidingProbes({
        clock: dependencies.clock,
        intervalMs,
        plainOffer: offerOf,
        ask: (one, deployment) => askRide(one, deployment, dependencies),
        hasReference: () => true,
        isOutside: (_, { id }) => hasLeft(id),
        judge: (_, { id }, { vector }) => {
          judged.push(id)
          assert.deepEqual(bitsOf(vector), RIDER.slice(0, vector.length))
          return !isOutside(id)
        },
      }),
  })
  const ask = (texts: readonly string[], more: Partial<EmbedOptions> = {}): Promise<EmbedResult> =>
    node.ask({ input: { kind: 'texts', texts } }, 'p', more)
  return { node, upstream, judged, ask }
}

const inputsOf = ({ calls }: MemoryUpstream): unknown[] =>
  calls.map(({ inputs }) => (inputs.kind === 'texts' ? inputs.texts : inputs.kind))

test('callers get the bits, the usage and the ledger rows that they would get without a rider, which project system pays for', async () => {
  const lists = fc.array(
    fc.array(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 6 }),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  const microBatch = { maxWaitMs: 4, maxItems: 64, acrossProjects: true }
  await fc.assert(
    fc.asyncProperty(lists, fc.boolean(), fc.boolean(), async (requests, isShared, isCounted) => {
      const usage = isCounted ? {} : { usage: () => ({ kind: 'unknown' as const }) }
      const model = isShared ? { microBatch } : {}
      const plain = start({ ...usage, intervalMs: 1e9 }, { ...model, isGuarded: false })
      const ridden = start(usage, model)
      await ridden.ask(['first'])
      await plain.ask(['first'])
      const [with_, without] = await Promise.all(
        [ridden, plain].map(({ ask }) => Promise.all(requests.map((texts) => ask(texts)))),
      )
      const seen = (results: readonly EmbedResult[] | undefined) =>
        results?.map(({ vectors, usage: used, attempts, extraFields }) => ({
          vectors: vectors.map((vector) => bitsOf(valuesOf(vector))),
          used,
          attempts,
          extraFields,
        }))
      assert.deepEqual(seen(with_), seen(without))
      const rows = ({ node }: typeof plain, project: string) =>
        node.memory
          .entries()
          .filter((row) => row.project === project)
          .map(({ kind, tokens, amountNanoUsd }) => ({ kind, tokens, amountNanoUsd }))
      assert.deepEqual(rows(ridden, 'p'), rows(plain, 'p'))
      assert.ok(ridden.judged.length > 0)
      assert.equal(rows(ridden, 'system').length, ridden.judged.length)
      for (const { kind, tokens } of rows(ridden, 'system'))
        assert.deepEqual([kind, tokens], ['post', tokensOf(RIDE_TEXT)])
      assert.deepEqual(ridden.upstream.violations, [])
    }),
    runs(40),
  )
})

test('if the rider is outside the space, the answers of its call are not returned, and another deployment serves', async () => {
  const deployments = ['one', 'two'].map((id, priority) => aDeployment({ id: `m/${id}`, priority }))
  const { ask, judged, node } = start({ isOutside: (id) => id === 'm/one' }, { deployments })
  const answer = await ask(['a', 'b'])
  assert.deepEqual(answer.deployments, ['m/two'])
  assert.deepEqual(judged, ['m/one', 'm/two'])
  const inputs = node.memory
    .entries()
    .flatMap((row) => (row.project === 'p' ? [[row.deployment, row.inputs]] : []))
  assert.deepEqual(inputs, [
    ['m/one', 0],
    ['m/two', 2],
  ])
})

test('a call in progress when a ride of another call shows the change is answered by another deployment', async () => {
  const deployments = ['one', 'two'].map((id, priority) => aDeployment({ id: `m/${id}`, priority }))
  const left = new Set<string>()
  const { ask, judged, node } = start(
    { intervalMs: 1e9, hasLeft: (id) => left.has(id), plan: () => void left.add('m/one') },
    { deployments },
  )
  const answer = await ask(['a'])
  assert.deepEqual(answer.deployments, ['m/two'])
  assert.equal(answer.attempts, 2)
  assert.ok(judged.includes('m/one'))
  const used = node.memory.entries().filter((row) => row.project === 'p' && row.inputs !== 0)
  assert.deepEqual(
    used.map(({ deployment }) => deployment),
    ['m/two'],
  )
})

test('with no other deployment, the caller gets 503 space_left, and what the call cost is in the ledger once', async () => {
  const { ask, node } = start({ isOutside: () => true })
  for (const texts of [['a'], ['b']]) await assert.rejects(ask(texts), { code: 'space_left' })
  const rows = node.memory.entries().map(({ project, kind }) => `${project} ${kind}`)
  assert.deepEqual(rows.toSorted(), ['p post', 'p post', 'system post', 'system post'])
})

const BESIDE: readonly {
  readonly name: string
  readonly model?: ModelOverrides
  readonly input?: Parameters<SharingNode['ask']>[0]
}[] = [
  { name: 'one text per call', model: { deployments: [aDeployment({ capabilities: { maxInputs: 1 } })] } },
  {
    name: 'no room',
    model: { deployments: [aDeployment({ capabilities: { maxInputs: 2 } })] },
    input: { input: { kind: 'texts', texts: ['a', 'b'] } },
  },
  {
    name: 'token ids',
    model: { deployments: [aDeployment({ capabilities: { tokenArrays: true } })] },
    input: { input: { kind: 'tokens', tokens: [Uint32Array.of(7)] } },
  },
  {
    name: 'another input type',
    model: {
      facts: {
        inputType: {
          rule: 'field',
          field: 'input_type',
          values: { query: 'q', document: 'd' },
          default: 'document',
        },
      },
    },
    input: { inputType: 'query' },
  },
  {
    name: 'a width whose vectors need not begin the longer ones',
    model: { deployments: [aDeployment({ capabilities: { dimensions: { kind: 'list', values: [4] } } })] },
    input: { dimensions: 4 },
  },
  { name: 'a field of unknown effect', input: { extraFields: { task: 'x' } } },
]

for (const { name, model, input } of BESIDE)
  test(`a call that cannot carry a rider gets a call beside it: ${name}`, async () => {
    const { node, upstream, judged } = start({}, model)
    const question = { input: { kind: 'texts', texts: ['a'] }, ...input } as const
    await node.ask(question)
    await node.ask(question)
    assert.equal(judged.length, 2)
    const riders = inputsOf(upstream).filter((texts) => Array.isArray(texts) && texts.includes(RIDE_TEXT))
    assert.deepEqual(riders, [[RIDE_TEXT], [RIDE_TEXT]])
    assert.deepEqual(upstream.violations, [])
  })

test('an upstream that refuses calls with a rider answers without it, and gets a call beside from then on', async () => {
  const { ask, upstream } = start({
    plan: ({ inputs }) =>
      inputs.kind === 'texts' && inputs.texts.length > 1 && inputs.texts.includes(RIDE_TEXT)
        ? 'refused'
        : undefined,
  })
  for (const text of ['a', 'b', 'c']) await ask([text])
  assert.deepEqual(inputsOf(upstream), [[RIDE_TEXT], ['a'], ['b', RIDE_TEXT], ['b'], [RIDE_TEXT], ['c']])
})

test("a caller's own mistake is refused with and without a rider, and says nothing about riders", async () => {
  const { ask, upstream } = start({
    plan: ({ inputs }) => (inputs.kind === 'texts' && inputs.texts.includes('bad') ? 'refused' : undefined),
  })
  await ask(['a'])
  await assert.rejects(ask(['bad']), { code: 'upstream_refused' })
  await ask(['b'])
  assert.deepEqual(inputsOf(upstream).at(-1), ['b', RIDE_TEXT])
})

test('rides come at their interval, in the first call after it; a failed call leaves its ride to the next', async () => {
  let isDown = false
  const { node, ask, judged } = start({ intervalMs: 20_000, plan: () => (isDown ? 'failed' : undefined) })
  const after = async (ms: number): Promise<number> => {
    node.clock.ms += ms
    await ask(['a']).catch(() => {})
    return judged.length
  }
  assert.equal(await after(0), 1)
  assert.equal(await after(19_999), 1)
  assert.equal(await after(1), 2)
  isDown = true
  assert.equal(await after(20_000), 2)
  isDown = false
  assert.equal(await after(999), 2)
  assert.equal(await after(1), 3)
  assert.equal(await after(19_000), 3)
})

test('a busy deployment has more rides: one for each 400 times its tokens, and none within a second of the last', async () => {
  const { node, ask, judged } = start({ intervalMs: 1e9 })
  const text = 'word '.repeat(400)
  const earningCalls = Math.ceil((400 * tokensOf(RIDE_TEXT)) / tokensOf(text))
  const after = async (ms: number, calls: number): Promise<number> => {
    node.clock.ms += ms
    for (let call = 0; call < calls; call += 1) await ask([text])
    return judged.length
  }
  assert.equal(await after(0, 1), 1)
  assert.equal(await after(999, earningCalls), 1)
  assert.equal(await after(1, 1), 2)
  assert.equal(await after(5000, earningCalls - 1), 2)
  assert.equal(await after(5000, 2), 3)
})

test('every call of a batch carries a rider, and none makes a call beside before its time', async () => {
  const { ask, upstream } = start({ intervalMs: 1e9 })
  const labelTerms = { labels: undefined, shares: undefined }
  const background = { batchId: 'b', keyNow: () => aKey('p'), labelTerms }
  for (const text of ['a', 'b', 'c']) await ask([text], { background })
  assert.deepEqual(inputsOf(upstream), [[RIDE_TEXT], ['a'], ['b', RIDE_TEXT], ['c', RIDE_TEXT]])
})

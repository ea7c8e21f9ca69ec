/** Calls that are in progress while their deployment is found outside its space, and what the guard learns of calls. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { MemoryUpstream } from '#test/support/embedding.ts'
import { aModel, type ModelOverrides } from '#test/support/models.ts'
import { SharingNode } from '#test/support/sharing.ts'

/** `leaves`: the deployment that is found outside while it answers. */
function start(leaves: string | undefined, overrides: ModelOverrides = {}) {
  const left = new Set<string>()
  const noted: unknown[] = []
  const upstream = new MemoryUpstream({
    plan: ({ deployment: { id } }: EmbeddingCall) => void (id === leaves && left.add(id)),
  })
  const model = aModel({ isGuarded: true, ...overrides })
  const node = new SharingNode(model, upstream, {
    guard: {
      noteCall: (_, { id }, inputs, tokens) => void noted.push([id, inputs, tokens]),
      isOutside: (_, { id }) => left.has(id),
    },
  })
  const ask = (texts: readonly string[]) => node.ask({ input: { kind: 'texts', texts } })
  return { node, noted, ask, upstream }
}

test('a call in progress when its deployment is found outside is answered by another deployment', async () => {
  const deployments = ['one', 'two'].map((id, priority) => aDeployment({ id: `m/${id}`, priority }))
  const { ask, node } = start('m/one', { deployments })
  const answer = await ask(['a', 'b'])
  assert.deepEqual([answer.deployments, answer.attempts], [['m/two'], 2])
  const inputs = node.memory
    .entries()
    .flatMap((row) => (row.kind === 'post' ? [[row.deployment, row.inputs]] : []))
  assert.deepEqual(
    inputs,
    [
      ['m/one', 0],
      ['m/two', 2],
    ],
    'vectors that were not used are counted for nobody',
  )
})

test('with no other deployment, the caller gets 503 space_left, and what the call cost is in the ledger once', async () => {
  const { ask, node } = start('m/one', { deployments: [aDeployment({ id: 'm/one' })] })
  for (const texts of [['a'], ['b']]) await assert.rejects(ask(texts), { code: 'space_left' })
  const rows = node.memory.entries().map(({ kind }) => kind)
  assert.deepEqual(rows, ['post', 'post'])
})

test('the guard learns how many texts each call had, and its tokens: of a shared call those of all its requests', async () => {
  const microBatch = { maxWaitMs: 4, maxItems: 64, acrossProjects: true }
  const { ask, noted, upstream } = start(undefined, { microBatch })
  await Promise.all([ask(['one text']), ask(['two', 'texts'])])
  const tokens = upstream.served.reduce(
    (sum, { usage }) => sum + (usage.kind === 'measured' ? usage.tokens : 0),
    0,
  )
  assert.equal(upstream.calls.length, 1)
  assert.deepEqual(noted, [[upstream.calls[0]?.deployment.id, 3, tokens]])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallSize } from '#core/embedding/call-size.ts'
import { aBatch, chunksOf, madeEnd, memoryBatches } from '#test/contract/batches-open.ts'
import { BatchEndings } from './batch-endings.ts'

const MANY = 1000

/** Batches whose lines are done by these deployments, and a node that may end them. */
async function started(...makers: readonly string[]) {
  const world = await memoryBatches()
  const asked: [string, CallSize | undefined][] = []
  const state = { isEnder: true, good: new Set<string>(), nowMs: 0, onConfirm: async () => {} }
  const ids: string[] = []
  const done = async (deployment: string): Promise<string> => {
    const batch = aBatch({ chunks: chunksOf(1) })
    await world.batches.create(batch, MANY)
    const [held] = await world.batches.claim('node', 1)
    assert.ok(held)
    const { made = [], ...end } = madeEnd(held, deployment)
    const largest = { inputs: 8 + ids.length, tokens: 100 }
    await world.batches.finish(held.hold, { ...end, made: made.map((one) => ({ ...one, largest })) })
    ids.push(batch.id)
    return batch.id
  }
  for (const maker of makers) world.unconfirmed.add(maker)
  for (const maker of makers) await done(maker)
  const endings = new BatchEndings({
    batches: world.batches,
    isEnder: async () => state.isEnder,
    confirm: async (deployment, largest) => {
      asked.push([deployment, largest])
      await state.onConfirm()
      return state.good.has(deployment)
    },
    monotonicMs: () => state.nowMs,
  })
  const states = (): Promise<(string | undefined)[]> =>
    Promise.all(ids.map(async (id) => (await world.batches.find(id, 'shop'))?.state))
  return { ...world, endings, asked, state, states, done, ids }
}

test('batches of one deployment end after one good probe, of the size of the largest call of all', async () => {
  const { endings, asked, state, states } = await started('m/one', 'm/one', 'm/two')
  state.good.add('m/one')
  await endings.look()
  assert.deepEqual(await states(), ['completed', 'completed', 'in_progress'])
  assert.deepEqual(asked, [
    ['m/one', { inputs: 9, tokens: 100 }],
    ['m/two', { inputs: 10, tokens: 100 }],
  ])
})

test('a probe without an answer is repeated after ever longer pauses, and the batch says what it waits for', async () => {
  const { endings, asked, state, states, batches, ids } = await started('m/one')
  for (; state.nowMs < 120_000; state.nowMs += 1000) await endings.look()
  // After 0, 2, 6, 14, 30 and 62 seconds.
  assert.equal(asked.length, 6)
  assert.equal((await batches.find(ids[0] ?? '', 'shop'))?.pause?.code, 'space_unprobed')
  state.good.add('m/one')
  state.nowMs += 60_000
  await endings.look()
  assert.deepEqual(await states(), ['completed'])
})

test('what is done while a deployment is probed is not confirmed by that probe, but by the next one', async () => {
  const { endings, asked, state, states, done } = await started('m/one')
  state.good.add('m/one')
  state.onConfirm = async () => {
    state.onConfirm = async () => {}
    await done('m/one')
    void endings.look()
  }
  await endings.look()
  assert.deepEqual(await states(), ['completed', 'completed'])
  assert.equal(asked.length, 2)
})

test('one node ends batches for all', async () => {
  const { endings, asked, state, states } = await started('m/one')
  state.isEnder = false
  await endings.look()
  assert.deepEqual([asked, await states()], [[], ['in_progress']])
})

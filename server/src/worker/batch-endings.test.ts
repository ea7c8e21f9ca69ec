import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import type { CallSize } from '#core/embedding/call-size.ts'
import { aBatch, chunksOf, madeEnd, memoryBatches } from '#test/contract/batches-open.ts'
import { BatchEndings } from './batch-endings.ts'

const MANY = 1000

/** Batches whose lines are done by these deployments, and a node that may end them. */
async function started(...makers: readonly string[]) {
  const world = await memoryBatches()
  const asked: [string, CallSize | undefined][] = []
  const state = {
    isEnder: true,
    good: new Set<string>(),
    nowMs: 0,
    onConfirm: async (_deployment: string) => {},
  }
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
      await state.onConfirm(deployment)
      return state.good.has(deployment)
    },
    monotonicMs: () => state.nowMs,
    onTrouble: (error) => assert.fail(String(error)),
  })
  /** A look, and what its probes bring about. */
  const looks = async (): Promise<void> => {
    await endings.look()
    for (let round = 0; round < 5; round += 1) await nextRound()
  }
  const states = (): Promise<(string | undefined)[]> =>
    Promise.all(ids.map(async (id) => (await world.batches.find(id, 'shop'))?.state))
  return { ...world, endings, looks, asked, state, states, done, ids }
}

test('batches of one deployment end after one good probe, of the size of the largest call of all', async () => {
  const { looks, asked, state, states } = await started('m/one', 'm/one', 'm/two')
  state.good.add('m/one')
  await looks()
  assert.deepEqual(await states(), ['completed', 'completed', 'in_progress'])
  assert.deepEqual(asked, [
    ['m/one', { inputs: 9, tokens: 100 }],
    ['m/two', { inputs: 10, tokens: 100 }],
  ])
})

test('a probe without an answer is repeated after ever longer pauses, and the batch says what it waits for', async () => {
  const { looks, asked, state, states, batches, ids } = await started('m/one')
  for (; state.nowMs < 120_000; state.nowMs += 1000) await looks()
  // After 0, 2, 6, 14, 30 and 62 seconds.
  assert.equal(asked.length, 6)
  assert.equal((await batches.find(ids[0] ?? '', 'shop'))?.pause?.code, 'space_unprobed')
  state.good.add('m/one')
  state.nowMs += 60_000
  await looks()
  assert.deepEqual(await states(), ['completed'])
})

test('what is done while a deployment is probed is not confirmed by that probe, but by the next one', async () => {
  const { endings, looks, asked, state, states, done } = await started('m/one')
  state.good.add('m/one')
  state.onConfirm = async () => {
    state.onConfirm = async () => {}
    await done('m/one')
    void endings.look(true)
  }
  await looks()
  assert.deepEqual(await states(), ['completed', 'completed'])
  assert.equal(asked.length, 2)
})

test('a deployment that does not answer holds up no batch of others, nor the end of this node', async () => {
  const { endings, looks, asked, state, states, done } = await started('m/hangs', 'm/one')
  const { promise, resolve } = Promise.withResolvers<void>()
  state.good.add('m/one')
  state.onConfirm = async (deployment) => (deployment === 'm/hangs' ? promise : undefined)
  await looks()
  assert.deepEqual(await states(), ['in_progress', 'completed'])
  await done('m/one')
  state.nowMs += 10_000
  await looks()
  assert.deepEqual(await states(), ['in_progress', 'completed', 'completed'])
  assert.equal(asked.filter(([deployment]) => deployment === 'm/hangs').length, 1)
  resolve()
  await endings.stop()
})

test('one node ends batches for all', async () => {
  const { looks, asked, state, states } = await started('m/one')
  state.isEnder = false
  await looks()
  assert.deepEqual([asked, await states()], [[], ['in_progress']])
})

/** Whether vectors of a batch are of their space for certain, and the probes that a batch asks for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallSize } from '#core/embedding/call-size.ts'
import type { MadeVectors } from '#core/embedding/made-vectors.ts'
import { spaceOf } from '#core/embedding/space.ts'
import {
  catalogOf,
  cluster,
  hasLeft,
  MODEL,
  modelIn,
  node,
  ONE,
  SECOND_MS,
  stateOf,
  TWO,
  type Cluster,
} from '#test/support/space-cluster.ts'

const CATALOG = catalogOf('one', 'two')
const LARGE: CallSize = { inputs: 64, tokens: 2048 }

async function started() {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const one = node(world, CATALOG)
  await one.guard.follow()
  await one.guard.probeDue()
  world.passes(10 * SECOND_MS)
  return { world, ...one }
}

/** Vectors that a deployment has just made in such calls. */
function made({ clock }: Cluster, more: Partial<MadeVectors> = {}): MadeVectors {
  const nowMs = clock.nowMs()
  return {
    space: spaceOf(MODEL, 8),
    deployment: ONE,
    fromMs: nowMs - 100,
    untilMs: nowMs,
    largest: LARGE,
    ...more,
  }
}

test('vectors are final after a good probe of their size that was sent after them, on every node that reads', async () => {
  const { world, guard } = await started()
  const other = node(world, CATALOG, { isProber: false })
  const own = made(world)
  assert.equal(other.guard.judgeMade(own), 'unconfirmed', 'nothing is known yet')
  assert.equal(guard.judgeMade(own), 'unconfirmed')
  // Clocks of nodes may differ by five seconds.
  for (const [seconds, state] of [
    [4, 'unconfirmed'],
    [2, 'final'],
  ] as const) {
    world.passes(seconds * SECOND_MS)
    assert.equal(await guard.confirm(ONE, LARGE), true)
    await guard.follow()
    await other.guard.follow()
    for (const one of [guard, other.guard]) assert.equal(one.judgeMade(own), state)
  }
  assert.equal(guard.judgeMade({ ...own, largest: { inputs: 64, tokens: 5000 } }), 'unconfirmed')
  assert.equal(guard.judgeMade({ ...own, largest: { inputs: 10, tokens: 300 } }), 'final')
  assert.equal(guard.judgeMade({ ...own, deployment: TWO }), 'unconfirmed')
})

test('a probe that a batch asks for is as large as its largest call, and has no more than 8,192 tokens', async () => {
  const { world, guard } = await started()
  for (const largest of [LARGE, { inputs: 200, tokens: 90_000 }, undefined]) await guard.confirm(ONE, largest)
  assert.deepEqual(
    world.inUse.map(({ size }) => size),
    [LARGE, { inputs: 200, tokens: 8192 }, { inputs: 1, tokens: 0 }],
  )
  assert.equal(
    guard.judgeMade(made(world, { untilMs: 0, largest: { inputs: 200, tokens: 90_000 } })),
    'final',
  )
})

test('a bad one quarantines at once, and what was made since the last good one has left its space', async () => {
  const { world, guard } = await started()
  const own = made(world)
  world.passes(SECOND_MS)
  world.answers.set(ONE, 2)
  assert.equal(await guard.confirm(ONE, LARGE), false)
  assert.deepEqual([stateOf(guard, ONE), hasLeft(guard, own)], ['quarantined', true])
  assert.equal(hasLeft(guard, { ...own, fromMs: 0, untilMs: own.untilMs - 60 * SECOND_MS }), false)
  assert.equal(await guard.confirm(ONE, LARGE), false)
  assert.equal(world.inUse.length, 1, 'a quarantined one is not asked')
})

test('what is wrong in large calls only is found by a batch with large calls, and all that it made so has left', async () => {
  const { world, guard } = await started()
  const own = made(world)
  world.large.set(ONE, { inputs: 64, seed: 2 })
  world.passes(SECOND_MS)
  assert.equal(await guard.confirm(ONE, { inputs: 8, tokens: 100 }), true)
  assert.equal(guard.judgeMade(own), 'unconfirmed')
  assert.equal(await guard.confirm(ONE, LARGE), false)
  assert.equal(hasLeft(guard, own), true)
})

test('an upstream that refuses calls of the size is asked in single ones, and one that does not answer confirms nothing', async () => {
  const { world, guard } = await started()
  world.refusesFrom = 8
  assert.equal(await guard.confirm(ONE, LARGE), true)
  assert.deepEqual(
    world.inUse.map(({ size }) => size?.inputs),
    [64, 1],
  )
  world.isSilent = true
  assert.equal(await guard.confirm(ONE, LARGE), false)
  assert.equal(stateOf(guard, ONE), 'trusted')
})

test('what cannot be compared is final: images, models without a guard or a reference, and names of no space', async () => {
  const { world, guard, state } = await started()
  assert.equal(guard.judgeMade(made(world, { space: '' })), 'final')
  const model = { ...modelIn(CATALOG), isGuarded: false }
  state.catalog = { ...CATALOG, models: new Map([[MODEL, model]]) }
  assert.equal(guard.judgeMade(made(world)), 'final')
  const away = cluster({ [ONE]: 'away' })
  const alone = node(away, catalogOf('one'))
  await alone.guard.follow()
  await alone.guard.probeDue()
  assert.equal(alone.guard.judgeMade(made(away)), 'final')
})

test('of a deployment that this node does not know, the probes of nodes that know it count', async () => {
  const { world, guard } = await started()
  const other = node(world, catalogOf('two'), { isProber: false })
  await other.guard.follow()
  const own = made(world)
  assert.equal(other.guard.judgeMade(own), 'gone')
  assert.equal(await other.guard.confirm(ONE, LARGE), false)
  world.passes(10 * SECOND_MS)
  await guard.confirm(ONE, LARGE)
  await guard.follow()
  await other.guard.follow()
  assert.equal(other.guard.judgeMade(own), 'final')
})

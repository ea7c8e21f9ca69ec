import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  catalogOf,
  cluster,
  MINUTE_MS,
  MODEL,
  modelIn,
  node,
  ONE,
  rideVectorOf,
  SECOND_MS,
  stateOf,
  TWO,
  type Cluster,
} from '#test/support/space-cluster.ts'
import type { SpaceGuard } from './guard.ts'

const CATALOG = catalogOf('one', 'two')
const [deployment] = modelIn(CATALOG).deployments

/** A live call of deployment one with a ride, if one is due: whether its answers may leave. */
function ride(world: Cluster, guard: SpaceGuard, seed = world.answers.get(ONE)): boolean | 'none' {
  assert.ok(deployment !== undefined && typeof seed === 'number')
  const due = guard.rides?.due(modelIn(CATALOG), deployment, false)
  return due?.isWithin(rideVectorOf(seed), world.clock.nowMs()) ?? 'none'
}

async function started(isProber = true) {
  const world = cluster({ [ONE]: 1, [`${MODEL}/two`]: 1 })
  const one = node(world, CATALOG, { isProber })
  await one.guard.follow()
  await one.guard.probeDue()
  return { world, ...one }
}

test('a ride outside the space quarantines at once, on every node that reads; the window begins at the last good ride', async () => {
  const { world, guard, held, alerts } = await started()
  const other = node(world, CATALOG, { isProber: false })
  await other.guard.follow()
  const startMs = world.clock.nowMs()
  for (let rides = 0; rides < 5; rides += 1) {
    assert.equal(ride(world, guard), true)
    assert.equal(ride(world, guard), 'none')
    world.passes(20 * SECOND_MS)
    await guard.follow()
  }
  world.answers.set(ONE, 2)
  assert.equal(ride(world, guard), false)
  assert.deepEqual([stateOf(guard, ONE), [...held], alerts], ['quarantined', [ONE], [`quarantined ${ONE}`]])
  await guard.follow()
  await other.guard.follow()
  assert.equal(stateOf(other.guard, ONE), 'quarantined')
  assert.match(other.guard.standingOf(ONE)?.reason ?? '', /^in a live call: another space/)
  assert.equal(other.guard.standingOf(ONE)?.lastGoodAtMs, startMs + 80 * SECOND_MS)
  const trusted = (atMs: number): boolean => guard.isTrusted(ONE, startMs + atMs)
  // Clocks of nodes may differ by five seconds.
  assert.deepEqual(
    [75, 75.001, 81].map((second) => trusted(second * SECOND_MS)),
    [true, false, false],
  )
})

test('a good ride before the first probe of a space, or of a quarantined deployment, moves nothing', async () => {
  const { world, guard } = await started()
  world.answers.set(ONE, 2)
  assert.equal(ride(world, guard), false)
  await guard.follow()
  const before = guard.standingOf(ONE)
  world.passes(30 * SECOND_MS)
  assert.equal(ride(world, guard, 1), true)
  await guard.follow()
  assert.deepEqual(guard.standingOf(ONE), before)
})

test('a ride that was sent before a space was accepted is not judged by it; one sent after is', async () => {
  const { world, guard } = await started()
  const [one, two] = modelIn(CATALOG).deployments
  assert.ok(one && two)
  const due = guard.rides?.due(modelIn(CATALOG), one, false)
  const sentAtMs = world.clock.nowMs()
  world.passes(SECOND_MS)
  for (const id of [ONE, TWO]) world.answers.set(id, 2)
  await guard.accept(modelIn(CATALOG), two, { kind: 'member', name: 'alice' })
  await guard.probeDue()
  assert.equal(due?.isWithin(rideVectorOf(1), sentAtMs), true)
  assert.equal(stateOf(guard, ONE), 'trusted')
  assert.equal(due?.isWithin(rideVectorOf(1), world.clock.nowMs()), false)
  assert.equal(stateOf(guard, ONE), 'quarantined')
})

test('one odd answer costs seconds: the deployment is probed again at once, and returns if every call is within', async () => {
  const { world, guard } = await started()
  assert.equal(ride(world, guard, 2), false)
  await guard.probeDue()
  assert.equal(stateOf(guard, ONE), 'quarantined')
  world.passes(5 * SECOND_MS)
  await guard.probeDue()
  assert.equal(stateOf(guard, ONE), 'trusted')
  assert.deepEqual(world.terms.at(-1), { samples: 1, rides: 15 })
})

test('replicas that differ keep a deployment in quarantine, and each relapse within an hour asks for more good calls', async () => {
  const { world, guard } = await started()
  assert.equal(ride(world, guard, 2), false)
  world.replicas.set(ONE, [1, 1, 2, 1])
  world.passes(5 * SECOND_MS)
  await guard.probeDue()
  assert.match(guard.standingOf(ONE)?.reason ?? '', /^replicas differ: 4 of 16 calls were outside the space/)
  for (const rides of [15, 31, 31]) {
    world.replicas.delete(ONE)
    world.passes(MINUTE_MS)
    await guard.probeDue()
    assert.deepEqual([stateOf(guard, ONE), world.terms.at(-1)?.rides], ['trusted', rides])
    world.passes(20 * SECOND_MS)
    assert.equal(ride(world, guard, 2), false)
    await guard.follow()
  }
  world.passes(61 * MINUTE_MS)
  await guard.probeDue()
  assert.equal(world.terms.findLast(({ rides }) => rides > 0)?.rides, 15)
})

test('only the first probe of a model, and one that adds images, take several samples', async () => {
  const { world, guard } = await started()
  assert.deepEqual(
    world.terms.map(({ samples }) => samples),
    [5, 1],
  )
  world.passes(15 * MINUTE_MS)
  await guard.probeDue()
  assert.deepEqual(world.terms.at(-1), { samples: 1, rides: 0 })
})

test('rides that could not be stored are stored later, and a quarantine still begins after them', async () => {
  const { world, guard, link } = await started()
  link.otherwise = 'before'
  const atMs = world.clock.nowMs() + 20 * SECOND_MS
  ride(world, guard)
  world.passes(20 * SECOND_MS)
  ride(world, guard)
  await assert.rejects(guard.follow())
  world.passes(20 * SECOND_MS)
  assert.equal(ride(world, guard, 2), false)
  await assert.rejects(guard.follow())
  link.otherwise = 'none'
  await guard.follow()
  const other = node(world, CATALOG, { isProber: false })
  await other.guard.follow()
  const { state, lastGoodAtMs } = other.guard.standingOf(ONE) ?? {}
  assert.deepEqual([state, lastGoodAtMs], ['quarantined', atMs])
})

/** The vector of the ride text, turned until its cosine to that of the seed is the given one. */
function near(seed: number, cosine: number): Float32Array {
  const vector = rideVectorOf(seed)
  const length = Math.hypot(...vector)
  const turned = rideVectorOf(seed + 1)
  const along = turned.reduce((sum, value, index) => sum + value * (vector[index] as number), 0) / length ** 2
  const across = turned.map((value, index) => value - along * (vector[index] as number))
  const scale = (Math.sqrt(1 - cosine ** 2) * length) / Math.hypot(...across)
  return vector.map((value, index) => cosine * value + scale * (across[index] as number))
}

test('a ride near the edge of the space calls for a probe of all texts, once a minute, and not where the last probe was near it too', async () => {
  const { world, guard } = await started()
  assert.ok(deployment)
  const edge = (): boolean => {
    world.passes(20 * SECOND_MS)
    return (
      guard.rides?.due(modelIn(CATALOG), deployment, false)?.isWithin(near(1, 0.995), world.clock.nowMs()) ??
      false
    )
  }
  world.passes(2 * MINUTE_MS)
  const probes = world.terms.length
  assert.equal(edge(), true)
  await guard.probeDue()
  assert.equal(world.terms.length, probes + 1)
  for (let ridesAgain = 0; ridesAgain < 2; ridesAgain += 1) assert.equal(edge(), true)
  await guard.probeDue()
  assert.equal(world.terms.length, probes + 1, 'within a minute')
  // The change shows in the other texts.
  world.answers.set(ONE, 2)
  world.passes(MINUTE_MS)
  assert.equal(edge(), true)
  await guard.probeDue()
  assert.equal(stateOf(guard, ONE), 'quarantined')
})

test('a probe without an answer keeps the last cosine known, with its time', async () => {
  const { world, guard } = await started()
  const atMs = world.clock.nowMs()
  world.answers.set(ONE, 'away')
  for (const minutes of [15, 1]) {
    world.passes(minutes * MINUTE_MS)
    await guard.probeDue()
    await guard.follow()
    const { verdict, leastCosine, earlier } = guard.standingOf(ONE)?.last ?? {}
    assert.deepEqual([verdict, leastCosine, earlier?.atMs], ['failed', undefined, atMs])
    assert.ok((earlier?.leastCosine ?? 0) > 0.999_999)
  }
})

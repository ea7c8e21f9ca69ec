/** When deployments are probed, and by which node. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '#test/support/seeded.ts'
import {
  catalogOf,
  cluster,
  MINUTE_MS,
  MODEL,
  node,
  ONE,
  QUARTER_MS,
  SECOND_MS,
  stateOf,
  TWO,
  type Cluster,
} from '#test/support/space-cluster.ts'
import type { GuardedStanding } from './knowledge.ts'
import { ProbeSchedule } from './schedule.ts'

type Node = ReturnType<typeof node>

test('each is probed every quarter of an hour, a quarantined one every minute until it is good again', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const { guard, alerts } = node(world, catalogOf('one', 'two'))
  await guard.probeDue()
  assert.deepEqual(world.asked.splice(0), [ONE, TWO])
  world.passes(QUARTER_MS - 1)
  await guard.probeDue()
  assert.deepEqual(world.asked, [])
  world.passes(1)
  world.answers.set(TWO, 2)
  await guard.probeDue()
  assert.deepEqual(world.asked.splice(0), [ONE, TWO])
  assert.equal(stateOf(guard, TWO), 'quarantined')
  world.passes(MINUTE_MS)
  await guard.probeDue()
  assert.deepEqual(world.asked.splice(0), [TWO])
  world.answers.set(TWO, 1)
  world.passes(MINUTE_MS)
  await guard.probeDue()
  assert.equal(stateOf(guard, TWO), 'trusted')
  assert.deepEqual(alerts, [`quarantined ${TWO}`, `returned ${TWO}`])
})

test('a wall clock that was set back keeps no deployment from its probe', () => {
  const schedule = new ProbeSchedule({ nowMs: () => 0, monotonicMs: () => 0 }, () => 0)
  const probed = (atMs: number): GuardedStanding => ({
    model: MODEL,
    deployment: ONE,
    state: 'trusted',
    isQuarantined: false,
    lastGoodAtMs: atMs,
    goodSizes: {},
    returnedAtMs: [],
    reason: undefined,
    last: {
      model: MODEL,
      deployment: ONE,
      target: '',
      space: '',
      atMs,
      verdict: 'good',
      leastCosine: 1,
      normDrift: 0,
      reason: undefined,
    },
  })
  for (const [atMs, asker] of [
    [1 - QUARTER_MS, 'none'],
    [-QUARTER_MS, 'prober'],
    [QUARTER_MS - 1, 'none'],
    [QUARTER_MS, 'prober'],
  ] as const)
    assert.equal(schedule.asker(probed(atMs), undefined), asker, `probed at ${atMs}`)
})

test('an upstream that is away keeps its standing, good or bad, and is asked again after a minute', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 2 })
  const { guard } = node(world, catalogOf('one', 'two'))
  await guard.probeDue()
  world.answers.set(ONE, 'away').set(TWO, 'away')
  world.passes(QUARTER_MS)
  await guard.probeDue()
  assert.deepEqual([stateOf(guard, ONE), stateOf(guard, TWO)], ['trusted', 'quarantined'])
  world.asked.length = 0
  world.passes(MINUTE_MS)
  await guard.probeDue()
  assert.deepEqual(world.asked.toSorted(), [ONE, TWO])
})

/** Time passes on all nodes: one look per second, and each reads what the others have written. */
async function goesBy(world: Cluster, nodes: readonly Node[], seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    world.passes(SECOND_MS)
    for (const { guard } of nodes) await guard.probeDue()
    for (const { guard } of nodes) await guard.follow().catch(() => {})
  }
}

test('a node asks for itself who is held back for long, since the prober may not know of it', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const prober = node(world, catalogOf('one'))
  await prober.guard.probeDue()
  const other = node(world, catalogOf('one', 'two'), { isProber: false })
  await other.guard.follow()
  await other.guard.probeDue()
  world.passes(9 * SECOND_MS)
  await other.guard.probeDue()
  assert.equal(stateOf(other.guard, TWO), 'held-back')
  world.passes(SECOND_MS)
  await other.guard.probeDue()
  assert.equal(stateOf(other.guard, TWO), 'trusted')
})

test('a deployment that the prober does not know is asked every quarter of an hour, by one node at a time', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const prober = node(world, catalogOf('one'))
  const others = [1, 2, 3].map((seed) =>
    node(world, catalogOf('one', 'two'), { isProber: false, random: seeded(seed) }),
  )
  const nodes = [prober, ...others]
  await goesBy(world, nodes, 60)
  for (const { guard } of others) assert.equal(stateOf(guard, TWO), 'trusted')
  const calls = others.map(({ link }) => link.calls)
  await goesBy(world, others, 30)
  // Nothing is due, so the prober is not looked up: only standings are read.
  assert.deepEqual(
    others.map(({ link }, index) => link.calls - (calls[index] ?? 0)),
    [30, 30, 30],
  )
  world.answers.set(TWO, 2)
  world.passes(QUARTER_MS - 90 * SECOND_MS)
  await goesBy(world, nodes, 60)
  for (const { held } of others) assert.deepEqual([...held], [TWO])
  assert.equal(world.asked.filter((id) => id === TWO).length, 2)
})

test('a new deployment that is away is asked as often by five nodes as by one', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 'away' })
  const nodes = [1, 2, 3, 4, 5].map((seed) =>
    node(world, catalogOf('one', 'two'), { isProber: seed === 1, random: seeded(seed) }),
  )
  await goesBy(world, nodes, 10 * 60)
  const times = world.asked.filter((id) => id === TWO).length
  // After 0, 5, 15, 35 and 75 seconds, then every minute.
  assert.ok(times >= 13 && times <= 14, String(times))
})

test('while the store is away every node looks for itself, and finds who has left', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const nodes = [1, 2].map((seed) =>
    node(world, catalogOf('one', 'two'), { isProber: seed === 1, random: seeded(seed) }),
  )
  await goesBy(world, nodes, 30)
  for (const { link } of nodes) link.otherwise = 'before'
  world.answers.set(TWO, 2)
  world.passes(QUARTER_MS)
  await goesBy(world, nodes, 30)
  for (const { held } of nodes) assert.deepEqual([...held], [TWO])
  assert.equal(world.asked.filter((id) => id === ONE).length, 3)
})

test('a node that starts without the store asks nobody: it could not compare', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const one = node(world, catalogOf('one', 'two'))
  one.link.otherwise = 'before'
  await goesBy(world, [one], 60)
  assert.deepEqual(world.asked, [])
  one.link.otherwise = 'none'
  await goesBy(world, [one], 1)
  assert.deepEqual(world.asked, [ONE, TWO])
})

test('without the store there is no first reference, and who could have become it is not asked all the time', async () => {
  const world = cluster({ [ONE]: 1 })
  const one = node(world, catalogOf())
  await one.guard.follow()
  one.state.catalog = catalogOf('one')
  one.link.otherwise = 'before'
  await goesBy(world, [one], 10 * 60)
  assert.ok(world.asked.length >= 5 && world.asked.length <= 13, String(world.asked.length))
  one.link.otherwise = 'none'
  await goesBy(world, [one], 2 * 60)
  assert.equal(one.guard.referenceOf(MODEL)?.deployment, ONE)
})

for (const [answer, alert] of [
  ['away', `unprobed ${TWO}`],
  ['narrow', `quarantined ${TWO}`],
] as const)
  test(`one that is ${answer} for over an hour is asked every quarter of an hour, and somebody is told once`, async () => {
    const world = cluster({ [ONE]: 1, [TWO]: 1 })
    const { guard, alerts } = node(world, catalogOf('one', 'two'))
    await guard.probeDue()
    world.answers.set(TWO, answer)
    const asksIn = async (minutes: number): Promise<number> => {
      world.asked.length = 0
      for (let minute = 0; minute < minutes; minute += 1) {
        world.passes(MINUTE_MS)
        await guard.probeDue()
      }
      return world.asked.filter((id) => id === TWO).length
    }
    assert.equal(await asksIn(15), 1)
    assert.equal(await asksIn(58), 58)
    assert.deepEqual(alerts, answer === 'away' ? [] : [alert])
    assert.equal(await asksIn(5 * 60 + 1), 1 + 20)
    assert.deepEqual(alerts, [alert])
    world.answers.set(TWO, 1)
    assert.equal(await asksIn(30), 2)
    assert.equal(stateOf(guard, TWO), 'trusted')
    world.answers.set(TWO, 'away')
    assert.equal(await asksIn(30), 16)
  })

test('vectors without a single value are no answer, and quarantine nobody', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const { guard } = node(world, catalogOf('one', 'two'))
  await guard.probeDue()
  world.answers.set(TWO, 'empty')
  world.passes(SECOND_MS)
  const [, two] = await guard.probeNow(MODEL)
  assert.equal(two?.verdict, 'failed')
  assert.equal(stateOf(guard, TWO), 'trusted')
})

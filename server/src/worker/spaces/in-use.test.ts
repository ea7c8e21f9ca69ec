/** Probes of deployments in use: when, in calls of which size, by which node, and what follows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '#core/catalog/catalog.ts'
import type { CallSize } from '#core/embedding/call-size.ts'
import { eventually } from '#test/support/process.ts'
import { seeded } from '#test/support/seeded.ts'
import {
  catalogOf,
  cluster,
  MINUTE_MS,
  modelIn,
  node,
  ONE,
  SECOND_MS,
  stateOf,
  TWO,
  type Cluster,
} from '#test/support/space-cluster.ts'
import type { SpaceGuard } from './guard.ts'

const CATALOG = catalogOf('one', 'two')
const MODEL = modelIn(CATALOG)
const [DEPLOYMENT] = MODEL.deployments as readonly [Deployment]
const SMALL: CallSize = { inputs: 1, tokens: 8 }
const LARGE: CallSize = { inputs: 64, tokens: 2048 }

async function started(isProber = true) {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const one = node(world, CATALOG, { isProber })
  await one.guard.follow()
  await one.guard.probeDue()
  return { world, ...one }
}

function calls(guard: SpaceGuard, { inputs, tokens }: CallSize, count = 1): void {
  for (let call = 0; call < count; call += 1) guard.noteCall(MODEL, DEPLOYMENT, inputs, tokens)
}

/** Seconds, each with the same traffic at every node, until something happens. Returns how many there were. */
async function seconds(
  world: Cluster,
  nodes: readonly { readonly guard: SpaceGuard }[],
  most: number,
  traffic: { readonly size: CallSize; readonly perSecond: number } | undefined,
  until: () => boolean = () => false,
): Promise<number> {
  for (let second = 1; second <= most; second += 1) {
    world.passes(SECOND_MS)
    for (const { guard } of nodes) {
      if (traffic) calls(guard, traffic.size, traffic.perSecond)
      await guard.probeDue()
    }
    for (const { guard } of nodes) await guard.follow().catch(() => {})
    if (until()) return second
  }
  return most
}

const sizesOf = ({ inUse }: Cluster): (number | undefined)[] => inUse.map(({ size }) => size?.inputs)

test('a deployment in use is probed every 20 seconds with one short text, and one that nobody uses is not', async () => {
  const { world, guard } = await started()
  await seconds(world, [{ guard }], 100, undefined)
  assert.deepEqual(world.inUse, [])
  await seconds(world, [{ guard }], 65, { size: SMALL, perSecond: 1 })
  assert.deepEqual(sizesOf(world), [undefined, undefined, undefined, undefined])
  assert.deepEqual(new Set(world.inUse.map(({ id }) => id)), new Set([ONE]))
  const { length } = world.inUse
  // The calls since the last probe are followed by one more.
  await seconds(world, [{ guard }], 100, undefined)
  assert.equal(world.inUse.length, length + 1)
})

test('a call after a quiet time is followed by a probe within a second', async () => {
  const { world, guard } = await started()
  await seconds(world, [{ guard }], 300, undefined)
  calls(guard, SMALL)
  assert.equal(await seconds(world, [{ guard }], 9, undefined, () => world.inUse.length > 0), 1)
})

for (const perSecond of [1, 10, 100])
  test(`at ${perSecond} calls a second a change is found within 21 seconds, and on every node that reads`, async () => {
    const { world, guard, held, alerts } = await started()
    const other = node(world, CATALOG, { isProber: false })
    const traffic = { size: SMALL, perSecond }
    const random = seeded(perSecond)
    for (let run = 0; run < 20; run += 1) {
      await seconds(world, [{ guard }], 1 + Math.floor(random() * 60), traffic)
      world.answers.set(ONE, 2)
      const found = await seconds(world, [{ guard }], 60, traffic, () => held.has(ONE))
      assert.ok(found <= 21, `${found} s`)
      await other.guard.follow()
      assert.equal(stateOf(other.guard, ONE), 'quarantined')
      world.answers.set(ONE, 1)
      await seconds(world, [{ guard }], 70, undefined)
      assert.equal(stateOf(guard, ONE), 'trusted')
    }
    assert.equal(alerts.filter((alert) => alert === `quarantined ${ONE}`).length, 20)
  })

test('a change that shows in large calls only is found in 21 seconds where ten of them a second pay for it', async () => {
  for (const perSecond of [10, 100]) {
    const { world, guard, held } = await started()
    const traffic = { size: LARGE, perSecond }
    await seconds(world, [{ guard }], 45, traffic)
    world.large.set(ONE, { inputs: 64, seed: 2 })
    const found = await seconds(world, [{ guard }], 60, traffic, () => held.has(ONE))
    assert.ok(found <= 21, `${found} s`)
    assert.match(guard.standingOf(ONE)?.reason ?? '', /^in calls of 64 inputs: another space/)
  }
})

test('and in about 200 of its calls where they are fewer; the short probes between them say that nothing is wrong', async () => {
  const { world, guard, held } = await started()
  const traffic = { size: LARGE, perSecond: 1 }
  await seconds(world, [{ guard }], 210, traffic)
  world.large.set(ONE, { inputs: 64, seed: 2 })
  const before = world.inUse.length
  const found = await seconds(world, [{ guard }], 300, traffic, () => held.has(ONE))
  assert.ok(found > 21 && found <= 210, `${found} s`)
  assert.ok(world.inUse.slice(before, -1).every(({ size }) => size === undefined))
})

test('a change that shows in one text only, whichever, is found in 21 seconds where the traffic pays for all texts', async () => {
  for (let text = 0; text < 8; text += 1) {
    const { world, guard, held } = await started()
    const traffic = { size: { inputs: 1, tokens: 48 }, perSecond: 100 }
    await seconds(world, [{ guard }], 45, traffic)
    world.ofText.set(ONE, { text, seed: 2 })
    const found = await seconds(world, [{ guard }], 60, traffic, () => held.has(ONE))
    assert.ok(found <= 21, `text ${text}: ${found} s`)
  }
})

test('a deployment that is wrong in large calls does not return by small ones: it is probed in large ones until they are right', async () => {
  const { world, guard, held } = await started()
  const traffic = { size: LARGE, perSecond: 10 }
  world.large.set(ONE, { inputs: 32, seed: 2 })
  await seconds(world, [{ guard }], 60, traffic, () => held.has(ONE))
  await seconds(world, [{ guard }], 300, undefined)
  assert.equal(stateOf(guard, ONE), 'quarantined')
  assert.deepEqual(world.terms.at(-1)?.size, LARGE)
  const again = node(world, CATALOG)
  await seconds(world, [again], 120, undefined)
  assert.equal(stateOf(again.guard, ONE), 'quarantined', 'nor by another node, that has seen no call')
  world.large.delete(ONE)
  await seconds(world, [again], 70, undefined)
  assert.equal(stateOf(again.guard, ONE), 'trusted')
})

test('what was made since the last good probe of that size is not trusted, and of a size that never was good nothing is', async () => {
  const { world, guard, held } = await started()
  const traffic = { size: LARGE, perSecond: 10 }
  await seconds(world, [{ guard }], 100, traffic)
  const goodAtMs = guard.standingOf(ONE)?.goodSizes['64x2048'] ?? assert.fail('never probed')
  world.large.set(ONE, { inputs: 64, seed: 2 })
  // Fewer of them: the short probes are good for minutes.
  await seconds(world, [{ guard }], 60, { size: SMALL, perSecond: 1 })
  assert.equal(stateOf(guard, ONE), 'trusted')
  await seconds(world, [{ guard }], 300, traffic, () => held.has(ONE))
  for (const one of [guard, node(world, CATALOG, { isProber: false }).guard]) {
    await one.follow()
    assert.deepEqual(
      // Clocks of nodes may differ by five seconds.
      [goodAtMs - 5000, goodAtMs - 4999, world.clock.nowMs() - 1].map((atMs) => one.isTrusted(ONE, atMs)),
      [true, false, false],
    )
  }
  const fresh = await started()
  const firstMs = fresh.world.clock.nowMs()
  fresh.world.large.set(ONE, { inputs: 64, seed: 2 })
  await seconds(fresh.world, [fresh], 60, traffic, () => fresh.held.has(ONE))
  assert.equal(fresh.guard.isTrusted(ONE, firstMs - MINUTE_MS), false)
  await fresh.guard.follow()
  assert.equal(fresh.guard.isTrusted(ONE, firstMs - MINUTE_MS), false)
})

test('five nodes make as many probes as one: each is claimed by the first', async () => {
  const probes = async (count: number): Promise<number> => {
    const world = cluster({ [ONE]: 1, [TWO]: 1 })
    const nodes = Array.from({ length: count }, (_, index) =>
      node(world, CATALOG, { isProber: index === 0, random: seeded(index) }),
    )
    for (const { guard } of nodes) await guard.follow()
    await seconds(world, nodes, 5, undefined)
    await seconds(world, nodes, 600, { size: SMALL, perSecond: 1 })
    return world.inUse.length
  }
  const [one, five] = [await probes(1), await probes(5)]
  assert.ok(one >= 29 && one <= 31, `${one}`)
  assert.ok(five >= 29 && five <= 31, `${five}`)
})

test('without the store each node probes for itself, and what it finds is stored later, with its window', async () => {
  const { world, guard, link, held } = await started()
  const traffic = { size: SMALL, perSecond: 1 }
  await seconds(world, [{ guard }], 30, traffic)
  link.otherwise = 'before'
  await seconds(world, [{ guard }], 45, traffic)
  const goodAtMs = guard.standingOf(ONE)?.lastGoodAtMs ?? assert.fail('never good')
  assert.ok(world.clock.nowMs() - goodAtMs <= 20 * SECOND_MS)
  world.answers.set(ONE, 2)
  await seconds(world, [{ guard }], 30, traffic, () => held.has(ONE))
  assert.deepEqual([...held], [ONE])
  link.otherwise = 'none'
  await guard.follow()
  const other = node(world, CATALOG, { isProber: false })
  await other.guard.follow()
  const { state, lastGoodAtMs } = other.guard.standingOf(ONE) ?? {}
  assert.deepEqual([state, lastGoodAtMs], ['quarantined', goodAtMs])
})

test('a probe without an answer changes nothing, and is repeated after five seconds while there are calls', async () => {
  const { world, guard } = await started()
  const traffic = { size: SMALL, perSecond: 1 }
  await seconds(world, [{ guard }], 25, traffic)
  const before = world.inUse.length
  world.isSilent = true
  await seconds(world, [{ guard }], 40, traffic)
  assert.equal(stateOf(guard, ONE), 'trusted')
  assert.equal(world.inUse.length - before, 6)
  world.isSilent = false
  await seconds(world, [{ guard }], 6, traffic)
  assert.ok(world.clock.nowMs() - (guard.standingOf(ONE)?.lastGoodAtMs ?? 0) <= 6 * SECOND_MS)
})

test('a size that the upstream refuses is left alone for a quarter of an hour; the short probes go on', async () => {
  const { world, guard } = await started()
  world.refusesFrom = 64
  await seconds(world, [{ guard }], 300, { size: LARGE, perSecond: 20 })
  assert.equal(sizesOf(world).filter((inputs) => inputs === 64).length, 1)
  assert.ok(sizesOf(world).filter((inputs) => inputs === undefined).length >= 13)
})

test('a good probe of a quarantined deployment that was under way moves nothing', async () => {
  const { world } = await started()
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const slow = node(world, CATALOG, { isProber: false, answersAfter: late })
  await slow.guard.follow()
  world.passes(30 * SECOND_MS)
  calls(slow.guard, SMALL)
  const probing = slow.guard.probeDue()
  const other = node(world, CATALOG, { isProber: false })
  await other.guard.follow()
  world.answers.set(ONE, 2)
  await other.guard.probeNow(MODEL.id)
  await slow.guard.follow()
  const before = slow.guard.standingOf(ONE)
  assert.equal(before?.state, 'quarantined')
  world.answers.set(ONE, 1)
  resolve()
  await probing
  await slow.guard.follow()
  assert.deepEqual(slow.guard.standingOf(ONE), before)
})

test('a probe that was sent before a space was accepted is not judged by it', async () => {
  const { world, guard } = await started()
  const [, two] = MODEL.deployments
  assert.ok(two)
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const slow = node(world, CATALOG, { isProber: false, answersAfter: late })
  await slow.guard.follow()
  world.passes(30 * SECOND_MS)
  calls(slow.guard, SMALL)
  const probing = slow.guard.probeDue()
  await eventually(async () => assert.equal(world.inUse.length, 1))
  world.passes(SECOND_MS)
  for (const id of [ONE, TWO]) world.answers.set(id, 2)
  await guard.accept(MODEL, two, { kind: 'member', name: 'alice' })
  await guard.probeDue()
  await slow.guard.follow()
  // What it answers is of the space before.
  world.answers.set(ONE, 1)
  resolve()
  await probing
  assert.equal(stateOf(slow.guard, ONE), 'trusted')
  world.passes(30 * SECOND_MS)
  calls(slow.guard, SMALL)
  await slow.guard.probeDue()
  assert.equal(stateOf(slow.guard, ONE), 'quarantined', 'one that was sent after it is')
})

test('one odd answer costs seconds: the deployment is probed again at once, and returns if every call is within', async () => {
  const { world, guard, held } = await started()
  world.answers.set(ONE, 2)
  await seconds(world, [{ guard }], 30, { size: SMALL, perSecond: 1 }, () => held.has(ONE))
  world.answers.set(ONE, 1)
  await seconds(world, [{ guard }], 5, undefined)
  assert.equal(stateOf(guard, ONE), 'trusted')
  assert.deepEqual(world.terms.at(-1), { samples: 1, repeats: 15, size: undefined })
})

test('replicas that differ keep a deployment in quarantine, and each relapse within an hour asks for more good calls', async () => {
  const { world, guard, held } = await started()
  const relapses = async (): Promise<void> => {
    world.answers.set(ONE, 2)
    await seconds(world, [{ guard }], 30, { size: SMALL, perSecond: 1 }, () => held.has(ONE))
    world.answers.set(ONE, 1)
  }
  await relapses()
  world.replicas.set(ONE, [1, 1, 2, 1])
  world.passes(5 * SECOND_MS)
  await guard.probeDue()
  assert.match(guard.standingOf(ONE)?.reason ?? '', /^replicas differ: 4 of 16 calls were outside the space/)
  for (const repeats of [15, 31, 31]) {
    world.replicas.delete(ONE)
    world.passes(MINUTE_MS)
    await guard.probeDue()
    assert.deepEqual([stateOf(guard, ONE), world.terms.at(-1)?.repeats], ['trusted', repeats])
    await guard.follow()
    await relapses()
  }
  world.passes(61 * MINUTE_MS)
  await guard.probeDue()
  assert.equal(world.terms.findLast(({ repeats }) => repeats > 0)?.repeats, 15)
})

test('only the first probe of a model, and one that adds images, take several samples', async () => {
  const { world, guard } = await started()
  assert.deepEqual(
    world.terms.map(({ samples }) => samples),
    [5, 1],
  )
  world.passes(15 * MINUTE_MS)
  await guard.probeDue()
  assert.deepEqual(world.terms.at(-1), { samples: 1, repeats: 0 })
})

test('a probe near the edge of the space calls for one of all texts and images, once a minute, and not where the last was near it too', async () => {
  const { world, guard } = await started()
  const traffic = { size: SMALL, perSecond: 1 }
  await seconds(world, [{ guard }], 130, traffic)
  const probes = world.terms.length
  world.edges.add(ONE)
  await seconds(world, [{ guard }], 55, traffic)
  assert.equal(world.terms.length, probes + 1)
  // The change shows in all texts by now.
  world.answers.set(ONE, 2)
  await seconds(world, [{ guard }], 30, traffic)
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

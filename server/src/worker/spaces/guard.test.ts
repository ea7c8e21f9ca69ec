import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Deployment } from '#core/catalog/catalog.ts'
import { spaceOf } from '#core/embedding/space.ts'
import { runs } from '#test/support/arbitraries.ts'
import { eventually } from '#test/support/process.ts'
import {
  catalogOf,
  cluster,
  hasLeft,
  MINUTE_MS,
  MODEL,
  modelIn,
  node,
  ONE,
  QUARTER_MS,
  SECOND_MS,
  stateOf,
  TWO,
  type Cluster,
} from '#test/support/space-cluster.ts'
import type { SpaceGuard } from './guard.ts'

test('the first that answers is the reference, and who answers otherwise never serves', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 2 })
  const { guard, held, alerts } = node(world, catalogOf('one', 'two'))
  assert.equal(guard.spaceNow({ id: MODEL }), undefined)
  await guard.probeDue()
  assert.deepEqual([stateOf(guard, ONE), stateOf(guard, TWO)], ['trusted', 'quarantined'])
  assert.deepEqual([...held], [TWO])
  assert.deepEqual(alerts, [`quarantined ${TWO}`])
  assert.equal(guard.referenceOf(MODEL)?.deployment, ONE)
  assert.equal(guard.spaceNow({ id: MODEL })?.generation, 1)
  assert.match(guard.standingOf(TWO)?.reason ?? '', /another space/)
})

test('before there is a reference, one deployment alone serves; when it is away, the next one becomes the reference', async () => {
  const world = cluster({ [ONE]: 'away', [TWO]: 2 })
  const { guard } = node(world, catalogOf('one', 'two'))
  assert.deepEqual([stateOf(guard, ONE), stateOf(guard, TWO)], ['trusted', 'held-back'])
  await guard.probeDue()
  assert.equal(guard.referenceOf(MODEL)?.deployment, TWO)
  assert.deepEqual([stateOf(guard, ONE), stateOf(guard, TWO)], ['held-back', 'trusted'])
  assert.match(
    guard.standingOf(ONE)?.reason ?? '',
    /not probed yet: the last probe failed \(no answer at all\)/,
  )
  world.answers.set(ONE, 2)
  world.passes(5 * SECOND_MS)
  await guard.probeDue()
  assert.equal(stateOf(guard, ONE), 'trusted')
})

test('a deployment that joins is held back in the same turn, and serves after its first probe', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const { guard, state, held } = node(world, catalogOf('one'))
  await guard.probeDue()
  state.catalog = catalogOf('one', 'two')
  guard.reload()
  assert.deepEqual([...held], [TWO])
  await guard.probeDue()
  assert.deepEqual([...held], [])
  assert.deepEqual(world.asked, [ONE, TWO])
})

test('a model that is not in memory is probed once it was asked, or when others are compared with it', async () => {
  let isAsleep = true
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const { guard, state } = node(world, catalogOf('one'), { isAsleep: () => isAsleep })
  await guard.probeDue()
  assert.deepEqual(world.asked, [])
  assert.equal(stateOf(guard, ONE), 'trusted')
  isAsleep = false
  await guard.probeDue()
  assert.deepEqual(world.asked, [ONE])
  isAsleep = true
  world.passes(2 * QUARTER_MS)
  await guard.probeDue()
  assert.deepEqual(world.asked, [ONE])
  state.catalog = catalogOf('one', 'two')
  await guard.probeDue()
  assert.deepEqual(new Set(world.asked.slice(1)), new Set([ONE, TWO]))
})

test('a deployment that leads elsewhere under the same id is a new one', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const { guard, state, held } = node(world, catalogOf('one', 'two'))
  await guard.probeDue()
  world.answers.set('https://two.example/new', 3)
  world.passes(5 * SECOND_MS)
  state.catalog = catalogOf('one', 'two@new')
  guard.reload()
  assert.deepEqual([...held], [TWO])
  await guard.probeDue()
  assert.equal(stateOf(guard, TWO), 'quarantined')
  state.catalog = catalogOf('one', 'two')
  guard.reload()
  assert.equal(stateOf(guard, TWO), 'trusted')
})

test('a restarted node trusts who was trusted, without a probe, and holds back who was not', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 2 })
  const first = node(world, catalogOf('one', 'two'))
  await first.guard.probeDue()
  world.asked.length = 0
  const second = node(world, catalogOf('one', 'two', 'three'), { isProber: false })
  await second.guard.follow()
  const states = [ONE, TWO, `${MODEL}/three`].map((id) => stateOf(second.guard, id))
  assert.deepEqual(states, ['trusted', 'quarantined', 'held-back'])
  await second.guard.probeDue()
  assert.deepEqual(world.asked, [])
})

test('every node follows: what one quarantines, all hold back; while the store is away they keep what they know', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const prober = node(world, catalogOf('one', 'two'))
  const other = node(world, catalogOf('one', 'two'), { isProber: false, followMs: 5 })
  await prober.guard.probeDue()
  await other.guard.start()
  assert.deepEqual([...other.held], [])
  world.answers.set(TWO, 2)
  world.passes(SECOND_MS)
  await prober.guard.probeNow(MODEL)
  await eventually(async () => assert.deepEqual([...other.held], [TWO]))
  other.link.otherwise = 'before'
  await eventually(async () => assert.ok(other.troubles.length > 2))
  assert.deepEqual([...other.held], [TWO])
  assert.equal(stateOf(other.guard, ONE), 'trusted')
  await other.guard.stop()
  assert.deepEqual(other.alerts, [])
})

test('what is seen while the store is away counts here at once, and everywhere when it is back', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const { guard, link, held } = node(world, catalogOf('one', 'two'))
  const other = node(world, catalogOf('one', 'two'), { isProber: false })
  await guard.probeDue()
  world.passes(MINUTE_MS)
  world.answers.set(TWO, 2)
  link.otherwise = 'before'
  await assert.rejects(guard.probeNow(MODEL), { name: 'StoreUnreachable' })
  assert.deepEqual([...held], [TWO])
  assert.equal(guard.isTrusted(TWO, world.clock.nowMs() - SECOND_MS), false)
  link.otherwise = 'none'
  await guard.follow()
  await other.guard.follow()
  assert.deepEqual([...held, ...other.held], [TWO, TWO])
  assert.equal(world.store.series(MODEL).length, 4)
})

test('who joins while the store is away and does not answer stays held back, and serves here once it was compared', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 'away' })
  const { guard, link, state, held } = node(world, catalogOf('one'))
  await guard.probeDue()
  link.otherwise = 'before'
  state.catalog = catalogOf('one', 'two')
  guard.reload()
  await assert.rejects(guard.probeNow(MODEL), { name: 'StoreUnreachable' })
  assert.deepEqual([...held], [TWO])
  world.answers.set(TWO, 1)
  world.passes(SECOND_MS)
  await assert.rejects(guard.probeNow(MODEL), { name: 'StoreUnreachable' })
  assert.deepEqual([...held], [])
})

test('a quarantine counts here from the probe on, though the store goes away as soon as it is written', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const { guard, link, held } = node(world, catalogOf('one', 'two'))
  await guard.probeDue()
  world.passes(SECOND_MS)
  world.answers.set(TWO, 2)
  link.planned.push('none', 'none')
  link.otherwise = 'before'
  await assert.rejects(guard.probeNow(MODEL), { name: 'StoreUnreachable' })
  assert.deepEqual([...held], [TWO])
  assert.equal((await world.store.standings()).filter(({ isQuarantined }) => isQuarantined).length, 1)
})

test('a node follows also while its first probes have no end', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const prober = node(world, catalogOf('one', 'two'))
  await prober.guard.probeDue()
  world.passes(QUARTER_MS)
  const late = Promise.withResolvers<void>()
  const other = node(world, catalogOf('one', 'two'), { followMs: 5, answersAfter: late.promise })
  const started = other.guard.start()
  await eventually(async () => assert.deepEqual(world.asked.splice(2), [ONE, TWO]))
  world.answers.set(TWO, 2)
  await prober.guard.probeNow(MODEL)
  await eventually(async () => assert.deepEqual([...other.held], [TWO]))
  late.resolve()
  await started
  await other.guard.stop()
})

test('what was made between the last good probe and the next is never trusted again, on no node, after no restart', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const { guard } = node(world, catalogOf('one', 'two'))
  await guard.probeDue()
  const goodAtMs = world.clock.nowMs()
  world.passes(QUARTER_MS)
  world.answers.set(TWO, 2)
  await guard.probeDue()
  const [before, within] = [goodAtMs - MINUTE_MS, goodAtMs + MINUTE_MS]
  assert.deepEqual([guard.isTrusted(TWO, before), guard.isTrusted(TWO, within)], [true, false])
  assert.equal(guard.isTrusted(ONE, within), true)
  world.answers.set(TWO, 1)
  world.passes(MINUTE_MS)
  await guard.probeDue()
  assert.equal(stateOf(guard, TWO), 'trusted')
  const again = node(world, catalogOf('one', 'two'), { isProber: false })
  assert.equal(again.guard.isTrusted(ONE, before), false, 'nothing is known yet')
  await again.guard.follow()
  for (const each of [guard, again.guard]) {
    assert.equal(each.isTrusted(TWO, before), true)
    assert.equal(each.isTrusted(TWO, within), false)
    assert.equal(each.isTrusted(TWO, world.clock.nowMs() + 1), true)
    assert.equal(each.isTrusted('nobody/knows', before), false)
  }
  const without = node(world, catalogOf('one'), { isProber: false })
  await without.guard.follow()
  assert.deepEqual(
    [before, within].map((atMs) => without.guard.isTrusted(TWO, atMs)),
    [true, false],
  )
})

test('vectors have left their space if their deployment was outside while it made some of them, or another space was accepted', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const { guard, state } = node(world, catalogOf('one', 'two'))
  const space = spaceOf(MODEL, 8)
  const made = (deployment: string, fromMs: number, untilMs: number) => ({
    space,
    deployment,
    fromMs,
    untilMs,
  })
  assert.equal(hasLeft(guard, made('nobody/knows', 0, Infinity)), false, 'nothing is known yet')
  await guard.probeDue()
  const goodAtMs = world.clock.nowMs()
  const [before, within] = [goodAtMs - MINUTE_MS, goodAtMs + MINUTE_MS]
  world.passes(QUARTER_MS)
  assert.equal(hasLeft(guard, made(TWO, before, within)), false)
  world.answers.set(TWO, 2)
  await guard.probeDue()
  const assertLeft = (): void => {
    assert.equal(hasLeft(guard, made(TWO, before, before)), false)
    assert.equal(hasLeft(guard, made(TWO, within, within)), true)
    assert.equal(hasLeft(guard, made(TWO, before, within)), true)
    assert.equal(hasLeft(guard, made(ONE, before, within)), false)
  }
  assertLeft()
  world.answers.set(TWO, 1)
  world.passes(MINUTE_MS)
  await guard.probeDue()
  assertLeft()
  assert.equal(hasLeft(guard, made(TWO, world.clock.nowMs() + 1, world.clock.nowMs() + 2)), false)
  state.catalog = catalogOf('one', 'two@elsewhere')
  guard.reload()
  assertLeft()
  world.answers.set(ONE, 3)
  const model = modelIn(state.catalog)
  await guard.accept(model, model.deployments[0] as Deployment, { kind: 'member', name: 'admin' })
  assert.equal(hasLeft(guard, made(ONE, before, before)), true)
  assert.equal(hasLeft(guard, { ...made(ONE, before, before), space: spaceOf(MODEL, 8, 2) }), false)
})

test('what a quarantined deployment made until it led elsewhere is not trusted, what it makes since then is', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1, 'https://two.example/new': 1 })
  const { guard, state } = node(world, catalogOf('one', 'two'))
  await guard.probeDue()
  world.passes(MINUTE_MS)
  world.answers.set(TWO, 2)
  await guard.probeNow(MODEL)
  const foundAtMs = world.clock.nowMs()
  world.passes(MINUTE_MS)
  state.catalog = catalogOf('one', 'two@new')
  guard.reload()
  await guard.probeDue()
  assert.equal(stateOf(guard, TWO), 'trusted')
  assert.equal(guard.isTrusted(TWO, foundAtMs + 59 * SECOND_MS), false)
  assert.equal(guard.isTrusted(TWO, world.clock.nowMs() + 1), true)
})

test('whatever happens, nobody serves whose last comparison was bad, and all nodes come to agree', async () => {
  const event = fc.oneof(
    fc.record({ kind: fc.constant('answers' as const), two: fc.boolean(), seed: fc.constantFrom(1, 2, 3) }),
    fc.record({ kind: fc.constant('away' as const), two: fc.boolean() }),
    fc.record({ kind: fc.constant('store' as const), isAway: fc.boolean() }),
    fc.record({ kind: fc.constant('accept' as const), two: fc.boolean() }),
    fc.record({ kind: fc.constant('passes' as const), ms: fc.constantFrom(1000, MINUTE_MS, QUARTER_MS) }),
  )
  const history = async (events: readonly (typeof event extends fc.Arbitrary<infer E> ? E : never)[]) => {
    const world = cluster({ [ONE]: 1, [TWO]: 1 })
    const catalog = catalogOf('one', 'two')
    const prober = node(world, catalog)
    const other = node(world, catalog, { isProber: false })
    await prober.guard.follow()
    for (const each of events) {
      world.passes(1)
      const id = 'two' in each && each.two ? TWO : ONE
      if (each.kind === 'answers') world.answers.set(id, each.seed)
      if (each.kind === 'away') world.answers.set(id, 'away')
      if (each.kind === 'store') prober.link.otherwise = each.isAway ? 'before' : 'none'
      if (each.kind === 'passes') world.passes(each.ms)
      if (each.kind === 'accept') {
        const deployment = modelIn(catalog).deployments.find((one) => one.id === id) as Deployment
        await prober.guard
          .accept(modelIn(catalog), deployment, { kind: 'member', name: 'alice' })
          .catch(() => {})
      }
      await prober.guard.probeDue()
      await other.guard.follow()
      for (const { guard, held } of [prober, other])
        for (const one of [ONE, TWO]) {
          assert.equal(guard.standingOf(one)?.isQuarantined, held.has(one))
          const { state, last } = guard.standingOf(one) ?? {}
          if (last?.verdict === 'quarantined') assert.notEqual(state, 'trusted')
        }
      await assertOneSpace(world, other.guard)
    }
    prober.link.otherwise = 'none'
    await prober.guard.follow()
    await other.guard.follow()
    assert.deepEqual([...other.held].toSorted(), [...prober.held].toSorted())
    assert.equal(
      other.guard.spaceNow({ id: MODEL })?.generation,
      prober.guard.spaceNow({ id: MODEL })?.generation,
    )
  }
  await fc.assert(fc.asyncProperty(fc.array(event, { maxLength: 12 }), history), runs(150))
})

/** All serving deployments were compared, when they last could be, with the only reference. */
async function assertOneSpace(world: Cluster, guard: SpaceGuard): Promise<void> {
  const [reference] = await world.store.references()
  if (reference === undefined) return
  const space = spaceOf(MODEL, reference.width, reference.generation)
  const rows = await world.store.standings()
  for (const id of [ONE, TWO]) {
    if (guard.standingOf(id)?.isQuarantined !== false) continue
    const row = rows.find(({ deployment }) => deployment === id)
    assert.deepEqual([row?.space, row?.isQuarantined], [space, false])
  }
}

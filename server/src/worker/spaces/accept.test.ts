import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '#core/catalog/catalog.ts'
import { spaceOf } from '#core/embedding/space.ts'
import { Fault } from '#core/fault/fault.ts'
import type { SpaceStore } from '#ports/spaces.ts'
import {
  catalogOf,
  cluster,
  MINUTE_MS,
  MODEL,
  modelIn,
  node,
  ONE,
  SECOND_MS,
  stateOf,
  TWO,
  vectorsOf,
} from '#test/support/space-cluster.ts'

for (const moment of ['standings', 'references'] as const)
  test(`an acceptance right after ${moment} were read is not missed`, async () => {
    const world = cluster({ [ONE]: 1, [TWO]: 2 })
    const catalog = catalogOf('one', 'two')
    const prober = node(world, catalog)
    await prober.guard.probeDue()
    world.passes(SECOND_MS)
    const { promise: accepted, resolve } = Promise.withResolvers<void>()
    const store = afterwards(world.store, moment, async () => {
      await prober.guard.accept(modelIn(catalog), modelIn(catalog).deployments[1] as Deployment, {
        kind: 'member',
        name: 'alice',
      })
      resolve()
    })
    const other = node(world, catalog, { isProber: false, store })
    await other.guard.follow()
    await accepted
    assert.equal(other.guard.standingOf(TWO)?.isQuarantined, true)
    await other.guard.follow()
    assert.equal(other.guard.spaceNow({ id: MODEL })?.generation, 2)
    assert.deepEqual([...other.held], [ONE])
  })

/** The same store, but once, after it was read, something happens before the reader has the answer. */
function afterwards(store: SpaceStore, name: keyof SpaceStore, happens: () => Promise<void>): SpaceStore {
  let isOver = false
  return new Proxy(store, {
    get(target, property) {
      const method = Reflect.get(target, property, target) as (...args: unknown[]) => Promise<unknown>
      return async (...args: unknown[]) => {
        const result = await Reflect.apply(method, target, args)
        if (property === name && !isOver) {
          isOver = true
          await happens()
        }
        return result
      }
    },
  })
}

test('an accepted space is the next generation, and all others are held back until they were compared with it', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 2 })
  const catalog = catalogOf('one', 'two')
  const model = modelIn(catalog)
  const two = model.deployments[1] as Deployment
  const { guard, standings } = node(world, catalog)
  const other = node(world, catalog, { isProber: false })
  await guard.probeDue()
  await other.guard.follow()
  standings.length = 0
  world.passes(MINUTE_MS)
  const accepted = await guard.accept(model, two, { kind: 'member', name: 'alice' })
  assert.deepEqual([accepted.generation, accepted.deployment], [2, TWO])
  assert.equal(guard.spaceNow({ id: MODEL })?.generation, 2)
  assert.deepEqual(standings, [`${ONE} held-back`, `${TWO} trusted`])
  await guard.probeDue()
  assert.deepEqual([stateOf(guard, ONE), stateOf(guard, TWO)], ['quarantined', 'trusted'])
  await other.guard.follow()
  assert.equal(other.guard.spaceNow({ id: MODEL })?.generation, 2)
  assert.deepEqual([...other.held], [ONE])
  assert.equal(world.store.series(MODEL)[0]?.space, spaceOf(MODEL, 8, 2))
  const [entry] = await world.audit.list({ limit: 1 })
  assert.deepEqual([entry?.actor, entry?.action, entry?.target], ['alice', 'space.accept', MODEL])
})

test('nothing is accepted from who does not answer, nor from who is in the space already', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 'away' })
  const catalog = catalogOf('one', 'two')
  const [one, two] = modelIn(catalog).deployments as [Deployment, Deployment]
  const { guard } = node(world, catalog)
  await guard.probeDue()
  await assert.rejects(guard.accept(modelIn(catalog), two, { kind: 'member', name: 'alice' }), Fault)
  await assert.rejects(
    guard.accept(modelIn(catalog), one, { kind: 'member', name: 'alice' }),
    /nothing to accept/,
  )
  assert.equal(guard.spaceNow({ id: MODEL })?.generation, 1)
})

test('an acceptance whose answer was lost is known after the second try, which is refused', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 2 })
  const catalog = catalogOf('one', 'two')
  const two = modelIn(catalog).deployments[1] as Deployment
  const { guard, link } = node(world, catalog, { isProber: false })
  const prober = node(world, catalog)
  await prober.guard.probeDue()
  await guard.follow()
  world.passes(SECOND_MS)
  link.planned.push('none', 'after')
  await assert.rejects(guard.accept(modelIn(catalog), two, { kind: 'member', name: 'alice' }), {
    name: 'StoreUnreachable',
  })
  world.passes(SECOND_MS)
  await assert.rejects(
    guard.accept(modelIn(catalog), two, { kind: 'member', name: 'alice' }),
    /nothing to accept/,
  )
  assert.equal(guard.spaceNow({ id: MODEL })?.generation, 2)
  assert.deepEqual([stateOf(guard, ONE), stateOf(guard, TWO)], ['held-back', 'trusted'])
})

test('two that accept at once: one space counts, and the other is told so', async () => {
  const world = cluster({ [ONE]: 2, [TWO]: 3 })
  const catalog = catalogOf('one', 'two')
  const nodes = [node(world, catalog), node(world, catalog)]
  await world.store.beginReference({
    model: MODEL,
    generation: 1,
    width: 8,
    vectors: vectorsOf(1),
    deployment: ONE,
    acceptedAtMs: 0,
  })
  const results = await Promise.allSettled(
    nodes.map(({ guard, link }, index) => {
      link.rounds = 2
      return guard.accept(modelIn(catalog), modelIn(catalog).deployments[index] as Deployment, {
        kind: 'member',
        name: 'alice',
      })
    }),
  )
  assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  assert.equal((await world.store.references())[0]?.generation, 2)
})

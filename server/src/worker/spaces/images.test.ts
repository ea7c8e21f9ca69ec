/** References of images: which answer makes them, and what they decide. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '#core/catalog/catalog.ts'
import {
  catalogOf,
  cluster,
  MINUTE_MS,
  MODEL,
  modelIn,
  node,
  ONE,
  QUARTER_MS,
  SECOND_MS,
  stateOf,
  TWO,
  vectorsOf,
} from '#test/support/space-cluster.ts'

const IMAGES = ['scene', 'page', 'chart']

test('a model whose reference has texts alone gets its images at the next good probe, in the same space', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  const { guard, state } = node(world, catalogOf('one', 'two'))
  await guard.probeDue()
  assert.equal(guard.referenceOf(MODEL)?.imageVectors, undefined)
  state.catalog = catalogOf('one+images', 'two+images')
  guard.reload()
  world.images.set(ONE, 5).set(TWO, 5)
  world.passes(MINUTE_MS)
  await guard.probeDue()
  const reference = guard.referenceOf(MODEL)
  assert.deepEqual(reference?.imageVectors, vectorsOf(5, IMAGES))
  assert.deepEqual([reference.generation, reference.vectors], [1, vectorsOf(1)])
  assert.deepEqual([stateOf(guard, ONE), stateOf(guard, TWO)], ['trusted', 'trusted'])
  assert.equal(guard.standingOf(ONE)?.last?.cosines?.length, 11)
})

test('the first by priority makes the images of a model, and who differs only in images is quarantined for them', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  world.images.set(ONE, 5).set(TWO, 6)
  const { guard, alerts } = node(world, catalogOf('one+images', 'two+images'))
  await guard.probeDue()
  assert.deepEqual([stateOf(guard, ONE), stateOf(guard, TWO)], ['trusted', 'quarantined'])
  assert.match(guard.standingOf(TWO)?.reason ?? '', /^images are in another space/)
  assert.deepEqual(alerts, [`quarantined ${TWO}`])
  assert.equal(guard.isTrusted(TWO, world.clock.nowMs()), false)
})

test('of deployments of which some take images, all are compared by texts, and those by images too', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1, [`${MODEL}/three`]: 1 })
  world.images.set(TWO, 5).set(`${MODEL}/three`, 5)
  const { guard } = node(world, catalogOf('one', 'two+images', 'three+images'))
  await guard.probeDue()
  assert.equal(guard.standingOf(ONE)?.last?.cosines?.length, 8)
  assert.equal(guard.standingOf(TWO)?.last?.cosines?.length, 11)
  world.images.set(`${MODEL}/three`, 6)
  world.answers.set(ONE, 2)
  world.passes(QUARTER_MS)
  await guard.probeDue()
  const states = [ONE, TWO, `${MODEL}/three`].map((id) => stateOf(guard, id))
  assert.deepEqual(states, ['quarantined', 'trusted', 'quarantined'])
})

test('texts that left their space bring no images into the reference', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 2 })
  const { guard, state } = node(world, catalogOf('one'))
  await guard.probeDue()
  state.catalog = catalogOf('one', 'two+images')
  guard.reload()
  world.passes(SECOND_MS)
  await guard.probeDue()
  assert.equal(stateOf(guard, TWO), 'quarantined')
  assert.equal(guard.referenceOf(MODEL)?.imageVectors, undefined)
})

test('images without an answer make no reference and lift nothing, and texts are compared all the same', async () => {
  const world = cluster({ [ONE]: 1 })
  world.images.set(ONE, 'away')
  const { guard } = node(world, catalogOf('one+images'))
  await guard.probeDue()
  assert.equal(guard.referenceOf(MODEL), undefined)
  assert.equal(stateOf(guard, ONE), 'trusted', 'the only one serves')
  world.images.set(ONE, 5)
  world.passes(MINUTE_MS)
  await guard.probeDue()
  assert.deepEqual(guard.referenceOf(MODEL)?.imageVectors, vectorsOf(5, IMAGES))
  world.images.set(ONE, 'away')
  world.passes(QUARTER_MS)
  await guard.probeDue()
  const { state, last } = guard.standingOf(ONE) ?? {}
  assert.deepEqual([state, last?.verdict, last?.reason], ['trusted', 'failed', 'images: no images today'])
  world.answers.set(ONE, 2)
  world.passes(MINUTE_MS)
  await guard.probeDue()
  assert.equal(stateOf(guard, ONE), 'quarantined')
})

test('an accepted space has the images of the deployment that was accepted', async () => {
  const world = cluster({ [ONE]: 1, [TWO]: 1 })
  world.images.set(ONE, 5).set(TWO, 6)
  const catalog = catalogOf('one+images', 'two+images')
  const { guard } = node(world, catalog)
  await guard.probeDue()
  world.passes(SECOND_MS)
  const two = modelIn(catalog).deployments[1] as Deployment
  const accepted = await guard.accept(modelIn(catalog), two, { kind: 'member', name: 'alice' })
  assert.deepEqual([accepted.generation, accepted.imageVectors], [2, vectorsOf(6, IMAGES)])
  await guard.probeDue()
  assert.deepEqual([stateOf(guard, ONE), stateOf(guard, TWO)], ['quarantined', 'trusted'])
})

test('two nodes that add images at once have the same ones', async () => {
  const world = cluster({ [ONE]: 1 })
  const nodes = [node(world, catalogOf('one')), node(world, catalogOf('one'))]
  await nodes[0]?.guard.probeDue()
  for (const { guard, state } of nodes) {
    await guard.follow(true)
    state.catalog = catalogOf('one+images')
    guard.reload()
  }
  world.images.set(ONE, 5)
  world.passes(SECOND_MS)
  await nodes[0]?.guard.probeNow(MODEL)
  world.images.set(ONE, 6)
  world.passes(SECOND_MS)
  await nodes[1]?.guard.probeNow(MODEL)
  for (const { guard } of nodes)
    assert.deepEqual(guard.referenceOf(MODEL)?.imageVectors, vectorsOf(5, IMAGES))
  assert.equal(nodes[1] && stateOf(nodes[1].guard, ONE), 'quarantined')
})

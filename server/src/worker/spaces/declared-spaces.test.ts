import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '#core/catalog/catalog.ts'
import { answeringSpace, spaceOf } from '#core/embedding/space.ts'
import {
  catalogOf,
  cluster,
  hasLeft,
  declaringCatalog,
  modelIn,
  node,
  SECOND_MS,
} from '#test/support/space-cluster.ts'

const [LARGE, SMALL] = ['large', 'small']
const ADMIN = { kind: 'member', name: 'alice' } as const

async function declaring() {
  const world = cluster({ 'large/one': 1, 'small/one': 2 })
  const catalog = declaringCatalog('makers', [LARGE, SMALL])
  const { guard, state } = node(world, catalog)
  await guard.probeDue()
  const nameOf = (id: string): string => {
    const now = guard.spaceNow(modelIn(catalog, id))
    return now === undefined ? 'unknown' : answeringSpace(now, 8)
  }
  const accept = async (id: string, seed: number): Promise<void> => {
    world.answers.set(`${id}/one`, seed)
    const model = modelIn(catalog, id)
    await guard.accept(model, model.deployments[0] as Deployment, ADMIN)
  }
  return { world, guard, state, nameOf, accept }
}

test('each model of a declared space is compared with its own reference, and all are named alike', async () => {
  const { world, guard, nameOf } = await declaring()
  assert.equal(nameOf(LARGE), nameOf(SMALL))
  assert.match(nameOf(LARGE), /^makers@8:/)
  assert.notDeepEqual(guard.referenceOf(LARGE)?.vectors, guard.referenceOf(SMALL)?.vectors)
  world.passes(SECOND_MS)
  world.answers.set('small/one', 1)
  await guard.probeNow(SMALL)
  assert.equal(
    guard.standingOf('small/one')?.state,
    'quarantined',
    'the vectors of large are not those of small',
  )
  assert.equal(guard.standingOf('large/one')?.state, 'trusted')
})

test('accepting a space for one model gives the declared space another name for all its models, and each time another one', async () => {
  const { guard, nameOf, accept } = await declaring()
  const names = [nameOf(SMALL)]
  for (const [id, seed] of [
    [SMALL, 3],
    [LARGE, 4],
    [SMALL, 5],
  ] as const) {
    await accept(id, seed)
    assert.equal(nameOf(LARGE), nameOf(SMALL))
    names.push(nameOf(SMALL))
  }
  assert.equal(new Set(names).size, 4)
  const generations = [LARGE, SMALL].map((id) => guard.referenceOf(id)?.generation)
  assert.deepEqual(generations, [2, 3])
})

test('vectors have left a declared space once one of its models has another one, or no model declares it', async () => {
  const { world, guard, state, nameOf, accept } = await declaring()
  const made = { deployment: 'large/one', fromMs: world.clock.nowMs(), untilMs: world.clock.nowMs() }
  const before = { ...made, space: nameOf(LARGE) }
  const own = { ...made, space: spaceOf(LARGE, 8) }
  assert.deepEqual([hasLeft(guard, before), hasLeft(guard, own)], [false, false])
  await accept(SMALL, 3)
  assert.deepEqual([hasLeft(guard, before), hasLeft(guard, own)], [true, false])
  const after = { ...made, space: nameOf(LARGE) }
  assert.equal(hasLeft(guard, after), false)
  state.catalog = catalogOf('one')
  guard.reload()
  assert.equal(hasLeft(guard, after), true)
})

/** Spaces that several models declare, on PostgreSQL: what nodes call them while admins accept others at the same time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '#core/catalog/catalog.ts'
import { answeringSpace } from '#core/embedding/space.ts'
import { postgresDirectory } from '#test/support/directory.ts'
import { cluster, declaringCatalog, modelIn, node } from '#test/support/space-cluster.ts'
import { databaseSpaces } from './spaces.ts'

const MODELS = ['large', 'small'] as const
const catalog = declaringCatalog('makers', MODELS)
const open = databaseSpaces(postgresDirectory())
const ROUNDS = 10

type Guard = ReturnType<typeof node>['guard']

const generationsOf = (guard: Guard): string =>
  MODELS.map((id) => guard.referenceOf(id)?.generation ?? 1).join()

function nameBy(guard: Guard): string {
  const [name, ...others] = MODELS.map((id) => {
    const now = guard.spaceNow(modelIn(catalog, id))
    return now && answeringSpace(now, 8)
  })
  for (const other of others) assert.equal(other, name, 'models of one space have one name')
  return name ?? assert.fail('the name is not known')
}

async function accept(guard: Guard, id: string): Promise<void> {
  const model = modelIn(catalog, id)
  await guard.accept(model, model.deployments[0] as Deployment, { kind: 'member', name: 'alice' })
}

test('nodes that accept spaces of two models at once agree on the name, and no name ever stands for two states of the models', async () => {
  const { spaces: store } = await open()
  const world = cluster({ 'large/one': 1, 'small/one': 2 })
  const one = node(world, catalog, { store })
  const two = node(world, catalog, { store, isProber: false })
  const bystander = node(world, catalog, { store, isProber: false })
  const guards = [one.guard, two.guard, bystander.guard]
  await one.guard.probeDue()
  for (const guard of guards) await guard.follow(true)
  const states = new Map<string, string>()
  const look = (guard: Guard): void => {
    const name = nameBy(guard)
    const known = states.get(name)
    if (known === undefined) states.set(name, generationsOf(guard))
    else assert.equal(generationsOf(guard), known)
  }
  for (let round = 1; round <= ROUNDS; round += 1) {
    const before = nameBy(one.guard)
    world.passes(1000)
    world.answers.set('large/one', 10 * round + 1)
    world.answers.set('small/one', 10 * round + 2)
    const over = new AbortController()
    const watching = (async () => {
      while (!over.signal.aborted) {
        await bystander.guard.follow(true)
        for (const guard of guards) look(guard)
      }
    })()
    const accepting = Promise.all([accept(one.guard, 'large'), accept(two.guard, 'small')])
    await Promise.all([watching, accepting.finally(() => over.abort())])
    for (const guard of guards) await guard.follow(true)
    for (const guard of guards) look(guard)
    assert.equal(new Set(guards.map(nameBy)).size, 1)
    assert.notEqual(nameBy(one.guard), before)
    assert.equal(generationsOf(one.guard), `${round + 1},${round + 1}`)
  }
  assert.deepEqual([one.troubles, two.troubles, bystander.troubles], [[], [], []])
})

test('of two nodes that accept spaces of the same model at once one is refused, and the name changes once', async () => {
  const { spaces: store } = await open()
  const world = cluster({ 'large/one': 1, 'small/one': 2 })
  const nodes = [node(world, catalog, { store }), node(world, catalog, { store, isProber: false })]
  const guards = nodes.map(({ guard }) => guard)
  await guards[0]?.probeDue()
  for (const guard of guards) await guard.follow(true)
  world.passes(1000)
  world.answers.set('large/one', 3)
  const settled = await Promise.allSettled(guards.map((guard) => accept(guard, 'large')))
  assert.ok(settled.some(({ status }) => status === 'fulfilled'))
  for (const guard of guards) await guard.follow(true)
  assert.deepEqual(guards.map(generationsOf), ['2,1', '2,1'])
  assert.equal(new Set(guards.map(nameBy)).size, 1)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkOwner } from '#ports/keys.ts'
import { STALE_KEYS_MS } from './key-snapshot.ts'
import { NodeTerms } from './node-terms.ts'
import { MemoryKeys } from '#stores/memory/keys.ts'
import { memoryDirectory, someSecret } from '#test/support/directory.ts'
import { keyNode, Link, TestClock } from '#test/support/key-nodes.ts'

const BY = { kind: 'member', name: 'tester' } as const
const OWNER: WorkOwner = { keyId: 'p/k', project: 'p', player: undefined }
const MUCH = { limitNanoUsd: 5n, per: 'day', hard: true } as const

/** A node on a store whose link can be cut, with a key `p/k` in the store. */
async function aNode() {
  const { keyStore } = memoryDirectory()
  await keyStore.createKey({ project: 'p', name: 'k', secret: someSecret().stored }, BY)
  const [link, clock] = [new Link(keyStore), new TestClock()]
  const { snapshot } = keyNode(link, { clock })
  await snapshot.start()
  const declared = new MemoryKeys((secret) => secret)
  const terms = new NodeTerms({
    declared,
    snapshot,
    source: link,
    budgetInForce: (id) => snapshot.budgetInForce(id),
    playerNow: async () => ({ standing: 'revoked', isProjectDeleted: false }),
    clock,
  })
  const standing = async (owner = OWNER) => (await terms.of(owner)).standing
  return { keyStore, link, clock, snapshot, declared, terms, standing }
}

test('a key that this node knows is told at once, by its present terms', async () => {
  const { keyStore, snapshot, terms } = await aNode()
  const now = terms.of(OWNER)
  assert.ok(!(now instanceof Promise) && now.standing === 'valid')
  assert.deepEqual(now.key.budgets, [])
  await keyStore.setProject('p', { budget: MUCH }, BY)
  await snapshot.refresh()
  const later = terms.of(OWNER)
  assert.ok(!(later instanceof Promise) && later.standing === 'valid')
  assert.deepEqual(later.key.budgets, [{ id: 'project:p', ...MUCH }])
  assert.deepEqual(terms.ofProject(OWNER)?.budgets, [{ id: 'project:p', ...MUCH }])
})

test('a rotated key is good; expired, revoked and leaked ones and a deleted project are told apart', async () => {
  const { keyStore, snapshot, clock, standing, terms } = await aNode()
  const heard = async (): Promise<void> => {
    clock.advance(1000)
    await snapshot.refresh()
  }
  await keyStore.rotateKey('p/k', someSecret().stored, 0, BY)
  await heard()
  assert.equal(await standing(), 'valid')
  await keyStore.setKey('p/k', { expiresAtMs: clock.nowMs() + 1000 }, BY)
  await heard()
  assert.equal(await standing(), 'expired')
  await keyStore.setKey('p/k', { expiresAtMs: null }, BY)
  await heard()
  assert.equal(await standing(), 'valid')
  await keyStore.revokeKey('p/k', BY)
  await heard()
  assert.equal(await standing(), 'revoked')
  await keyStore.revokeKey('p/k', BY, true)
  await heard()
  assert.equal(await standing(), 'leaked')
  await keyStore.deleteProject('p', BY)
  await heard()
  const now = await terms.of(OWNER)
  assert.ok(now.standing !== 'valid' && now.isProjectDeleted)
})

test('a key that another node has just made is good here at once, not revoked', async () => {
  const { keyStore, standing } = await aNode()
  await keyStore.createKey({ project: 'p', name: 'new', secret: someSecret().stored }, BY)
  assert.equal(await standing({ ...OWNER, keyId: 'p/new' }), 'valid')
})

test('while the store is unreachable the last known terms hold for an hour; then they are unknown, and no key counts as revoked', async () => {
  const { keyStore, link, clock, snapshot, standing, terms } = await aNode()
  link.isCut = true
  await snapshot.refresh()
  assert.equal(await standing(), 'valid')
  assert.equal(await standing({ ...OWNER, keyId: 'p/other' }), 'unreachable')
  clock.advance(STALE_KEYS_MS - 1)
  assert.equal(await standing(), 'valid')
  clock.advance(1)
  assert.equal(await standing(), 'unreachable')
  assert.equal(terms.ofProject(OWNER), undefined)
  await keyStore.revokeKey('p/k', BY)
  assert.equal(await standing(), 'unreachable')
  link.isCut = false
  await snapshot.refresh()
  assert.equal(await standing(), 'revoked')
})

test('a key of torana.yaml is good until the file lists it no more, whatever the store does', async () => {
  const { declared, link, clock, snapshot, standing, terms } = await aNode()
  const owner = { keyId: 'filed/k', project: 'filed', player: undefined }
  const file = (names: readonly string[]) => [
    { name: 'filed', budget: MUCH, keys: names.map((name) => ({ name, secret: `secret of ${name} 0001` })) },
  ]
  const reload = async (names: readonly string[]): Promise<void> =>
    (await declared.prepare(file(names), async () => {}))()
  await reload(['k'])
  link.isCut = true
  clock.advance(2 * STALE_KEYS_MS)
  assert.equal(await standing(owner), 'valid')
  link.isCut = false
  await snapshot.refresh()
  await reload(['another'])
  assert.equal(await standing(owner), 'revoked')
  assert.ok(terms.ofProject(owner))
})

test('a key that has ended costs one question a second, however often it is asked about', async () => {
  const { keyStore, link, clock, snapshot, standing } = await aNode()
  await keyStore.revokeKey('p/k', BY)
  await snapshot.refresh()
  let questions = 0
  const ask = link.standingOf.bind(link)
  link.standingOf = (owner) => {
    questions += 1
    return ask(owner)
  }
  for (let count = 0; count < 100; count += 1) assert.equal(await standing(), 'revoked')
  assert.equal(questions, 1)
  clock.advance(1000)
  await standing()
  assert.equal(questions, 2)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Project } from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import type { Key } from '#ports/keys.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { systemClock } from '#runtime/clock.ts'
import { peppersOf } from '#runtime/secret.ts'
import { MemoryKeys } from '#stores/memory/keys.ts'
import { runs } from '#test/support/arbitraries.ts'
import { digested, memoryDirectory, someSecret } from '#test/support/directory.ts'
import { keyNode, Link, TestClock, type NodeOptions } from '#test/support/key-nodes.ts'
import { authenticate } from '#request/access/authenticate.ts'
import { declaredFirst } from './declared-first.ts'
import { STALE_KEYS_MS } from './key-snapshot.ts'

/** A store with one key `p/k`, and a node that has loaded it. */
async function loaded(options: NodeOptions = {}) {
  const { keyStore } = memoryDirectory()
  const { secret, stored } = someSecret()
  await keyStore.createKey({ project: 'p', name: 'k', secret: stored }, { kind: 'member', name: 'tester' })
  const clock = new TestClock()
  const link = new Link(keyStore)
  const { snapshot, troubles } = keyNode(link, { clock, ...options })
  await snapshot.start()
  return { keyStore, secret, clock, link, snapshot, troubles }
}

test('a key of the store is known at once, without a question', async () => {
  const { snapshot, secret, link } = await loaded()
  const key = snapshot.find(secret)
  assert.ok(key && !(key instanceof Promise))
  assert.equal(key.id, 'p/k')
  assert.equal(link.lookUps, 0)
  assert.ok(snapshot.isLoaded)
})

test('limits and budgets of project and key bind the key, and follow changes', async () => {
  const { snapshot, secret, keyStore } = await loaded()
  await keyStore.setProject('p', { limits: { requestsPerMinute: 10 } }, { kind: 'member', name: 'tester' })
  const budget = { limitNanoUsd: 5n, per: 'day', hard: true } as const
  await keyStore.setKey('p/k', { budget, models: ['m'] }, { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  const key = (await snapshot.find(secret)) as Key
  assert.deepEqual(key.limits, [{ id: 'project:p:requests', project: 'p', unit: 'requests', perMinute: 10 }])
  assert.deepEqual(key.budgets, [{ id: 'key:p/k', ...budget }])
  assert.deepEqual([...(key.models ?? [])], ['m'])
})

test('the budget in force follows changes, and is the same object until there is one', async () => {
  const { snapshot, keyStore } = await loaded()
  const budget = { limitNanoUsd: 5n, per: 'day', hard: true } as const
  await keyStore.setProject('p', { budget }, { kind: 'member', name: 'tester' })
  await keyStore.setKey('p/k', { budget }, { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  const [ofProject, ofKey] = [snapshot.budgetInForce('project:p'), snapshot.budgetInForce('key:p/k')]
  assert.deepEqual(
    [ofProject, ofKey],
    [
      { id: 'project:p', ...budget },
      { id: 'key:p/k', ...budget },
    ],
  )
  await keyStore.setKey('p/k', { models: ['m'] }, { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  assert.equal(snapshot.budgetInForce('project:p'), ofProject)
  await keyStore.setProject(
    'p',
    { budget: { ...budget, limitNanoUsd: 4n } },
    { kind: 'member', name: 'tester' },
  )
  await keyStore.setKey('p/k', { budget: null }, { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  assert.equal(snapshot.budgetInForce('project:p')?.limitNanoUsd, 4n)
  assert.equal(snapshot.budgetInForce('key:p/k'), undefined)
})

test('the budget of a project without a key is in force too, from the start and after a change', async () => {
  const { snapshot, keyStore } = await loaded()
  const budget = { limitNanoUsd: 5n, per: 'day', hard: true } as const
  await keyStore.createProject('keyless', { budget }, { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  const first = snapshot.budgetInForce('project:keyless')
  assert.deepEqual(first, { id: 'project:keyless', ...budget })
  await keyStore.setProject('p', { limits: { requestsPerMinute: 10 } }, { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  assert.equal(snapshot.budgetInForce('project:keyless'), first)
  await keyStore.setProject('keyless', { budget: null }, { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  assert.equal(snapshot.budgetInForce('project:keyless'), undefined)
})

async function replace(keys: MemoryKeys, projects: readonly Project[]): Promise<void> {
  const change = await keys.prepare(projects, async () => {})
  change()
}

test('budgets of the configuration are in force from its reload on, and the same objects until they change', async () => {
  const keys = new MemoryKeys((text) => text)
  const budget = { limitNanoUsd: 5n, per: 'day', hard: true } as const
  const key = { name: 'k', secret: 'secret', budget, managedBy: 'test' }
  const project = { name: 'p', keys: [key], budget }
  await replace(keys, [project])
  const ofProject = keys.budgetInForce('project:p')
  assert.deepEqual(ofProject, { id: 'project:p', ...budget })
  assert.deepEqual(keys.budgetInForce('key:p/k'), { id: 'key:p/k', ...budget })
  await replace(keys, [{ ...project, keys: [] }])
  assert.equal(keys.budgetInForce('project:p'), ofProject)
  assert.equal(keys.budgetInForce('key:p/k'), undefined)
  await replace(keys, [{ ...project, keys: [], budget: { ...budget, per: 'week' } }])
  assert.equal(keys.budgetInForce('project:p')?.per, 'week')
})

test('keys of a configuration that is being prepared count when all of it is ready, and not before', async () => {
  const keys = new MemoryKeys((text) => text)
  const secrets = Array.from({ length: 1200 }, (_, index) => `secret-${index}`)
  let pauses = 0
  const change = await keys.prepare(
    [{ name: 'p', keys: secrets.map((secret) => ({ name: secret, secret })) }],
    async () => void (pauses += 1),
  )
  assert.equal(keys.size, 0)
  assert.equal(pauses, 6)
  change()
  assert.deepEqual(
    secrets.map((secret) => keys.find(secret)?.id),
    secrets.map((secret) => `p/${secret}`),
  )
})

test('what the configuration says of a project counts for its stored keys too', async () => {
  const { snapshot, secret, keyStore } = await loaded()
  await keyStore.setProject('p', { limits: { requestsPerMinute: 10 } }, { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  const perMinute = async () => ((await snapshot.find(secret)) as Key).limits.map((one) => one.perMinute)
  assert.deepEqual(await perMinute(), [10])
  snapshot.setDeclared([{ name: 'p', keys: [], limits: { requestsPerMinute: 3 } }])
  assert.deepEqual(await perMinute(), [3])
  // The key of the environment brings a second `default`.
  const [first, second] = [{ limits: { requestsPerMinute: 3 } }, {}]
  snapshot.setDeclared([first, second].map((terms) => ({ name: 'p', keys: [], ...terms })))
  assert.deepEqual(await perMinute(), [3])
  snapshot.setDeclared([])
  assert.deepEqual(await perMinute(), [10])
})

test('a key made elsewhere works at once, and is asked about once', async () => {
  const { snapshot, keyStore, link } = await loaded()
  const { secret, stored } = someSecret()
  await keyStore.createKey({ project: 'p', name: 'new', secret: stored }, { kind: 'member', name: 'tester' })
  assert.equal((await snapshot.find(secret))?.id, 'p/new')
  assert.equal((await snapshot.find(secret))?.id, 'p/new')
  assert.equal(link.lookUps, 1)
})

test('a revoked key is refused after the next refresh, without a question', async () => {
  const { snapshot, keyStore, secret, link } = await loaded()
  await keyStore.revokeKey('p/k', { kind: 'member', name: 'tester' })
  assert.ok(await snapshot.find(secret), 'not yet heard of')
  await snapshot.refresh()
  assert.equal(await snapshot.find(secret), undefined)
  for (let again = 0; again < 5; again += 1) assert.equal(await snapshot.find(secret), undefined)
  assert.equal(link.lookUps, 1)
})

test('a key that was revoked, and a secret that was rotated out, are told from one that never was', async () => {
  const { snapshot, keyStore, secret, clock } = await loaded()
  const wordsFor = async (text: string): Promise<string> => {
    try {
      await authenticate(text, snapshot, clock)
      return 'let in'
    } catch (error) {
      assert.ok(error instanceof Fault && error.code === 'invalid_api_key')
      return error.message
    }
  }
  const next = someSecret()
  // The node's clock is ahead: the overlap has ended.
  await keyStore.rotateKey('p/k', next.stored, 1000, { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  assert.match(await wordsFor(secret), /^Key 'k' was rotated: .* ended at 20\d\d-/)
  assert.equal(await wordsFor(next.secret), 'let in')
  await keyStore.revokeKey('p/k', { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  for (let time = 0; time < 2; time += 1)
    assert.match(await wordsFor(next.secret), /^Key 'k' was revoked at 20\d\d-/)
  assert.match(await wordsFor(someSecret().secret), /^No valid key matches/)
})

test('an answer that was on its way while the key was revoked does not bring it back', async () => {
  const { snapshot, keyStore, link } = await loaded()
  const { secret, stored } = someSecret()
  await keyStore.createKey({ project: 'p', name: 'new', secret: stored }, { kind: 'member', name: 'tester' })
  const gate = Promise.withResolvers<void>()
  link.gate = gate.promise
  const slow = snapshot.find(secret)
  await new Promise((resolve) => setImmediate(resolve))
  await keyStore.revokeKey('p/new', { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  gate.resolve()
  await slow
  assert.equal(await snapshot.find(secret), undefined)
})

test('a secret that nobody knows is asked about once in five seconds', async () => {
  const { snapshot, clock, link } = await loaded()
  const { secret } = someSecret()
  for (let again = 0; again < 10; again += 1) assert.equal(await snapshot.find(secret), undefined)
  assert.equal(link.lookUps, 1)
  clock.advance(5001)
  assert.equal(await snapshot.find(secret), undefined)
  assert.equal(link.lookUps, 2)
  assert.equal(await snapshot.find('too-short'), undefined)
  assert.equal(link.lookUps, 2)
})

test('a key that was asked about before it was made works after the next refresh', async () => {
  const { snapshot, keyStore } = await loaded()
  const { secret, stored } = someSecret()
  assert.equal(await snapshot.find(secret), undefined)
  await keyStore.createKey({ project: 'p', name: 'new', secret: stored }, { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  assert.equal((await snapshot.find(secret))?.id, 'p/new')
})

test('a cold start with 1,000 unknown secrets asks once for each, and 20 at a time at most', async () => {
  const { keyStore } = memoryDirectory()
  const secrets = []
  for (let index = 0; index < 1000; index += 1) {
    const { secret, stored } = someSecret()
    secrets.push(secret)
    if (index % 2 === 0)
      await keyStore.createKey(
        { project: 'p', name: `k${index}`, secret: stored },
        { kind: 'member', name: 'tester' },
      )
  }
  const link = new Link(keyStore)
  const { snapshot } = keyNode(link)
  // Each three times, like clients that retry.
  const found = await Promise.all(
    [...secrets, ...secrets, ...secrets].map(async (secret) => snapshot.find(secret)),
  )
  assert.equal(found.filter((key) => key !== undefined).length, 1500)
  assert.equal(link.lookUps, 1000)
  assert.equal(link.mostAtOnce, 20)
})

test('whoever waits too long for a look-up is told to try again, never that the key is wrong', async () => {
  const { snapshot, clock, link } = await loaded()
  const gate = Promise.withResolvers<void>()
  link.gate = gate.promise
  const asked = Array.from({ length: 6000 }, () => snapshot.find(someSecret().secret) as Promise<unknown>)
  const settled = Promise.allSettled(asked)
  clock.advance(2001)
  gate.resolve()
  const outcomes = await settled
  const answered = outcomes.filter(({ status }) => status === 'fulfilled')
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  assert.equal(answered.length, 20)
  assert.ok(refused.every((reason) => reason instanceof StoreUnreachable))
  assert.equal(link.lookUps, 20)
})

test('while the store is away known keys work, and of others nothing is said', async () => {
  const { snapshot, secret, clock, link, troubles } = await loaded()
  link.isCut = true
  assert.equal((await snapshot.find(secret))?.id, 'p/k')
  const first = snapshot.find(someSecret().secret)
  await assert.rejects(Promise.resolve(first), StoreUnreachable)
  await snapshot.refresh()
  await snapshot.refresh()
  assert.equal((await snapshot.find(secret))?.id, 'p/k')
  const lookUps = link.lookUps
  const unknown = someSecret().secret
  await assert.rejects(
    async () => authenticate(unknown, snapshot, clock),
    (error) => error instanceof Fault && error.code === 'key_store_unreachable',
  )
  assert.equal(link.lookUps, lookUps, 'nobody waits for a store that is known to be away')
  assert.deepEqual(troubles, ['the link is cut'])
  link.isCut = false
  await snapshot.refresh()
  assert.deepEqual(troubles, ['the link is cut', undefined])
  await assert.rejects(
    async () => authenticate(unknown, snapshot, clock),
    (error) => error instanceof Fault && error.code === 'invalid_api_key',
  )
})

test('after an hour without the store its keys are refused with 503, and work again when it is back', async () => {
  const { snapshot, secret, clock, link } = await loaded()
  link.isCut = true
  clock.advance(STALE_KEYS_MS - 1)
  await snapshot.refresh()
  assert.equal((await snapshot.find(secret))?.id, 'p/k')
  clock.advance(1)
  await assert.rejects(
    async () => authenticate(secret, snapshot, clock),
    (error) => error instanceof Fault && error.code === 'key_store_unreachable',
  )
  link.isCut = false
  await snapshot.refresh()
  assert.equal((await snapshot.find(secret))?.id, 'p/k')
})

test('a store that was put back to an earlier state is loaded as a whole', async () => {
  const { snapshot, secret, keyStore } = await loaded()
  const earlier = memoryDirectory().keyStore
  const other = someSecret()
  await earlier.createKey(
    { project: 'p', name: 'other', secret: other.stored },
    { kind: 'member', name: 'tester' },
  )
  for (let step = 0; step < 3; step += 1)
    await keyStore.setProject('p', {}, { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  Object.assign(keyStore, {
    directoryVersion: () => earlier.directoryVersion(),
    keysChangedSince: (version: bigint | undefined) => earlier.keysChangedSince(version),
    findKey: (digests: readonly string[]) => earlier.findKey(digests),
  })
  await snapshot.refresh()
  assert.equal(await snapshot.find(secret), undefined)
  assert.equal((await snapshot.find(other.secret))?.id, 'p/other')
})

test('a secret that was rotated away works until the end of the overlap, to the millisecond', async () => {
  const { keyStore } = memoryDirectory()
  const [before, after] = [someSecret(), someSecret()]
  await keyStore.createKey(
    { project: 'p', name: 'k', secret: before.stored },
    { kind: 'member', name: 'tester' },
  )
  const { secrets } = await keyStore.rotateKey('p/k', after.stored, 60_000, {
    kind: 'member',
    name: 'tester',
  })
  const endMs = secrets[1]?.validUntilMs ?? 0
  const clock = new TestClock()
  const { snapshot } = keyNode(keyStore, { clock })
  await snapshot.start()
  clock.advance(endMs - 1 - clock.nowMs())
  assert.equal((await snapshot.find(before.secret))?.id, 'p/k')
  clock.advance(1)
  assert.equal(await snapshot.find(before.secret), undefined)
  assert.equal((await snapshot.find(after.secret))?.id, 'p/k')
})

test('a key made with the pepper before works, and its digest is made anew at its first use', async () => {
  const [old, fresh] = ['the secret before this one', 'the secret of today']
  const { keyStore } = memoryDirectory()
  const { secret, stored } = someSecret({ current: old, previous: undefined })
  await keyStore.createKey({ project: 'p', name: 'k', secret: stored }, { kind: 'member', name: 'tester' })
  const version = await keyStore.directoryVersion()
  const rotating = keyNode(keyStore, { peppers: peppersOf({ current: fresh, previous: old }) }).snapshot
  await rotating.start()
  assert.equal((await rotating.find(secret))?.id, 'p/k')
  await rotating.refresh()
  assert.equal((await keyStore.findKey([stored.digest]))?.id, undefined)
  assert.equal(await keyStore.directoryVersion(), version)
  assert.equal((await rotating.find(secret))?.id, 'p/k')
  const rotated = keyNode(keyStore, { peppers: peppersOf({ current: fresh, previous: undefined }) }).snapshot
  await rotated.start()
  assert.equal((await rotated.find(secret))?.id, 'p/k')
  // A node that did not see the renewal still holds the old digest, and one that never loaded finds either by
  // a look-up.
  const cold = keyNode(keyStore, { peppers: peppersOf({ current: old, previous: fresh }) }).snapshot
  assert.equal((await cold.find(secret))?.id, 'p/k')
})

test('uses of keys of the configuration reach the store too, also after it was away', async () => {
  const { snapshot, clock, keyStore, link } = await loaded()
  const lastUse = async () => (await keyStore.declaredUses(['p/declared'])).get('p/declared')?.lastAtMs
  const keys = declaredFirst({ find: () => ({ id: 'p/declared' }) as Key }, snapshot)
  const firstMs = clock.nowMs()
  link.isCut = true
  await keys.find('whatever')
  await snapshot.refresh()
  link.isCut = false
  clock.advance(59_000)
  await keys.find('whatever')
  await snapshot.refresh()
  assert.equal(await lastUse(), firstMs)
  clock.advance(1000)
  await keys.find('whatever')
  await snapshot.refresh()
  assert.equal(await lastUse(), firstMs + 60_000)
})

test('a last use reaches the store at most once a minute for each key', async () => {
  const { snapshot, secret, clock, keyStore, link } = await loaded()
  const lastUse = async () => (await keyStore.listKeys({ limit: 1 }))[0]?.lastUsedAtMs
  const firstMs = clock.nowMs()
  for (let second = 0; second < 59; second += 1) {
    await snapshot.find(secret)
    await snapshot.refresh()
    clock.advance(1000)
  }
  assert.equal(await lastUse(), firstMs)
  clock.advance(1000)
  link.isCut = true
  const nextMs = clock.nowMs()
  await snapshot.find(secret)
  await snapshot.refresh()
  assert.equal(await lastUse(), firstMs)
  link.isCut = false
  await snapshot.refresh()
  assert.equal(await lastUse(), nextMs, 'what could not be handed over was kept')
})

test('whoever asks to be told hears of each change after the start once', async () => {
  let changes = 0
  const { snapshot, keyStore, link } = await loaded({ onChange: () => (changes += 1) })
  await snapshot.refresh()
  assert.equal(changes, 0)
  await keyStore.setProject('p', {}, { kind: 'member', name: 'tester' })
  await snapshot.refresh()
  await snapshot.refresh()
  assert.equal(changes, 1)
  link.isCut = true
  const late = keyNode(link, { onChange: () => (changes += 10) }).snapshot
  await late.start()
  link.isCut = false
  await late.refresh()
  assert.equal(changes, 11, 'what could not be read at the start is there at last')
})

test('whatever is changed, in whatever order, a refreshed node says the same as the store', async () => {
  const change = fc.record({
    what: fc.constantFrom('create', 'revoke', 'rotate', 'set', 'deleteProject', 'refresh', 'use'),
    project: fc.constantFrom('p', 'q'),
    name: fc.constantFrom('a', 'b', 'c'),
  })
  const histories = fc.asyncProperty(fc.array(change, { maxLength: 40 }), async (changes) => {
    const { keyStore } = memoryDirectory()
    const node = keyNode(keyStore, { clock: systemClock }).snapshot
    const secrets: string[] = []
    for (const { what, project, name } of changes) {
      const id = `${project}/${name}`
      const { secret, stored } = someSecret()
      secrets.push(secret)
      const done: Record<typeof what, () => unknown> = {
        create: () =>
          keyStore.createKey({ project, name, secret: stored }, { kind: 'member', name: 'tester' }),
        revoke: () => keyStore.revokeKey(id, { kind: 'member', name: 'tester' }),
        rotate: () => keyStore.rotateKey(id, stored, 3_600_000_000, { kind: 'member', name: 'tester' }),
        set: () => keyStore.setKey(id, { models: [secret] }, { kind: 'member', name: 'tester' }),
        deleteProject: () => keyStore.deleteProject(project, { kind: 'member', name: 'tester' }),
        refresh: () => node.refresh(),
        use: () => Promise.all(secrets.map(async (one) => node.find(one))),
      }
      try {
        await done[what]()
      } catch (error) {
        if (!(error instanceof ChangeRefused)) throw error
      }
    }
    await node.refresh()
    for (const secret of secrets) {
      const truth = await keyStore.findKey([digested(secret).digest])
      const expected = truth === undefined || truth.revokedAtMs !== undefined ? undefined : truth
      const found = await node.find(secret)
      assert.deepEqual(
        [found?.id, found?.models && [...found.models]],
        [expected?.id, expected?.models && [...expected.models]],
      )
    }
  })
  await fc.assert(histories, runs(300))
})

test('keys of the configuration are known whatever the store says, and come first', async () => {
  const { snapshot, secret, link } = await loaded()
  const declared = new MemoryKeys((text) => text)
  const keys = declaredFirst(declared, snapshot)
  assert.equal((await keys.find(secret))?.id, 'p/k')
  const other = someSecret().secret
  const named = (name: string, own: string) => ({ name, secret: own })
  await replace(declared, [{ name: 'file', keys: [named('same', secret), named('other', other)] }])
  assert.equal((await keys.find(secret))?.id, 'file/same')
  link.isCut = true
  await snapshot.refresh()
  assert.equal((await keys.find(other))?.id, 'file/other')
})

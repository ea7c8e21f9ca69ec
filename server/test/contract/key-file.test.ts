import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { ChangeRefused, type KeyRecord, type KeyStore } from '#ports/key-store.ts'
import type { Key } from '#ports/keys.ts'
import { runs } from '#test/support/arbitraries.ts'
import { digested, memoryDirectory, SECRETS, someSecret } from '#test/support/directory.ts'
import { keyFileIn, someKeyFolder } from '#test/support/key-file.ts'
import { keyNode, Link, TestClock } from '#test/support/key-nodes.ts'

const BY = { kind: 'member', name: 'tester' } as const
const BUDGET = { limitNanoUsd: 7n, per: 'day', hard: true } as const

/** What a request sees of a key. */
function seen(key: Key | undefined): unknown {
  if (key === undefined) return undefined
  return { ...key, models: key.models && [...key.models] }
}

test('whatever changes, restarts and is packed again, two processes on one folder know the same as the store', async () => {
  const step = fc.record({
    what: fc.constantFrom(
      'create',
      'revoke',
      'rotate',
      'set',
      'setProject',
      'deleteProject',
      'refresh',
      'restart',
      'use',
    ),
    project: fc.constantFrom('p', 'q'),
    name: fc.constantFrom('a', 'b', 'c'),
    process: fc.nat(1),
    number: fc.integer({ min: 1, max: 3 }),
  })
  const histories = fc.asyncProperty(
    fc.array(step, { maxLength: 60 }),
    fc.integer({ min: 0, max: 6 }),
    async (steps, maxChanges) => {
      const { keyStore } = memoryDirectory()
      const folder = someKeyFolder()
      const clock = new TestClock()
      const begin = async () => {
        const { snapshot } = keyNode(keyStore, { clock, file: keyFileIn(folder, SECRETS, { maxChanges }) })
        await snapshot.start()
        return snapshot
      }
      const nodes = [await begin(), await begin()]
      const secrets: string[] = []
      for (const { what, project, name, process, number } of steps) {
        const id = `${project}/${name}`
        const { secret, stored } = someSecret()
        const terms = { limits: { requestsPerMinute: number }, budget: number > 1 ? BUDGET : null }
        const done: Record<typeof what, () => unknown> = {
          create: () =>
            secrets.push(secret) && keyStore.createKey({ project, name, secret: stored, ...terms }, BY),
          revoke: () => keyStore.revokeKey(id, BY),
          rotate: () => secrets.push(secret) && keyStore.rotateKey(id, stored, 3_600_000_000_000, BY),
          set: () => keyStore.setKey(id, { models: [`m${number}`], expiresAtMs: number, ...terms }, BY),
          setProject: () => keyStore.setProject(project, terms, BY),
          deleteProject: () => keyStore.deleteProject(project, BY),
          refresh: async () => {
            clock.advance(5000)
            await nodes[process]?.refresh()
            await nodes[process]?.end()
          },
          restart: async () => (nodes[process] = await begin()),
          use: () => Promise.all(secrets.map(async (one) => nodes[process]?.find(one))),
        }
        try {
          await done[what]()
        } catch (error) {
          if (!(error instanceof ChangeRefused)) throw error
        }
      }
      const plain = keyNode(keyStore, { clock }).snapshot
      await plain.start()
      for (const node of [...nodes, await begin()]) {
        await node.refresh()
        await node.end()
        for (const secret of secrets) {
          const truth = await keyStore.findKey([digested(secret).digest])
          const expected = truth === undefined || truth.revokedAtMs !== undefined ? undefined : truth
          const found = await node.find(secret)
          assert.deepEqual([found?.id, found?.expiresAtMs], [expected?.id, expected?.expiresAtMs])
          assert.deepEqual(seen(found), seen(await plain.find(secret)))
          if (expected === undefined) continue
          assert.deepEqual(node.ofId(expected.id), found)
          assert.deepEqual(
            node.budgetInForce(`key:${expected.id}`),
            plain.budgetInForce(`key:${expected.id}`),
          )
        }
        for (const project of await keyStore.listProjects({ limit: 10 })) {
          assert.equal(
            node.budgetInForce(`project:${project.name}`)?.limitNanoUsd,
            project.budget?.limitNanoUsd,
          )
        }
        assert.equal(node.size, (await living(keyStore)).length)
      }
    },
  )
  await fc.assert(histories, runs(150))
})

async function living(keyStore: KeyStore): Promise<readonly KeyRecord[]> {
  return (await Array.fromAsync(keyStore.keysChangedSince(undefined))).flat()
}

/** A store with keys `p/0` to `p/2`, and a node that keeps its copy in a folder. */
async function kept() {
  const { keyStore } = memoryDirectory()
  const secrets: string[] = []
  for (let number = 0; number < 3; number += 1) {
    const { secret, stored } = someSecret()
    secrets.push(secret)
    await keyStore.createKey({ project: 'p', name: String(number), secret: stored }, BY)
  }
  const folder = someKeyFolder()
  const [link, clock] = [new Link(keyStore), new TestClock()]
  const { snapshot } = keyNode(link, { clock, file: keyFileIn(folder) })
  await snapshot.start()
  await snapshot.end()
  const saved = async (): Promise<void> => {
    clock.advance(5000)
    await snapshot.refresh()
    await snapshot.end()
  }
  /** The ids that a process which starts now without the store knows, and its troubles. */
  const cold = async () => {
    link.isCut = true
    const node = keyNode(link, { clock, file: keyFileIn(folder) })
    await node.snapshot.start()
    const found = await Promise.allSettled(secrets.map(async (secret) => node.snapshot.find(secret)))
    link.isCut = false
    const ids = found.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value.id] : []))
    return { ...node, ids, isLoaded: node.snapshot.isLoaded }
  }
  const log = join(folder, 'keys.changes')
  return { keyStore, secrets, folder, link, clock, snapshot, saved, cold, log }
}

test('a log that was cut at any byte is used as far as it goes, and written on from there', async () => {
  const { keyStore, saved, cold, log, folder, link, clock } = await kept()
  await keyStore.revokeKey('p/0', BY)
  await saved()
  const first = readFileSync(log).length
  await keyStore.revokeKey('p/1', BY)
  await saved()
  const whole = readFileSync(log)
  assert.deepEqual((await cold()).ids, ['p/2'])
  for (let bytes = first; bytes < whole.length; bytes += 1) {
    writeFileSync(log, whole.subarray(0, bytes))
    assert.deepEqual((await cold()).ids, ['p/1', 'p/2'], `${bytes} bytes`)
  }
  for (let bytes = 0; bytes < first; bytes += 1) {
    writeFileSync(log, whole.subarray(0, bytes))
    assert.deepEqual((await cold()).ids, ['p/0', 'p/1', 'p/2'], `${bytes} bytes`)
  }
  // A machine that lost its power may find zeros behind what was synced.
  writeFileSync(log, Buffer.concat([whole.subarray(0, first), Buffer.alloc(whole.length - first)]))
  truncateSync(log, whole.length - 5)
  const { snapshot } = keyNode(link, { clock, file: keyFileIn(folder) })
  await snapshot.start()
  await snapshot.end()
  assert.deepEqual((await cold()).ids, ['p/2'])
})

test('a log whose inner bytes were changed is refused with the reason', async () => {
  const { keyStore, saved, cold, log } = await kept()
  await keyStore.revokeKey('p/0', BY)
  await saved()
  const first = readFileSync(log).length
  await keyStore.revokeKey('p/1', BY)
  await saved()
  const whole = readFileSync(log)
  const flips = fc.asyncProperty(
    fc.integer({ min: 44, max: first - 1 }),
    fc.integer({ min: 1, max: 255 }),
    async (at, by) => {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] as number) ^ by
      writeFileSync(log, bytes)
      const { isLoaded, troubles } = await cold()
      assert.ok(!isLoaded)
      assert.match(troubles[1] ?? '', /keys\.changes was changed after it was written/)
    },
  )
  await fc.assert(flips, runs(100))
  writeFileSync(log, whole)
  assert.deepEqual((await cold()).ids, ['p/2'])
})

test('a crash at any byte of a new file, and before its log is removed, leaves the keys as they were or as they are', async () => {
  const { keyStore, saved, cold, log, folder, link, clock } = await kept()
  await keyStore.revokeKey('p/0', BY)
  await saved()
  const packed = join(folder, 'keys.packed')
  const [oldFile, oldLog] = [readFileSync(packed), readFileSync(log)]
  await keyStore.revokeKey('p/1', BY)
  const node = keyNode(link, { clock, file: keyFileIn(folder, SECRETS, { maxChanges: 0 }) }).snapshot
  await node.start()
  await node.end()
  const newFile = readFileSync(packed)
  assert.ok(!existsSync(log) && !newFile.equals(oldFile))
  assert.deepEqual((await cold()).ids, ['p/2'])
  for (let bytes = 0; bytes <= newFile.length; bytes += 97) {
    writeFileSync(packed, oldFile)
    writeFileSync(log, oldLog)
    writeFileSync(`${packed}.draft`, newFile.subarray(0, bytes))
    assert.deepEqual((await cold()).ids, ['p/1', 'p/2'], `${bytes} bytes`)
  }
  writeFileSync(packed, newFile)
  assert.deepEqual((await cold()).ids, ['p/2'], 'with the log of the file before')
})

test('a link in the place of a draft or of the log is not followed', async () => {
  const { keyStore, saved, folder, link, clock, log } = await kept()
  const victim = join(folder, 'of-somebody-else')
  writeFileSync(victim, 'untouched')
  symlinkSync(victim, join(folder, 'keys.packed.draft'))
  await keyStore.revokeKey('p/0', BY)
  const packing = keyNode(link, { clock, file: keyFileIn(folder, SECRETS, { maxChanges: 0 }) }).snapshot
  await packing.start()
  await packing.end()
  assert.equal(readFileSync(victim, 'utf8'), 'untouched')
  rmSync(log, { force: true })
  symlinkSync(victim, log)
  await keyStore.revokeKey('p/1', BY)
  await saved().catch(() => {})
  assert.equal(readFileSync(victim, 'utf8'), 'untouched')
})

test('a copy is never continued with the changes of another store, nor of one that was restored and went on', async () => {
  const { secrets, folder, clock } = await kept()
  const other = memoryDirectory().keyStore
  const own = someSecret()
  await other.createKey({ project: 'p', name: 'own', secret: own.stored }, BY)
  // Its version is far beyond that of the copy.
  for (let step = 0; step < 20; step += 1) await other.setProject('p', {}, BY)
  const { snapshot } = keyNode(other, { clock, file: keyFileIn(folder) })
  await snapshot.start()
  for (const secret of secrets) assert.equal(await snapshot.find(secret), undefined)
  assert.equal((await snapshot.find(own.secret))?.id, 'p/own')
})

test('a start with a copy reads the changes since, and not everything', async () => {
  const { keyStore, folder, clock, secrets } = await kept()
  await keyStore.revokeKey('p/0', BY)
  clock.advance(30 * 86_400_000)
  const link = new Link(keyStore)
  const reads: (bigint | undefined)[] = []
  const read = link.keysChangedSince.bind(link)
  link.keysChangedSince = (version) => {
    reads.push(version)
    return read(version)
  }
  const { snapshot } = keyNode(link, { clock, file: keyFileIn(folder) })
  await snapshot.start()
  assert.ok(reads.length === 1 && reads[0] !== undefined, 'also when the copy is a month old')
  assert.equal(await snapshot.find(secrets[0] ?? ''), undefined)
  assert.equal((await snapshot.find(secrets[1] ?? ''))?.id, 'p/1')
})

test('a disk that cannot be written is reported, and takes no key away', async () => {
  const { keyStore } = memoryDirectory()
  const { secret, stored } = someSecret()
  await keyStore.createKey({ project: 'p', name: 'k', secret: stored }, BY)
  const folder = join(someKeyFolder(), 'no folder')
  writeFileSync(folder, '')
  const troubles: string[] = []
  const file = keyFileIn(folder, SECRETS, { onTrouble: ({ message }) => troubles.push(message) })
  const { snapshot } = keyNode(keyStore, { file })
  await snapshot.start()
  assert.equal((await snapshot.find(secret))?.id, 'p/k')
  assert.match(troubles.join(), /the key file can't be written/)
})

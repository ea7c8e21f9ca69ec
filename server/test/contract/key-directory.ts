/** What every `KeyDirectory` promises, whichever store it is kept in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Project } from '#core/catalog/catalog.ts'
import { keyFrom } from '#core/keys/key.ts'
import type { KeyDirectory } from '#ports/keys.ts'

export interface KeyDirectoryUnderTest {
  readonly keys: KeyDirectory
  /** Makes these the only keys there are. */
  readonly replace: (projects: readonly Project[]) => void | Promise<void>
}

export function keyDirectorySuite(name: string, open: () => Promise<KeyDirectoryUnderTest>): void {
  const ours = keyFrom(Uint8Array.from({ length: 64 }, (_, index) => index))
  const foreign = 'sk-a-key-brought-from-elsewhere'
  const projects: readonly Project[] = [
    { name: 'search', keys: [{ name: 'ci', secret: ours, models: ['a', 'b'], expiresAtMs: 1000 }] },
    { name: 'chat', keys: [{ name: 'ci', secret: foreign }] },
  ]

  test(`${name}: a key is found with its project, models and expiry`, async () => {
    const { keys, replace } = await open()
    await replace(projects)
    const found = await keys.find(ours)
    assert.deepEqual([found?.name, found?.project, found?.expiresAtMs], ['ci', 'search', 1000])
    assert.deepEqual([...(found?.models ?? [])], ['a', 'b'])
    const other = await keys.find(foreign)
    assert.deepEqual([other?.project, other?.models, other?.expiresAtMs], ['chat', undefined, undefined])
    assert.notEqual(found?.id, other?.id)
  })

  test(`${name}: the same key is found again and again`, async () => {
    const { keys, replace } = await open()
    await replace(projects)
    const first = await keys.find(ours)
    for (let look = 0; look < 3; look += 1) assert.deepEqual(await keys.find(ours), first)
  })

  test(`${name}: nothing but the very same secret finds a key`, async () => {
    const { keys, replace } = await open()
    await replace(projects)
    for (const secret of [
      '',
      ' ',
      ours.slice(0, -1),
      `${ours} `,
      ours.toLowerCase(),
      foreign.toUpperCase(),
      'ci',
      'search/ci',
      '__proto__',
    ]) {
      assert.equal(await keys.find(secret), undefined, secret)
    }
  })

  test(`${name}: a key that is no longer there stops at once, also one that was just used`, async () => {
    const { keys, replace } = await open()
    await replace(projects)
    assert.ok(await keys.find(ours))
    await replace(projects.slice(1))
    assert.equal(await keys.find(ours), undefined)
    assert.ok(await keys.find(foreign))
  })

  test(`${name}: a key that changes hands belongs to its new project at once`, async () => {
    const { keys, replace } = await open()
    await replace(projects)
    await keys.find(ours)
    await replace([{ name: 'new', keys: [{ name: 'moved', secret: ours }] }])
    const moved = await keys.find(ours)
    assert.deepEqual([moved?.project, moved?.name, moved?.models], ['new', 'moved', undefined])
  })

  test(`${name}: guesses leave nothing behind`, async () => {
    const { keys, replace } = await open()
    await replace(projects)
    const before = await heapBytes()
    for (let guess = 0; guess < 20_000; guess += 1)
      await keys.find(`a-guess-of-an-attacker-${guess}-${'x'.repeat(1000)}`)
    // Half of what the guesses themselves would take.
    assert.ok((await heapBytes()) - before < 10_000_000)
    assert.ok(await keys.find(ours))
  })
}

/** The heap after everything unused has been released. What a finalizer holds is free only after the next turn. */
async function heapBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  await nextTurn()
  collect()
  return process.memoryUsage().heapUsed
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { SharedSyncs } from './shared-syncs.ts'

/** Syncs that end on command, in the order in which they began. */
function stage(): { syncs: SharedSyncs; begun: string[]; end: (error?: Error) => Promise<void> } {
  const begun: string[] = []
  const ends: PromiseWithResolvers<void>[] = []
  const syncs = new SharedSyncs((folder) => {
    begun.push(folder)
    const end = Promise.withResolvers<void>()
    ends.push(end)
    return end.promise
  })
  const end = async (error?: Error): Promise<void> => {
    const { resolve, reject } = ends.shift() as PromiseWithResolvers<void>
    if (error) reject(error)
    else resolve()
    await setImmediate()
  }
  return { syncs, begun, end }
}

test('what comes while a folder is synced waits for a sync that begins after it, one for all', async () => {
  const { syncs, begun, end } = stage()
  const done: string[] = []
  const ask = (name: string): void => void syncs.sync('folder').then(() => done.push(name))
  ask('first')
  for (const name of ['second', 'third', 'fourth']) ask(name)
  assert.deepEqual(begun, ['folder'])
  await end()
  assert.deepEqual(done, ['first'], 'the sync that had begun may have missed the others')
  assert.equal(begun.length, 2)
  ask('fifth')
  await end()
  assert.deepEqual(done, ['first', 'second', 'third', 'fourth'])
  await end()
  assert.equal(done.at(-1), 'fifth')
  assert.equal(begun.length, 3)
})

test('folders do not wait for one another', () => {
  const { syncs, begun } = stage()
  void syncs.sync('one')
  void syncs.sync('other')
  assert.deepEqual(begun, ['one', 'other'])
})

test('a failed sync fails those who shared it and no one else', async () => {
  const { syncs, end } = stage()
  const asked = ['first', 'second', 'third'].map(() => syncs.sync('folder'))
  const outcomes = Promise.allSettled(asked)
  await end(new Error('disk'))
  await end()
  assert.deepEqual(
    (await outcomes).map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled'],
  )
})

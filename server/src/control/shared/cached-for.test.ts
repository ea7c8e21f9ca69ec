import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cachedFor } from './cached-for.ts'

test('calls within the time share one answer, and after a failure the next call asks again', async () => {
  let asked = 0
  let nowMs = 0
  const ask = cachedFor(
    1000,
    () => nowMs,
    async () => {
      asked += 1
      if (asked === 1) throw new Error('the store is unreachable')
      return asked
    },
  )
  const [first, second] = await Promise.allSettled([ask(), ask()])
  assert.deepEqual([first.status, second.status, asked], ['rejected', 'rejected', 1])
  assert.deepEqual([await ask(), await ask()], [2, 2])
  nowMs = 1000
  assert.equal(await ask(), 3)
})

test('a failure that comes late does not take the place of a newer answer', async () => {
  const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  let asked = 0
  let nowMs = 0
  const ask = cachedFor(
    1000,
    () => nowMs,
    () => (answers[asked++] as PromiseWithResolvers<string>).promise,
  )
  const old = ask()
  nowMs = 1000
  const newer = ask()
  answers[0]?.reject(new Error('the store is unreachable'))
  await assert.rejects(old)
  answers[1]?.resolve('there')
  assert.deepEqual([await newer, await ask()], ['there', 'there'])
})

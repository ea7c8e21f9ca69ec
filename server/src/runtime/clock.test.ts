import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from './clock.ts'

const never = new Promise(() => {})

test('a wait ends with its work, after its time, or when it is aborted', async () => {
  await waitFor(Promise.resolve(), 60_000)
  await waitFor(never, 60_000, AbortSignal.abort())
  // The timer of the wait keeps no process alive.
  const alive = setTimeout(() => {}, 60_000)
  await waitFor(never, 5)
  clearTimeout(alive)
  await assert.rejects(waitFor(Promise.reject(new Error('broken')), 60_000), /broken/)
})

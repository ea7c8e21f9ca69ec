import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastTickMs, nowMs, setNodeTime } from './now.ts'

test('the first look at the clock after a page without one is of now, and stays for a second', (context) => {
  context.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 10, 17, 12, 0, 59) })
  setNodeTime('2026-11-17T12:00:59.000Z')
  assert.equal(lastTickMs(), nowMs())
  context.mock.timers.tick(5 * 60_000)
  const first = lastTickMs()
  assert.equal(first, nowMs())
  context.mock.timers.tick(900)
  assert.equal(lastTickMs(), first, 'rendering twice asks once')
})

test('ages are counted by the clock of the node', (context) => {
  context.mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 10, 17, 12) })
  setNodeTime('2026-11-17T12:05:00.000Z')
  assert.equal(lastTickMs(), Date.UTC(2026, 10, 17, 12, 5))
})

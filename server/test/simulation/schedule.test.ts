import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate } from './schedule.ts'
import { scenarioOf } from './schedule-world.ts'
import { judgeAll, tell } from './schedule-report.ts'

test('over 100 fates, callers get within 1 % of what an oracle gets them, with at most 20 % extra calls', (context) => {
  const summary = judgeAll(1, 100)
  context.diagnostic(tell(summary))
  assert.ok(summary.gap < 0.01, tell(summary))
})

test('a seed is a fate: the same one ends the same', () => {
  assert.deepEqual(simulate(scenarioOf(7)), simulate(scenarioOf(7)))
})

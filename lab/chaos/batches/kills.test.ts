import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CALLS_OF_A_NODE, runWithKills } from './kills.ts'

test('a batch whose node is killed in the middle brings every line once, the books know every call that was served, and its cost is theirs to the nano-dollar', async () => {
  const kills = 1
  const report = await runWithKills({
    lines: 6000,
    nodes: 1,
    kills,
    everyMs: 1500,
    callMs: 300,
    say: () => {},
  })
  const { completed, lost, twice, wrongVectors, callsMissing, callsUnknown } = report
  assert.deepEqual(
    { completed, lost, twice, wrongVectors, callsMissing },
    { completed: 6000, lost: 0, twice: 0, wrongVectors: 0, callsMissing: 0 },
  )
  assert.equal(report.batchNanoUsd, report.ledgerNanoUsd)
  assert.equal(report.batchUnknownNanoUsd, report.ledgerUnknownNanoUsd)
  assert.ok(callsUnknown <= kills * CALLS_OF_A_NODE, `${callsUnknown} unknown calls`)
})

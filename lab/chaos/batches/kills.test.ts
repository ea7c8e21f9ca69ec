import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CALLS_OF_A_NODE, runWithKills } from './kills.ts'

for (const [what, lines, hasImages] of [
  ['texts', 6000, false],
  ['images', 2000, true],
] as const)
  test(`a batch of ${what} whose node is killed in the middle brings every line once, the ledger has every call that was served, and its cost is that of the ledger to the nano-dollar`, async () => {
    const kills = 1
    const report = await runWithKills({
      lines,
      hasImages,
      nodes: 1,
      kills,
      everyMs: 1500,
      callMs: 600,
      say: () => {},
    })
    const { completed, lost, twice, wrongVectors, callsMissing, callsUnknown, callsDoubled, imagesMissing } =
      report
    assert.deepEqual(
      { completed, lost, twice, wrongVectors, callsMissing, callsDoubled, imagesMissing },
      {
        completed: lines,
        lost: 0,
        twice: 0,
        wrongVectors: 0,
        callsMissing: 0,
        callsDoubled: 0,
        imagesMissing: 0,
      },
    )
    assert.equal(report.killsInProgress, 1)
    assert.equal(report.batchNanoUsd, report.ledgerNanoUsd)
    assert.equal(report.batchUnknownNanoUsd, report.ledgerUnknownNanoUsd)
    assert.ok(callsUnknown <= kills * CALLS_OF_A_NODE, `${callsUnknown} unknown calls`)
  })

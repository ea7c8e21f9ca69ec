import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runPicturesWithKills } from './picture-kills.ts'

test('pictures of a batch whose node is killed in the middle are there or named unknown, and none is bought twice', async () => {
  const lines = 40
  const report = await runPicturesWithKills({
    lines,
    nodes: 2,
    kills: 1,
    everyMs: 2500,
    callMs: 800,
    say: () => {},
  })
  const { lost, twice, boughtTwice, wrongPictures, paidAndNotGiven, callsMissing, completed, unknown } =
    report
  assert.deepEqual(
    [lost, twice, boughtTwice, wrongPictures, paidAndNotGiven, callsMissing],
    [0, 0, 0, 0, 0, 0],
  )
  assert.equal(report.killsInProgress, 1)
  assert.equal(completed + unknown, lines)
})

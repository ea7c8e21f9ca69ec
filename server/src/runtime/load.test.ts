import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextRound, setTimeout as wait } from 'node:timers/promises'
import { eventually } from '../../test/support/process.ts'
import { loopBusyMeter, senseLoad } from './load.ts'

/** Runs rounds far shorter than a tick, one after another. It counts rounds: time may pass without a CPU. */
async function saturate(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const roundMs = performance.now() + 1
    while (performance.now() < roundMs);
    await nextRound()
  }
}

test('while the event loop has no time to spare, any wait may be the node’s own, however short its rounds are', async () => {
  const load = senseLoad(2000)
  try {
    await saturate(500)
    assert.equal(load.ownWaitMs(), Number.POSITIVE_INFINITY)
    assert.equal(load.refusedShare, 0, 'short rounds are no reason to refuse')
    await eventually(async () => {
      await wait(200)
      assert.ok(Number.isFinite(load.ownWaitMs()))
    })
  } finally {
    load.close()
  }
})

test('the meter shows how busy the event loop was since it was last read', async () => {
  const busy = loopBusyMeter()
  await saturate(200)
  assert.ok(busy() > 0.5)
  await eventually(async () => {
    await wait(200)
    assert.ok(busy() < 0.5)
  })
})

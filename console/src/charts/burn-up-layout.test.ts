import assert from 'node:assert/strict'
import { test } from 'node:test'
import { burnUpLayout } from './burn-up-layout.ts'

const BOX = { width: 300, height: 200, top: 20 }
const data = {
  fromMs: 0,
  toMs: 30,
  nowMs: 15,
  points: [
    { atMs: 0, value: 0 },
    { atMs: 15, value: 40 },
  ],
  limit: 50,
  forecast: { usedUpMs: 20, earliestMs: 18, latestMs: 24, atEnd: 70 },
}

test('the line begins at nothing and ends now, and the forecast meets the limit where it is used up', () => {
  const { line, now, forecast, band, most, y } = burnUpLayout(data, BOX)
  assert.equal(line, 'M0 200L150 56')
  assert.deepEqual(now, { x: 150, y: 56 })
  assert.equal(forecast, 'M150 56L200 20')
  assert.equal(band, 'M150 56L180 20L240 20Z')
  assert.equal(most, 50)
  assert.equal(y(50), BOX.top)
})

test('what lasts is drawn to the end of the window, and what is overspent has room above the limit', () => {
  const lasting = { usedUpMs: undefined, earliestMs: undefined, latestMs: undefined, atEnd: 45 }
  const { forecast, band } = burnUpLayout({ ...data, forecast: lasting }, BOX)
  assert.deepEqual([forecast, band], ['M150 56L300 38', undefined])
  const over = burnUpLayout({ ...data, points: [{ atMs: 15, value: 100 }], forecast: undefined }, BOX)
  assert.equal(over.most, 100)
  assert.ok(over.y(50) > over.y(100))
})

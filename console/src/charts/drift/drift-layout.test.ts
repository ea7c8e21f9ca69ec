import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  MIN_COSINE,
  MIN_IMAGE_COSINE,
  MAX_NORM_DRIFT,
  WARNED_COSINE,
  WARNED_IMAGE_COSINE,
} from '../../../../server/src/core/embedding/space-check.ts'
import { PROBE_IMAGES } from '../../../../server/src/core/embedding/probe-images.ts'
import { PROBE_TEXTS } from '../../../../server/src/core/embedding/probe-texts.ts'
import { deployments as en } from '../../words/en/deployments.ts'
import { deployments as zh } from '../../words/zh/deployments.ts'
import {
  changesIn,
  cosineDepth,
  dipsIn,
  DRIFT_LIMITS,
  driftPath,
  lengthDepth,
  type DriftLook,
} from './drift-layout.ts'

const SLOT_MS = 1000
const frame = { fromMs: 0, toMs: 10_000, width: 100, height: 100 }
const at = (atMs: number, cosine: number | null) => ({ atMs, cosine, images: null, length: null })

test('the lines of the chart are those at which a node warns and quarantines', () => {
  assert.deepEqual(DRIFT_LIMITS, {
    cosine: { warned: WARNED_COSINE, quarantined: MIN_COSINE },
    images: { warned: WARNED_IMAGE_COSINE, quarantined: MIN_IMAGE_COSINE },
    length: { warned: MAX_NORM_DRIFT, quarantined: MAX_NORM_DRIFT },
  })
})

for (const [language, { drift }] of Object.entries({ en, zh }))
  test(`every probe has a name: ${language}`, () => {
    assert.equal(drift?.byProbe?.texts?.length, PROBE_TEXTS.length)
    assert.equal(drift.byProbe.images?.length, PROBE_IMAGES.length)
  })

test('the worse a cosine or a length, the lower it stands, and never outside of the picture', () => {
  const cosine = fc.double({ min: -1, max: 1, noNaN: true })
  fc.assert(
    fc.property(cosine, cosine, (one, other) => {
      const [best, worst] = [Math.max(one, other), Math.min(one, other)]
      assert.ok(cosineDepth(best) <= cosineDepth(worst))
      assert.ok(cosineDepth(best) >= 0 && cosineDepth(worst) <= 1)
    }),
  )
  const length = fc.double({ min: 0, max: 100, noNaN: true })
  fc.assert(
    fc.property(length, length, (one, other) => {
      const [best, worst] = [Math.min(one, other), Math.max(one, other)]
      assert.ok(lengthDepth(best) <= lengthDepth(worst))
      assert.ok(lengthDepth(best) >= 0 && lengthDepth(worst) <= 1)
    }),
  )
})

test('cosines near one are told apart, by powers of ten', () => {
  const depths = [1, 0.9999999, 0.99999, 0.999, 0.99, 0].map((cosine) =>
    Number(cosineDepth(cosine).toFixed(2)),
  )
  assert.deepEqual(depths, [0, 0.07, 0.33, 0.6, 0.73, 1])
})

test('lengths are linear to two per cent, and logarithmic beyond', () => {
  assert.deepEqual(
    [0, 0.01, 0.02, 0.2, 2].map((drift) => lengthDepth(drift)),
    [0, 0.25, 0.5, 0.75, 1],
  )
})

test('a line is made of steps, and a look without an answer, or a time without looks, breaks it', () => {
  const path = driftPath(
    [at(1000, 0), at(2000, 1), at(3000, null), at(4000, 0), at(8000, 0)],
    'cosine',
    frame,
    SLOT_MS,
  )
  assert.equal(path, 'M10 100H20H20V0H30M40 100H50M80 100H90')
})

test('a run of checks that were not good is one dip with its worst, and lasts until the next good one', () => {
  const look = (atMs: number, verdict: DriftLook['verdict'], cosine = 1): DriftLook => ({
    ...at(atMs, cosine),
    verdict,
  })
  const looks = [
    look(1000, 'good'),
    look(2000, 'warned', 0.997),
    look(3000, 'failed'),
    look(4000, 'warned', 0.998),
    look(5000, 'good'),
    look(6000, 'quarantined', 0.4),
  ]
  assert.deepEqual(
    dipsIn(looks.toReversed(), SLOT_MS).map(({ worst, ...dip }) => ({ ...dip, worst: worst.cosine })),
    [
      { fromMs: 2000, toMs: 5000, worst: 0.997, isOpen: false },
      { fromMs: 6000, toMs: 7000, worst: 0.4, isOpen: true },
    ],
  )
})

test('what happened are the looks at which the verdict became another one; no answer is none of them', () => {
  const look = (atMs: number, verdict: DriftLook['verdict']): DriftLook => ({ ...at(atMs, 1), verdict })
  const looks = [
    look(5, 'quarantined'),
    look(4, 'failed'),
    look(3, 'warned'),
    look(2, 'good'),
    look(1, 'good'),
  ]
  assert.deepEqual(
    changesIn(looks).map(({ atMs, verdict }) => [atMs, verdict]),
    [
      [5, 'quarantined'],
      [3, 'warned'],
    ],
  )
})

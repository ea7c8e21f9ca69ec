import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UpstreamFailure, type FailureKind } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { anImageModel, anImageRequest } from '#test/support/images.ts'
import { outcomeOfCalls } from './outcome.ts'

const failed = (kind: FailureKind, charge: 'none' | 'unknown'): UpstreamFailure =>
  new UpstreamFailure(kind, 'no', { deployment: 'd', charge })
const unconverted = new Fault('upstream_broken_answer', 'd sent an image that could not be converted')

for (const [title, failures, isUnknown, freesKey] of [
  ['an image that was paid and could not be converted', [unconverted], false, false],
  ['such an image beside a free failure', [failed('failed', 'none'), unconverted], false, false],
  ['a call that may have been charged', [failed('timedOut', 'unknown')], true, false],
  [
    'such a call beside a free failure',
    [failed('failed', 'none'), failed('timedOut', 'unknown')],
    true,
    false,
  ],
  ['a call that was not charged', [failed('failed', 'none')], false, true],
  ['a request that the upstream refused', [failed('refused', 'none')], false, false],
  ['a content that the upstream refused', [failed('contentRefused', 'none')], false, false],
  ['a fault before any call', [new Fault('budget_exhausted', 'no money')], false, true],
  ['an error of our own', [new Error('a defect')], true, false],
] as const)
  test(`after ${title} the same Idempotency-Key ${freesKey ? 'may buy again' : 'buys nothing more'}`, () => {
    const outcome = outcomeOfCalls(
      { deliveries: [], failures },
      {
        request: anImageRequest(),
        model: anImageModel(),
        dropped: [],
        attempts: failures.length,
        held: new Map(),
        batchId: undefined,
        naming: (fault) => fault,
      },
      0,
    )
    assert.ok(outcome.kind === 'fault')
    assert.deepEqual([outcome.isUnknown, outcome.freesKey], [isUnknown, freesKey])
  })

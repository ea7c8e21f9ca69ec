import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { faultOfFailure } from '#core/fault/of-failure.ts'
import { recordOf } from './request-record.ts'

const unreachable = new UpstreamFailure('unreachable', 'connect ECONNREFUSED', { deployment: 'm/u' })
const quoted = new UpstreamFailure('refused', 'too long: canary', { deployment: 'm/u', status: 400 })

const CASES: readonly (readonly [name: string, fault: Fault, kept: string | undefined])[] = [
  ['a limit', new Fault('budget_exhausted', 'Nothing is left.'), 'Nothing is left.'],
  ['a failure of ours', new Fault('budget_store_unreachable', 'No store.'), 'No store.'],
  ['a missing price', new Fault('model_unpriced', 'Set a price.'), 'Set a price.'],
  [
    'an unreachable upstream',
    faultOfFailure(unreachable, 'm', 1),
    'm/u could not be reached: connect ECONNREFUSED.',
  ],
  ['a name that the caller sent', new Fault('model_not_found', 'Model canary is not configured.'), undefined],
  ['an upstream’s words', faultOfFailure(quoted, 'm', 1), undefined],
]

for (const [name, fault, kept] of CASES)
  test(`the log keeps an error text only where it can’t repeat what the caller sent: ${name}`, () => {
    const record = recordOf({ requestId: 'r', route: 'embeddings', trace: undefined, fault })
    assert.equal(record.faultText, kept)
  })

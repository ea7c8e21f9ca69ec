import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { continuationOf, type Continuation, type KeyStanding, type WorkState } from './continuation.ts'

const STANDINGS: readonly KeyStanding[] = ['valid', 'expired', 'revoked', 'leaked', 'unreachable']

/** State, and consequence, in the words of docs/batches.md, "When rights change". */
const TABLE: readonly (readonly [what: string, state: Partial<WorkState>, then: Continuation])[] = [
  ['a valid key: its own terms', {}, { does: 'continue', under: 'key' }],
  ['an expired key: a pause', { key: 'expired' }, { does: 'pause', because: 'key_expired' }],
  ['a revoked key: a pause', { key: 'revoked' }, { does: 'pause', because: 'key_revoked' }],
  ['a leaked key: the end', { key: 'leaked' }, { does: 'cancel', because: 'key_revoked' }],
  [
    'a store out of reach: a pause',
    { key: 'unreachable' },
    { does: 'pause', because: 'key_store_unreachable' },
  ],
  [
    'expired, and continued: the terms of the project',
    { key: 'expired', isContinued: true },
    { does: 'continue', under: 'project' },
  ],
  [
    'revoked, and continued: the terms of the project',
    { key: 'revoked', isContinued: true },
    { does: 'continue', under: 'project' },
  ],
  [
    'continued, then valid again: the terms of the project',
    { isContinued: true },
    { does: 'continue', under: 'project' },
  ],
  [
    'continued, then leaked: the end',
    { key: 'leaked', isContinued: true },
    { does: 'cancel', because: 'key_revoked' },
  ],
  [
    'continued, with the store out of reach: a pause',
    { key: 'unreachable', isContinued: true },
    { does: 'pause', because: 'key_store_unreachable' },
  ],
  [
    'a deleted project: the end',
    { key: 'revoked', isProjectDeleted: true },
    { does: 'cancel', because: 'project_deleted' },
  ],
]

for (const [what, state, then] of TABLE) {
  test(`work goes on as the table says: ${what}`, () => {
    const full = { key: 'valid', isProjectDeleted: false, isContinued: false, ...state } as const
    assert.deepEqual(continuationOf(full), then)
  })
}

test('nothing goes on for a deleted project, under a leaked key, or without knowing the key', () => {
  fc.assert(
    fc.property(
      fc.record({
        key: fc.constantFrom(...STANDINGS),
        isProjectDeleted: fc.boolean(),
        isContinued: fc.boolean(),
      }),
      (state) => {
        const mustStop = state.isProjectDeleted || state.key === 'leaked' || state.key === 'unreachable'
        const isOwn = state.key === 'valid' && !state.isContinued
        const then = continuationOf(state)
        assert.equal(then.does === 'continue', !mustStop && (isOwn || state.isContinued))
        if (then.does === 'continue') assert.equal(then.under, isOwn ? 'key' : 'project')
      },
    ),
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FINAL, finalAction, type FinalSituation } from './final.ts'

const MINUTE_MS = 60_000
const base: FinalSituation = { state: 'unconfirmed', isCancelling: false, waitedMs: 0 }

const CASES: readonly (readonly [
  row: string,
  situation: Partial<FinalSituation>,
  action: 'keep' | 'again' | 'wait',
])[] = [
  ['they have left their space', { state: 'left' }, 'again'],
  ['they have left their space', { state: 'left', isCancelling: true }, 'again'],
  ['a good probe has followed', { state: 'final' }, 'keep'],
  ['a good probe has followed', { state: 'final', waitedMs: 24 * 60 * MINUTE_MS }, 'keep'],
  [
    'no probe was possible while a cancelled batch waited',
    { isCancelling: true, waitedMs: MINUTE_MS / 2 },
    'again',
  ],
  ['their deployment was removed', { state: 'gone', waitedMs: MINUTE_MS }, 'again'],
  ['no probe was possible for long', { waitedMs: 15 * MINUTE_MS }, 'again'],
  ['a probe is asked for', {}, 'wait'],
  ['a probe is asked for', { isCancelling: true, waitedMs: MINUTE_MS / 2 - 1 }, 'wait'],
  ['a probe is asked for', { state: 'gone', waitedMs: MINUTE_MS - 1 }, 'wait'],
  ['a probe is asked for', { waitedMs: 15 * MINUTE_MS - 1 }, 'wait'],
]

for (const [row, situation, action] of CASES)
  test(`${row}: ${action} at ${JSON.stringify(situation)}`, () => {
    const whole = { ...base, ...situation }
    assert.equal(FINAL.find(({ when }) => when(whole))?.name, row)
    assert.equal(finalAction(whole), action)
  })

test('every row of the table has a case', () => {
  assert.deepEqual(new Set(CASES.map(([row]) => row)), new Set(FINAL.map(({ name }) => name)))
})

test('whatever happens, no batch waits for longer than a quarter of an hour, and none keeps what was not confirmed', () => {
  for (const state of ['left', 'final', 'unconfirmed', 'gone'] as const)
    for (const isCancelling of [true, false]) {
      assert.notEqual(finalAction({ state, isCancelling, waitedMs: 15 * MINUTE_MS }), 'wait')
      for (const waitedMs of [0, MINUTE_MS, 60 * MINUTE_MS])
        assert.equal(finalAction({ state, isCancelling, waitedMs }) === 'keep', state === 'final')
    }
})

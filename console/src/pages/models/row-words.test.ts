import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endsText, markOf, type ModelRow } from './row-words.ts'

const row = (given: Partial<ModelRow>): ModelRow =>
  ({ deployments: [], retired: null, ends: null, ...given }) as ModelRow
const ends = (days: number) => ({ on: '2026-12-01', days_left: days, successor: 'next' })

test('a retirement shows from 90 days before, and afterwards', () => {
  assert.equal(endsText(row({})), undefined)
  assert.equal(endsText(row({ ends: ends(91) })), undefined)
  assert.equal(endsText(row({ ends: ends(90) })), 'retires 2026-12-01, in 90 days, use next')
  assert.equal(endsText(row({ ends: ends(1) })), 'retires 2026-12-01, in 1 day, use next')
  assert.equal(endsText(row({ ends: ends(-1) })), 'retired 2026-12-01, use next')
})

test('neither a model that is gone nor one that ends soon is marked as good', () => {
  const retired = { on: '2026-10-23', successor: null, asked_by: [] }
  assert.deepEqual(
    [
      row({}),
      row({ ends: ends(91) }),
      row({ ends: ends(90) }),
      row({ ends: ends(-1) }),
      row({ retired }),
    ].map(markOf),
    ['good', 'good', 'warn', 'warn', 'off'],
  )
})

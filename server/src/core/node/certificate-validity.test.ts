import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { endingOf, type Ending } from './certificate-validity.ts'

const DAY_MS = 86_400_000
const ORDER: readonly Ending[] = ['far', 'near', 'urgent', 'over']

test('the end of a certificate comes nearer with time, and never is near in the first three quarters of its life', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 400 }),
      fc.double({ min: 0, max: 1.2, noNaN: true }),
      fc.double({ min: 0, max: 1.2, noNaN: true }),
      (days, one, other) => {
        const validity = { beginsAtMs: 0, endsAtMs: days * DAY_MS }
        const rankAt = (share: number): number => ORDER.indexOf(endingOf(validity, share * validity.endsAtMs))
        const [early, late] = [Math.min(one, other), Math.max(one, other)]
        assert.ok(rankAt(early) <= rankAt(late))
        if (early < 0.75) assert.equal(rankAt(early), 0)
        assert.equal(rankAt(late) === ORDER.indexOf('over'), late >= 1)
      },
    ),
  )
})

test('the end of a certificate of a year is near two weeks before it, and urgent three and a half days before it', () => {
  const validity = { beginsAtMs: 0, endsAtMs: 365 * DAY_MS }
  const endings = [14.1, 13.9, 3.6, 3.4, 0].map((days) => endingOf(validity, (365 - days) * DAY_MS))
  assert.deepEqual(endings, ['far', 'near', 'near', 'urgent', 'over'])
})

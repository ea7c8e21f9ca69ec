import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { UpstreamFailure, type FailureDetail, type FailureKind } from '#core/fault/failure.ts'
import { mayTryAnother, offersAfter } from './next-deployment.ts'

const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ deployment: { id, priority: 0, weight: 1 }, emulated: [] }))
type Offer = NonNullable<typeof a>
const ALL = [a, b, c] as readonly Offer[]
const [A] = ALL as readonly [Offer]
const kinds: readonly FailureKind[] = [
  'refused',
  'contentRefused',
  'rejectedUs',
  'missing',
  'rateLimited',
  'failed',
  'unreachable',
  'timedOut',
  'broken',
]

function failureOf(kind: FailureKind, charge?: FailureDetail['charge']): UpstreamFailure {
  return new UpstreamFailure(kind, 'test', { deployment: 'a', charge })
}

const idsOf = (offers: readonly Offer[]): string => offers.map(({ deployment }) => deployment.id).join('')
const EMBEDDING = { maxAttempts: 3, buysOnce: false }
const IMAGE = { maxAttempts: 3, buysOnce: true }

test('the failed deployment is left out, and nothing is tried more often than allowed', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.constantFrom(undefined, 'none' as const, 'unknown' as const),
      fc.subarray([...ALL], { minLength: 1 }),
      fc.nat(4),
      fc.boolean(),
      (kind, charge, offers, tries, buysOnce) => {
        const [failed] = offers as [Offer]
        const next = offersAfter(
          failureOf(kind, charge),
          failed,
          { offers, tries },
          { maxAttempts: 3, buysOnce },
        )
        if (tries >= 2) assert.deepEqual(next, [])
        if (offers.length > 1) assert.ok(!next.includes(failed))
        assert.ok(next.every((offer) => offers.includes(offer)))
      },
    ),
  )
})

test('what another deployment would refuse too, and what is no failure of an upstream, is not tried again', () => {
  for (const error of [failureOf('refused'), failureOf('contentRefused'), new Error('a defect'), undefined]) {
    assert.equal(mayTryAnother(error), false)
    assert.deepEqual(offersAfter(error, A, { offers: ALL, tries: 0 }, EMBEDDING), [])
  }
})

test('an embeddings call goes to the others, even if it may have been charged', () => {
  for (const kind of ['unreachable', 'timedOut', 'broken', 'failed', 'rateLimited'] as const)
    assert.equal(idsOf(offersAfter(failureOf(kind), A, { offers: ALL, tries: 0 }, EMBEDDING)), 'bc')
})

test('where there is no other deployment, a cut connection is worth one more try, and nothing else is', () => {
  const only = { offers: [A], tries: 0 }
  assert.equal(idsOf(offersAfter(failureOf('unreachable'), A, only, EMBEDDING)), 'a')
  assert.equal(idsOf(offersAfter(failureOf('unreachable'), A, { offers: [A], tries: 1 }, EMBEDDING)), '')
  for (const kind of ['timedOut', 'broken', 'failed', 'rateLimited', 'missing'] as const)
    assert.equal(idsOf(offersAfter(failureOf(kind), A, only, EMBEDDING)), '')
})

test('a picture that may have been charged is bought nowhere else, and no deployment is asked twice', () => {
  for (const kind of ['unreachable', 'timedOut', 'broken'] as const) {
    assert.equal(idsOf(offersAfter(failureOf(kind), A, { offers: ALL, tries: 0 }, IMAGE)), '')
    assert.equal(idsOf(offersAfter(failureOf(kind, 'none'), A, { offers: ALL, tries: 0 }, IMAGE)), 'bc')
    assert.equal(idsOf(offersAfter(failureOf(kind, 'none'), A, { offers: [A], tries: 0 }, IMAGE)), '')
  }
  assert.equal(idsOf(offersAfter(failureOf('failed', 'unknown'), A, { offers: ALL, tries: 0 }, IMAGE)), '')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answeringSpace, spaceOf, type JoinedFamily } from '#core/embedding/space.ts'
import type { TypeView } from '#core/embedding/vector-types/view.ts'
import { Fault } from '#core/fault/fault.ts'
import { aModel } from '#test/support/models.ts'
import { checkSpace, guardedSpaceFor, spaceNow } from './space.ts'

const MAKERS: JoinedFamily = { name: 'makers', generation: 1 }
const model = aModel({ id: 'small', family: { name: 'makers', members: ['large', 'small'] } })
const OWN = spaceOf('small', 8)
const FAMILY = answeringSpace('small', 8, 1, MAKERS)
const NATIVE: readonly TypeView[] = [{ type: 'int8', scale: 'native' }]

function namedFor(family: JoinedFamily | undefined, pinned?: string, views?: readonly TypeView[]): string {
  try {
    return guardedSpaceFor(model, 8, { generation: 1, family }, pinned, undefined, views) ?? 'none'
  } catch (error) {
    if (error instanceof Fault) return error.code
    throw error
  }
}

test('a member is named by its family, and by itself for callers who pinned that or where the scale is its own', () => {
  assert.notEqual(OWN, FAMILY)
  assert.deepEqual(
    [
      namedFor(MAKERS),
      namedFor(MAKERS, FAMILY),
      namedFor(MAKERS, OWN),
      namedFor(MAKERS, undefined, [{ type: 'float16' }]),
      namedFor(MAKERS, undefined, NATIVE),
      namedFor(MAKERS, `${FAMILY}/int8:native`, NATIVE),
      namedFor({ ...MAKERS, generation: 2 }, FAMILY),
    ],
    [FAMILY, FAMILY, OWN, `${FAMILY}/float16`, `${OWN}/int8:native`, 'space_mismatch', 'space_mismatch'],
  )
})

test('a model that has not joined is never named by its family', () => {
  assert.deepEqual(
    [namedFor(undefined), namedFor(undefined, OWN), namedFor(undefined, FAMILY)],
    [OWN, OWN, 'space_mismatch'],
  )
})

test('the hex part of a family is not that of a model of the same name', () => {
  assert.notEqual(answeringSpace('small', 8, 1, { name: 'small', generation: 1 }), OWN)
})

test('vectors named by a family are not sent once their model has left it', () => {
  const cases: readonly (readonly [JoinedFamily | undefined, JoinedFamily | undefined, boolean])[] = [
    [MAKERS, MAKERS, true],
    [MAKERS, undefined, false],
    [MAKERS, { ...MAKERS, generation: 2 }, false],
    [MAKERS, { ...MAKERS, name: 'others' }, false],
    [undefined, MAKERS, true],
  ]
  for (const [before, after, isSent] of cases) {
    const watch = (family: JoinedFamily | undefined) => ({
      generationOf: () => 1,
      familyOf: () => family,
      isQuarantined: () => false,
    })
    const check = (): void =>
      checkSpace(
        model,
        { served: [], hits: [] } as never,
        spaceNow(model, watch(before)),
        undefined,
        watch(after),
      )
    if (isSent) check()
    else assert.throws(check, { code: 'space_left' })
  }
})

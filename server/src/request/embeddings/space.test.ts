import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answeringSpace, spaceOf, type ModelSpace } from '#core/embedding/space.ts'
import type { TypeView } from '#core/embedding/vector-types/view.ts'
import { Fault } from '#core/fault/fault.ts'
import { aModel } from '#test/support/models.ts'
import { checkSpace, guardedSpaceFor } from './space.ts'

const model = aModel({ id: 'small', space: 'makers' })
const ALONE: ModelSpace = { model: 'small', generation: 1 }
const DECLARED: ModelSpace = { ...ALONE, declared: { name: 'makers', generation: '' } }
const OTHER: ModelSpace = { ...ALONE, declared: { name: 'makers', generation: 'large#2' } }
const OWN = spaceOf('small', 8)
const MAKERS = answeringSpace(DECLARED, 8)
const NATIVE: readonly TypeView[] = [{ type: 'int8', scale: 'native' }]

function namedFor(now: ModelSpace | undefined, pinned?: string, views?: readonly TypeView[]): string {
  try {
    return guardedSpaceFor(model, 8, now, pinned, undefined, views) ?? 'none'
  } catch (error) {
    if (error instanceof Fault) return error.code
    throw error
  }
}

test('a model is named by the space that it declares, and by itself for callers who pinned that or where the scale is its own', () => {
  assert.deepEqual(
    [
      namedFor(DECLARED),
      namedFor(DECLARED, MAKERS),
      namedFor(DECLARED, OWN),
      namedFor(DECLARED, undefined, [{ type: 'float16' }]),
      namedFor(DECLARED, undefined, NATIVE),
      namedFor(DECLARED, `${MAKERS}/int8:native`, NATIVE),
      namedFor(OTHER, MAKERS),
      namedFor(DECLARED, spaceOf('large', 8)),
      namedFor(DECLARED, answeringSpace(DECLARED, 4)),
    ],
    [
      MAKERS,
      MAKERS,
      OWN,
      `${MAKERS}/float16`,
      `${OWN}/int8:native`,
      'space_mismatch',
      'space_mismatch',
      'space_mismatch',
      'space_mismatch',
    ],
  )
})

test('without a declared space, and before the store was read, no declared name is given', () => {
  assert.deepEqual(
    [namedFor(ALONE), namedFor(ALONE, OWN), namedFor(ALONE, MAKERS), namedFor(undefined)],
    [OWN, OWN, 'space_mismatch', 'none'],
  )
  assert.equal(namedFor(undefined, MAKERS), 'space_unknown')
})

test('vectors are not sent once what their name says has changed, for their model or another of the declared space', () => {
  const cases: readonly (readonly [ModelSpace | undefined, ModelSpace | undefined, boolean])[] = [
    [DECLARED, DECLARED, true],
    [DECLARED, OTHER, false],
    [DECLARED, { ...DECLARED, generation: 2 }, false],
    [DECLARED, ALONE, false],
    [ALONE, { ...ALONE, generation: 2 }, false],
    [undefined, DECLARED, true],
  ]
  for (const [before, after, isSent] of cases) {
    const watch = { spaceNow: () => after, isQuarantined: () => false }
    const check = (): void => checkSpace(model, { served: [], hits: [] } as never, before, undefined, watch)
    if (isSent) check()
    else assert.throws(check, { code: 'space_left' })
  }
})

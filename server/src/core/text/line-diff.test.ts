import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lineDiff } from './line-diff.ts'

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 20 })

test('a diff holds both texts in order, equal lines only where they are equal, and nothing for equal texts', () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = lineDiff(before, after)
      assert.deepEqual(
        diff.filter(({ op }) => op !== '+').map((line) => line.before),
        [...before.keys()],
      )
      assert.deepEqual(
        diff.filter(({ op }) => op !== '-').map((line) => line.after),
        [...after.keys()],
      )
      for (const line of diff) if (line.op === ' ') assert.equal(before[line.before], after[line.after])
      assert.ok(lineDiff(before, before).every(({ op }) => op === ' '))
    }),
  )
})

test('a diff is as short as it can be, and a text with thousands of other lines is replaced', () => {
  const shown = (before: string, after: string) =>
    lineDiff(before.split(''), after.split(''))
      .map(({ op, before: was, after: is }) => `${op}${op === '-' ? before[was] : after[is]}`)
      .join(',')
  assert.equal(shown('abcabba', 'cbabac'), '-a,-b, c,+b, a, b,-b, a,+c')
  const [before, after] = ['x', 'y'].map((letter) =>
    Array.from({ length: 5000 }, (_, index) => `${letter}${index}`),
  )
  const diff = lineDiff(before ?? [], after ?? [])
  assert.deepEqual([diff.length, diff[0]?.op, diff.at(-1)?.op], [10_000, '-', '+'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sharedOut } from './shared-out.ts'

const folder = fc.constantFrom(
  'server/test/e2e',
  'server/test/http/images',
  'server/test/contract',
  'server/src/core/fault',
  'lab/release',
  'console/src/app',
)

test('every file of tests runs, in one process', () => {
  const file = fc.tuple(folder, fc.nat(300)).map(([at, number]) => `${at}/${number}.test.ts`)
  fc.assert(
    fc.property(fc.uniqueArray(file, { maxLength: 400 }), (files) => {
      const run = sharedOut(files).flat()
      assert.deepEqual(run.toSorted(), files.toSorted())
    }),
  )
})

test('files that kill processes run alone and begin first, and the shortest stand last', () => {
  const processes = sharedOut([
    'server/src/core/a.test.ts',
    'server/src/core/b.test.ts',
    'server/test/e2e/a.test.ts',
    'server/test/e2e/b.test.ts',
    'lab/release/a.test.ts',
  ])
  assert.deepEqual(processes, [
    ['server/test/e2e/a.test.ts'],
    ['server/test/e2e/b.test.ts'],
    ['server/src/core/a.test.ts', 'server/src/core/b.test.ts'],
    ['lab/release/a.test.ts'],
  ])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { shareOut } from './shared-out.ts'
import { describeTestFile } from './test-files.ts'

const folder = fc.constantFrom(
  'server/test/e2e',
  'server/test/http/images',
  'server/test/http/control',
  'server/test/contract',
  'server/src/core/fault',
  'lab/release',
  'console/src/app',
)

test('every file of tests runs, in one process, beside files of its part alone', () => {
  const file = fc.tuple(folder, fc.nat(300)).map(([at, number]) => `${at}/${number}.test.ts`)
  fc.assert(
    fc.property(fc.uniqueArray(file, { maxLength: 400 }), (paths) => {
      const processes = shareOut(paths.map(describeTestFile))
      assert.deepEqual(processes.flatMap(({ files }) => files).toSorted(), paths.toSorted())
      for (const { part, files } of processes)
        assert.ok(files.every((path) => describeTestFile(path).part === part))
    }),
  )
})

test('files that kill processes run alone, others share a process', () => {
  const files = ['server/src/core/a', 'server/src/core/b', 'server/test/e2e/a', 'server/test/e2e/b']
  const processes = shareOut(files.map((path) => describeTestFile(`${path}.test.ts`)))
  assert.deepEqual(
    processes.map(({ files: inOne }) => inOne),
    [
      ['server/test/e2e/a.test.ts'],
      ['server/test/e2e/b.test.ts'],
      ['server/src/core/a.test.ts', 'server/src/core/b.test.ts'],
    ],
  )
})

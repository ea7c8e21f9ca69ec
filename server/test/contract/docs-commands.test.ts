/** Commands of the documentation are run by `npm run test:docs`, or there is a reason why not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOT_RUN, reasonNotToRun, shellBlocks } from '#test/support/docs-blocks.ts'

const blocks = shellBlocks()

test('most commands of the documentation are run', () => {
  const run = blocks.filter((block) => reasonNotToRun(block) === undefined)
  assert.ok(run.length > 30, `${run.length} of ${blocks.length}`)
})

test('every reason not to run a command has a command', () => {
  const idle = NOT_RUN.filter(([pattern]) => !blocks.some(({ text }) => pattern.test(text)))
  assert.deepEqual(
    idle.map(([, reason]) => reason),
    [],
  )
})

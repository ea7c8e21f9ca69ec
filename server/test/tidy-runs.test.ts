/** Property tests: how often each runs is decided in one place, which a long run at night raises for all of them. */
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const REPOSITORY = join(import.meta.dirname, '../..')
/** The console and the importer import nothing of the server, tests included. */
const FOLDERS = ['server', 'bulk', 'lab']
const LITERAL = /\bnumRuns:\s*[\d_]+/g

test('a property runs as often as `runs` allows, never as often as a number in its test', () => {
  const listed = execFileSync('git', ['ls-files', ...FOLDERS], { cwd: REPOSITORY, encoding: 'utf8' })
  const paths = listed.split('\n').filter((path) => path.endsWith('.ts'))
  assert.ok(paths.length > 500, 'found too few sources: the check would pass vacuously')
  assert.deepEqual(
    paths.flatMap((path) =>
      (readFileSync(join(REPOSITORY, path), 'utf8').match(LITERAL) ?? []).map((found) => `${path}: ${found}`),
    ),
    [],
  )
})

test('the rule finds a number of runs', () => {
  const planted = ['fc.assert(one, { ', 'numRuns', ': 2_000 })\nfc.assert(one, runs(2000))'].join('')
  assert.equal(planted.match(LITERAL)?.length, 1)
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileOf } from './main.ts'
import { PROGRAMS } from './programs.ts'

const ROOT = join(import.meta.dirname, '..')

test('every name of the lab has a file', () => {
  for (const [name, program] of Object.entries(PROGRAMS))
    assert.notDeepEqual(globSync(fileOf(name, program), { cwd: ROOT }), [], name)
})

test('an unknown name fails and shows what there is', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['lab/main.ts', 'bench/nothing'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  assert.equal(status, 2)
  assert.match(stdout, /bench\/gate/)
  assert.match(stderr, /There is no bench\/nothing/)
})

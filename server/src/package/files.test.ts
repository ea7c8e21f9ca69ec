import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CATALOG_FOLDER, MIGRATIONS_FOLDER, readManifest, WORKERS, workerModule } from './files.ts'

test('every module of a thread is an entry of the build', () => {
  const cwd = join(import.meta.dirname, '..')
  const modules = globSync('**/{*-worker,worker}.ts', { cwd }).map((file) => file.replace(/\.ts$/, ''))
  assert.deepEqual(modules.sort(), [...WORKERS].sort())
})

test('what the program reads beside its code is where it looks for it', () => {
  for (const worker of WORKERS) assert.ok(existsSync(workerModule(worker)), worker)
  assert.ok(existsSync(join(CATALOG_FOLDER, 'openai.yaml')))
  assert.ok(globSync('*.sql', { cwd: MIGRATIONS_FOLDER }).length > 0)
  assert.match(readManifest().version, /^\d+\.\d+\.\d+/)
})

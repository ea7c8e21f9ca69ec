import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import sharp from 'sharp'
import { PROBE_IMAGES } from '#core/embedding/probe-images.ts'
import {
  CATALOG_FOLDER,
  MIGRATIONS_FOLDER,
  probeImage,
  readManifest,
  WORKERS,
  workerModule,
} from './files.ts'

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

test('the probe images have the bytes that every stored reference was made from', async () => {
  for (const { name, size, sha256, format, width, height } of PROBE_IMAGES) {
    const bytes = probeImage(name)
    assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256, name)
    assert.equal(bytes.length, size)
    assert.ok(size <= 20_000)
    const read = await sharp(bytes).metadata()
    assert.deepEqual([read.format, read.width, read.height], [format, width, height])
  }
})

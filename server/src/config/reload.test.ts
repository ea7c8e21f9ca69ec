import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { eventually } from '#test/support/process.ts'
import { ConfigError } from './file/problem.ts'
import { lookAt, watchConfig } from './reload.ts'

/** Watches a file whose content counts as faulty when it starts with "bad". */
async function watched(context: TestContext, first: string, intervalMs = 5) {
  const folder = await mkdtemp(join(tmpdir(), 'torana-reload-'))
  const file = join(folder, 'torana.yaml')
  await writeFile(file, first)
  const events: string[] = []
  const env = { KEY_FILE: join(folder, 'key'), OTHER_FILE: join(folder, 'other') }
  const watch = watchConfig({
    file,
    env,
    since: lookAt(file, env),
    intervalMs,
    load: () => {
      const text = readFileSync(file, 'utf8')
      if (text.startsWith('bad')) throw new ConfigError([`${text} one`, `${text} two`])
      return text
    },
    onGood: (text) => void events.push(text),
    onBad: (problems) => events.push(problems.join(', ')),
  })
  context.after(async () => {
    watch.close()
    await rm(folder, { recursive: true })
  })
  const until = (count: number) => eventually(async () => assert.ok(events.length >= count))
  return { folder, file, events, watch, until }
}

/** In one step: on a busy machine, the look of a moment could fall between the cut of a file and its new content. */
async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text)
  await rename(`${file}.new`, file)
}

test('a change is loaded; a faulty one is reported once, in full, and replaces nothing', async (context) => {
  const { file, events, until } = await watched(context, 'first')
  await replace(file, 'second')
  await until(1)
  await replace(file, 'bad')
  await until(2)
  await delay(50)
  await replace(file, 'third')
  await until(3)
  assert.deepEqual(events, ['second', 'bad one, bad two', 'third'])
})

test('a file that is still being written is not loaded', async (context) => {
  const quietMs = 200
  const { file, events } = await watched(context, 'first', quietMs)
  let longestPauseMs = 0
  for (let part = 0; part < 40; part += 1) {
    const writtenMs = performance.now()
    await delay(20)
    await writeFile(file, 'x'.repeat(part))
    longestPauseMs = Math.max(longestPauseMs, performance.now() - writtenMs)
  }
  // On a machine that had no time for the writer, the file was quiet.
  if (longestPauseMs < quietMs) assert.deepEqual(events, [])
  await writeFile(file, 'whole')
  await eventually(async () => assert.equal(events.at(-1), 'whole'))
})

test('a mounted ConfigMap, which swaps a symbolic link above the file, is noticed', async (context) => {
  const { folder, file, events, until } = await watched(context, 'first')
  for (const [name, text] of [
    ['v1', 'one'],
    ['v2', 'two'],
  ] as const) {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'torana.yaml'), text)
    await utimes(join(folder, name, 'torana.yaml'), 1, 1)
  }
  await symlink('v1', join(folder, '..data'))
  await rm(file)
  await symlink('..data/torana.yaml', file)
  await until(1)
  await symlink('v2', join(folder, '..data_tmp'))
  await rename(join(folder, '..data_tmp'), join(folder, '..data'))
  await eventually(async () => assert.equal(events.at(-1), 'two'))
  assert.equal(await readFile(file, 'utf8'), 'two')
})

test('a file that is touched but not changed is not loaded again', async (context) => {
  const { file, events } = await watched(context, 'first')
  await utimes(file, 5, 5)
  await delay(50)
  assert.deepEqual(events, [])
})

test('a file that vanishes is reported, and its return is loaded', async (context) => {
  const { file, events, until } = await watched(context, 'first')
  await rm(file)
  await until(1)
  await writeFile(file, 'back')
  await until(2)
  assert.match(events[0] ?? '', /torana\.yaml: ENOENT/)
  assert.equal(events[1], 'back')
})

test('a demand loads at once, also an unchanged file; after close nothing is loaded', async (context) => {
  const { file, events, watch, until } = await watched(context, 'first')
  watch.reload()
  await until(1)
  assert.deepEqual(events, ['first'])
  watch.close()
  await writeFile(file, 'second')
  await delay(40)
  assert.deepEqual(events, ['first'])
})

test('what was written after the first look and before the watch is a change', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'torana-reload-'))
  context.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'torana.yaml')
  await writeFile(file, 'first')
  const since = lookAt(file, {})
  await writeFile(file, 'written while the node started')
  const loaded = Promise.withResolvers<string>()
  const load = (): string => readFileSync(file, 'utf8')
  const watch = watchConfig({
    file,
    env: {},
    since,
    intervalMs: 5,
    load,
    onGood: loaded.resolve,
    onBad: () => {},
  })
  context.after(() => watch.close())
  assert.equal(await loaded.promise, 'written while the node started')
})

test('a secret file that the configuration names is a part of it, wherever in the file', async (context) => {
  const { folder, file, events, until } = await watched(context, 'first')
  await replace(join(folder, 'key'), 'one')
  await replace(file, 'with ${KEY:?needed}')
  await until(1)
  await replace(join(folder, 'key'), 'two')
  await until(2)
  await rm(join(folder, 'key'))
  await until(3)
  await replace(join(folder, 'key'), 'three')
  await until(4)
  // A file that it does not name is ignored.
  await replace(join(folder, 'other'), 'one')
  await delay(50)
  assert.equal(events.length, 4)
})

test('a mounted Secret, which swaps a symbolic link above its files, is noticed', async (context) => {
  const { folder, file, events, until } = await watched(context, 'first')
  for (const version of ['v1', 'v2']) {
    await mkdir(join(folder, version))
    await writeFile(join(folder, version, 'key'), version)
    await utimes(join(folder, version, 'key'), 1, 1)
  }
  await symlink('v1', join(folder, '..data'))
  await symlink('..data/key', join(folder, 'key'))
  await replace(file, '${KEY}')
  await until(1)
  await symlink('v2', join(folder, '..data_tmp'))
  await rename(join(folder, '..data_tmp'), join(folder, '..data'))
  await until(2)
  assert.deepEqual(events, ['${KEY}', '${KEY}'])
})

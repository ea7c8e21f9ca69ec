import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { HeldProject } from '#ports/key-file.ts'
import { PackedKeyFile } from './key-file.ts'

const STATE = { version: 1n, mark: 'one', verifiedAtMs: 0 }
/** Several looks at the lock, and longer than a busy machine pauses. */
const MAX_STANDSTILL_MS = 3000
/** Of a pause after each: more in all than the longest standstill. */
const PAGES = 12

const folder = mkdtempSync(join(tmpdir(), 'torana-key-file-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface Node {
  readonly file: PackedKeyFile
  readonly troubles: readonly string[]
}

function nodeIn(name: string): Node {
  const troubles: string[] = []
  const file = new PackedKeyFile({
    folder: join(folder, name),
    keys: [new Uint8Array(32)],
    maxStandstillMs: MAX_STANDSTILL_MS,
    onTrouble: ({ message }) => troubles.push(message),
  })
  return { file, troubles }
}

function projectOf(index: number): HeldProject {
  return { name: `project-${index}`, limits: {}, budget: undefined, version: 1n }
}

/** A pause after each page. */
function slowPages(pages: number, pause: () => Promise<void>) {
  return {
    async *projects() {
      for (let page = 0; page < pages; page += 1) {
        yield [projectOf(page)]
        await pause()
      }
    },
    async *keys() {},
  }
}

const NOTHING_TO_READ = {
  projects: () => assert.fail('the store was read by both'),
  keys: () => assert.fail('the store was read by both'),
}

test('a process waits for another that packs the keys, however many there are', async () => {
  const [first, second] = [nodeIn('slow'), nodeIn('slow')]
  const packing = first.file.pack(
    STATE,
    slowPages(PAGES, () => wait(MAX_STANDSTILL_MS / 10)),
  )
  await wait(0)
  const waited = await second.file.pack(STATE, NOTHING_TO_READ)
  const packed = await packing
  assert.equal(waited.projectOf(`project-${PAGES - 1}`)?.name, `project-${PAGES - 1}`)
  assert.deepEqual([...first.troubles, ...second.troubles], [])
  packed.close()
  waited.close()
})

test('a process packs the keys in memory when another that holds the lock makes no progress', async () => {
  const [first, second] = [nodeIn('stuck'), nodeIn('stuck')]
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const packing = first.file.pack(
    STATE,
    slowPages(1, () => released),
  )
  await wait(0)
  const own = await second.file.pack(
    STATE,
    slowPages(1, async () => {}),
  )
  assert.equal(own.projectOf('project-0')?.name, 'project-0')
  assert.match(second.troubles.join(), /makes no progress/)
  release()
  own.close()
  const packed = await packing
  packed.close()
})

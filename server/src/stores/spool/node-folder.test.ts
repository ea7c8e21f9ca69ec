import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { numbered } from '#test/support/entries.ts'
import { testFolder } from '#test/support/disk.ts'
import { abandonedFolders, makeNodeFolder } from './node-folder.ts'

const NODE = '01930000-0000-7000-8000-00000000000a'

test('what a killed process left is found once it is dead, and by one who looks at a time', async (t) => {
  const data = testFolder()
  const script = `
    import { makeNodeFolder } from '#stores/spool/node-folder.ts'
    import { numbered } from '#test/support/entries.ts'
    const folder = (globalThis.held = makeNodeFolder(process.argv[1], process.argv[2]))
    await folder.spool.append([numbered(1), numbered(2)])
    await folder.journal.open(numbered(3))
    console.log('ready')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, data, NODE], {
    cwd: join(import.meta.dirname, '../../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  assert.deepEqual([...abandonedFolders(data)], [])
  const closed = once(child, 'close')
  child.kill('SIGKILL')
  await closed

  const [left, ...others] = [...abandonedFolders(data)]
  assert.ok(left)
  assert.deepEqual(others, [])
  assert.equal(left.nodeId, NODE)
  assert.equal(left.spool.waiting, 2)
  assert.deepEqual(
    left.openCalls.calls.map(({ tokens }) => tokens),
    [3],
  )
  assert.deepEqual([...abandonedFolders(data)], [], 'held by the one who found it')
  left.release()
  const [again] = [...abandonedFolders(data)]
  assert.equal(again?.spool.waiting, 2)
  again?.discard()
  assert.deepEqual([...abandonedFolders(data)], [])
  assert.deepEqual(readdirSync(join(data, 'nodes')), [])
})

test('the folder of a living node is its own', () => {
  const data = testFolder()
  const folder = makeNodeFolder(data, NODE)
  assert.ok(folder)
  assert.equal(makeNodeFolder(data, NODE), undefined)
  assert.deepEqual([...abandonedFolders(data)], [])
  folder.leave(true)
  assert.deepEqual(readdirSync(join(data, 'nodes')), [])
})

test('no other user can read, and so hold, the lock of a node', () => {
  const data = testFolder()
  mkdirSync(join(data, 'nodes'))
  writeFileSync(join(data, 'nodes', `${NODE}.lock`), '', { mode: 0o644 })
  const folder = makeNodeFolder(data, NODE)
  for (const name of readdirSync(join(data, 'nodes')))
    assert.equal(statSync(join(data, 'nodes', name)).mode & 0o077, 0, name)
  folder?.leave(true)
})

test('folders of others, with locks of their own, are neither read nor removed', () => {
  const data = testFolder()
  mkdirSync(join(data, 'nodes', 'yarn'), { recursive: true })
  writeFileSync(join(data, 'nodes', 'yarn.lock'), '')
  utimesSync(join(data, 'nodes', 'yarn.lock'), 0, 0)
  writeFileSync(join(data, 'nodes', 'empty.lock'), '')
  utimesSync(join(data, 'nodes', 'empty.lock'), 0, 0)
  assert.deepEqual([...abandonedFolders(data)], [])
  assert.deepEqual(readdirSync(join(data, 'nodes')), ['empty.lock', 'yarn', 'yarn.lock'])
})

test('a node that leaves something behind leaves its folder too', async () => {
  const data = testFolder()
  const folder = makeNodeFolder(data, NODE)
  await folder?.spool.append([numbered(1)])
  await folder?.spool.close()
  folder?.leave(false)
  const [left] = [...abandonedFolders(data)]
  assert.equal(left?.spool.waiting, 1)
  left?.release()
})

test('a damaged segment outlives the folder of the node', () => {
  const data = testFolder()
  const folder = makeNodeFolder(data, NODE)
  writeFileSync(join(data, 'nodes', NODE, 'damaged-1'), 'bytes')
  folder?.leave(true)
  assert.ok(!existsSync(join(data, 'nodes', NODE)))
  assert.equal(readFileSync(join(data, 'damaged', `${NODE}-damaged-1`), 'utf8'), 'bytes')
})

test('where no node ever was, nothing is found', () => {
  assert.deepEqual([...abandonedFolders(testFolder())], [])
})

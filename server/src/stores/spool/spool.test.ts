import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { LedgerEntry } from '#core/money/ledger.ts'
import { numbered } from '#test/support/entries.ts'
import { fillDisk, smallDisk, testFolder } from '#test/support/disk.ts'
import { ONLY_LINUX } from '#test/support/system.ts'
import { FileSpool } from './spool.ts'

function entries(from: number, count: number): LedgerEntry[] {
  return Array.from({ length: count }, (_, index) => numbered(from + index))
}

async function drained(spool: FileSpool): Promise<LedgerEntry[]> {
  const taken: LedgerEntry[] = []
  await spool.drain(async (page) => void taken.push(...page))
  return taken
}

function segments(folder: string): string[] {
  return readdirSync(folder).filter((file) => file.startsWith('spool-'))
}

/** A folder whose only segment holds three groups, and where each of them ends. */
async function threeGroups(): Promise<{ folder: string; path: string; ends: readonly number[] }> {
  const folder = testFolder()
  const spool = new FileSpool(folder)
  const ends: number[] = []
  for (const group of [entries(1, 2), entries(3, 1), entries(4, 3)]) {
    await spool.append(group)
    ends.push(statSync(join(folder, 'spool-1')).size)
  }
  await spool.close()
  return { folder, path: join(folder, 'spool-1'), ends }
}

test('what waits is handed over once and in order, also by the next process', async () => {
  const folder = testFolder()
  const first = new FileSpool(folder)
  await Promise.all([first.append(entries(1, 3)), first.append([]), first.append(entries(4, 2))])
  assert.equal(first.waiting, 5)
  await first.close()
  const second = new FileSpool(folder)
  assert.equal(second.waiting, 5)
  await second.append(entries(6, 1))
  assert.deepEqual(await drained(second), entries(1, 6))
  assert.equal(second.waiting, 0)
  assert.deepEqual(await drained(second), [])
  assert.deepEqual(segments(folder), [])
  await second.append(entries(7, 1))
  assert.deepEqual(await drained(second), entries(7, 1))
})

test('a file that was cut at any byte gives all groups that were whole, and no part of another', async () => {
  const { folder, path, ends } = await threeGroups()
  const bytes = readFileSync(path)
  for (let length = 0; length <= bytes.length; length += 1) {
    writeFileSync(path, bytes.subarray(0, length))
    const spool = new FileSpool(folder)
    const whole = entries(1, [0, 2, 3, 6][ends.filter((end) => end <= length).length] as number)
    assert.equal(spool.waiting, whole.length)
    assert.deepEqual(await drained(spool), whole)
    assert.deepEqual(segments(folder), [])
  }
})

test('zeros that a power cut left behind a group hide nothing before them', async () => {
  const { folder, path, ends } = await threeGroups()
  const bytes = readFileSync(path)
  for (const [index, end] of ends.entries())
    for (const zeros of [1, 7, 8, 9, 4096]) {
      writeFileSync(path, Buffer.concat([bytes.subarray(0, end), Buffer.alloc(zeros)]))
      assert.deepEqual(await drained(new FileSpool(folder)), entries(1, [2, 3, 6][index] as number))
    }
})

test('a group with any damaged byte is never handed over, the others are, and the file is kept', async () => {
  const { path, ends } = await threeGroups()
  const bytes = readFileSync(path)
  const copy = testFolder()
  const [start, end] = ends as readonly [number, number]
  for (let at = start; at < end; at += 1) {
    const damaged = Buffer.from(bytes)
    damaged.writeUInt8((damaged[at] as number) ^ 0x11, at)
    writeFileSync(join(copy, 'spool-1'), damaged)
    const taken = await drained(new FileSpool(copy))
    assert.deepEqual(taken.slice(0, 2), entries(1, 2))
    assert.ok(!taken.some(({ tokens }) => tokens === 3))
    // Past its four bytes of length the next frame is found again.
    if (at >= start + 4) assert.deepEqual(taken.slice(2), entries(4, 3))
    assert.deepEqual(readFileSync(join(copy, 'damaged-1')), damaged)
    assert.deepEqual(segments(copy), [])
  }
})

test('many files are drained in the order they were written', async () => {
  const folder = testFolder()
  const spool = new FileSpool(folder, 2000)
  for (let number = 1; number <= 300; number += 1) await spool.append([numbered(number)])
  assert.ok(segments(folder).length > 20)
  await spool.close()
  const next = new FileSpool(folder, 2000)
  assert.equal(next.waiting, 300)
  assert.deepEqual(await drained(next), entries(1, 300))
  assert.deepEqual(segments(folder), [])
})

test('entries are handed over in pages; what a failure leaves is handed over again', async () => {
  const spool = new FileSpool(testFolder(), 100_000)
  for (let number = 1; number <= 2501; number += 500)
    await spool.append(entries(number, Math.min(500, 2501 - number)))
  const away = new Error('away')
  const seen = new Set<number>()
  let pages = 0
  const failing = spool.drain(async (page) => {
    assert.ok(page.length <= 1000)
    pages += 1
    if (pages === 3) throw away
    for (const { tokens } of page) seen.add(tokens ?? 0)
  })
  await assert.rejects(failing, away)
  assert.ok(spool.waiting > 0 && spool.waiting <= 2500)
  for (const { tokens } of await drained(spool)) seen.add(tokens ?? 0)
  assert.equal(seen.size, 2500)
  assert.equal(spool.waiting, 0)
})

test('what comes in while the spool is drained is lost neither now nor later, and comes once', async () => {
  const spool = new FileSpool(testFolder(), 3000)
  const taken: number[] = []
  const writing = { isOver: false }
  const draining = (async () => {
    while (!writing.isOver) {
      await spool.drain(async (page) => {
        await new Promise((resolve) => setImmediate(resolve))
        for (const { tokens } of page) taken.push(tokens ?? 0)
      })
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  for (let number = 1; number <= 400; number += 4)
    await Promise.all([0, 1, 2, 3].map((more) => spool.append([numbered(number + more)])))
  writing.isOver = true
  await draining
  for (const { tokens } of await drained(spool)) taken.push(tokens ?? 0)
  assert.deepEqual(
    taken,
    entries(1, 400).map(({ tokens }) => tokens),
  )
})

test('files of others in the folder are left alone', async () => {
  const folder = testFolder()
  for (const file of ['spool-x', 'spool', 'journal-0']) appendFileSync(join(folder, file), 'not ours')
  const spool = new FileSpool(folder)
  await spool.append(entries(1, 1))
  assert.deepEqual(await drained(spool), entries(1, 1))
  assert.deepEqual(readdirSync(folder).toSorted(), ['journal-0', 'spool', 'spool-x'])
})

test('on a full disk what was acknowledged is safe, the rest is refused, and all is well once there is room', async (t) => {
  const disk = smallDisk(512)
  if (disk === undefined) return t.skip('needs the right to mount')
  const folder = join(disk, 'node')
  const spool = new FileSpool(folder)
  const free = fillDisk(disk, 40_000)
  const acknowledged: LedgerEntry[] = []
  let refusals = 0
  for (let number = 1; refusals < 30; number += 3) {
    const group = entries(number, 3)
    try {
      await spool.append(group)
      acknowledged.push(...group)
    } catch {
      refusals += 1
    }
  }
  assert.ok(acknowledged.length > 10)
  assert.equal(spool.waiting, acknowledged.length)
  assert.ok(readdirSync(folder).length < 5, 'refusals leave no heap of files')
  free()
  const later = entries(5000, 3)
  await spool.append(later)
  await spool.close()
  assert.deepEqual(await drained(new FileSpool(folder)), [...acknowledged, ...later])
})

test('a write that the system takes only in part is not acknowledged', async () => {
  const folder = testFolder()
  const script = `
    import { FileSpool } from '#stores/spool/spool.ts'
    import { numbered } from '#test/support/entries.ts'
    const spool = new FileSpool(process.argv[1])
    for (let number = 1; number <= 600; number += 1)
      await spool.append([numbered(number)]).then(() => console.log(number), () => console.log('refused'))`
  const node = [process.execPath, '--input-type=module', '-e', script, folder]
  // No file may be larger than 32 KB: the write that comes there is cut short first, and only then fails.
  const { stdout } = await promisify(execFile)('bash', ['-c', 'ulimit -f 32; exec "$@"', 'bash', ...node], {
    cwd: join(import.meta.dirname, '../../..'),
  })
  const lines = stdout.trimEnd().split('\n')
  const acknowledged = lines.filter((line) => line !== 'refused').map(Number)
  assert.ok(acknowledged.length < 600, 'the limit was never met')
  const taken = await drained(new FileSpool(folder))
  assert.deepEqual(
    taken.map(({ tokens }) => tokens),
    acknowledged,
  )
})

test(
  'a spool of gigabytes is not read when it is opened: the event loop would stand still',
  ONLY_LINUX,
  async () => {
    const folder = testFolder()
    writeFileSync(join(folder, 'spool-1'), Buffer.alloc(8 * 1024 * 1024))
    const bytesRead = (): number => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
    const before = bytesRead()
    const spool = new FileSpool(folder)
    assert.ok(bytesRead() - before < 1024 * 1024)
    await spool.close()
  },
)

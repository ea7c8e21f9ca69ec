import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { numbered } from '#test/support/entries.ts'
import { fillDisk, smallDisk, testFolder } from '#test/support/disk.ts'
import { FileJournal, readOpenCalls } from './journal.ts'

function openNumbers(folder: string): (number | undefined)[] {
  return readOpenCalls(folder)
    .calls.map(({ tokens }) => tokens)
    .toSorted((a = 0, b = 0) => a - b)
}

function close(journal: FileJournal, number: number): void {
  const { requestId, attempt } = numbered(number)
  journal.close(requestId, attempt)
}

function files(folder: string): string[] {
  return readdirSync(folder).filter((file) => file.startsWith('journal-'))
}

test('calls that were opened and not closed are found again, as they were', async () => {
  const folder = testFolder()
  const journal = new FileJournal(folder)
  await Promise.all([1, 2, 3, 4].map((number) => journal.open(numbered(number))))
  close(journal, 2)
  close(journal, 3)
  close(journal, 99)
  assert.equal(journal.size, 2)
  journal.end()
  assert.deepEqual(readOpenCalls(folder), { calls: [numbered(1), numbered(4)], damagedLines: 0 })
})

test('a call is on disk when its opening resolves', async () => {
  const folder = testFolder()
  const journal = new FileJournal(folder)
  for (let number = 1; number <= 20; number += 1) {
    await journal.open(numbered(number))
    assert.equal(openNumbers(folder).length, number)
  }
  journal.end()
})

test('attempts of one request are calls of their own', async () => {
  const folder = testFolder()
  const journal = new FileJournal(folder)
  await Promise.all([0, 1].map((attempt) => journal.open(numbered(1, { attempt }))))
  journal.close(numbered(1).requestId, 0)
  journal.end()
  assert.deepEqual(readOpenCalls(folder).calls, [numbered(1, { attempt: 1 })])
})

test('whatever is opened and closed over however many files, what is open is what is read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(fc.nat(40), { maxLength: 12 }), { maxLength: 25 }), async (rounds) => {
      const folder = testFolder()
      const journal = new FileJournal(folder, 1500)
      const open = new Set<number>()
      for (const numbers of rounds) {
        const opening: Promise<void>[] = []
        for (const number of numbers) {
          if (open.delete(number)) close(journal, number)
          else {
            open.add(number)
            opening.push(journal.open(numbered(number)))
          }
        }
        await Promise.all(opening)
        await yieldLoop()
        assert.deepEqual(
          openNumbers(folder),
          [...open].toSorted((a, b) => a - b),
        )
        assert.equal(journal.size, open.size)
        assert.equal(files(folder).length, 1)
      }
      journal.end()
    }),
    runs(100),
  )
})

test('a file that was cut anywhere in its last line gives all calls before it', async () => {
  const folder = testFolder()
  const journal = new FileJournal(folder)
  await journal.open(numbered(1))
  await journal.open(numbered(2))
  const path = join(folder, 'journal-0')
  const before = readFileSync(path).length
  await journal.open(numbered(3))
  journal.end()
  const whole = readFileSync(path)
  for (let length = before; length < whole.length; length += 1) {
    writeFileSync(path, whole.subarray(0, length))
    assert.deepEqual(openNumbers(folder), [1, 2])
  }
})

test('a line that can’t be read is counted and hides no other', async () => {
  const folder = testFolder()
  const journal = new FileJournal(folder)
  await journal.open(numbered(1))
  appendFileSync(join(folder, 'journal-0'), '+["01930000-0000\n')
  await journal.open(numbered(2))
  journal.end()
  assert.deepEqual(openNumbers(folder), [1, 2])
  assert.equal(readOpenCalls(folder).damagedLines, 1)
})

test('two files, as a kill between them leaves, are read as one', async () => {
  const folder = testFolder()
  const journal = new FileJournal(folder)
  await Promise.all([1, 2, 3].map((number) => journal.open(numbered(number))))
  close(journal, 1)
  journal.end()
  const old = readFileSync(join(folder, 'journal-0'), 'utf8')
  // Open calls are repeated in the new file before the old one is deleted.
  const [, second = ''] = old.split('\n')
  writeFileSync(join(folder, 'journal-1'), `${second}\n`)
  assert.deepEqual(openNumbers(folder), [2, 3])
})

test('a journal that has ended notes nothing more, and says so', async () => {
  const journal = new FileJournal(testFolder())
  await journal.open(numbered(1))
  journal.end()
  close(journal, 1)
  await assert.rejects(journal.open(numbered(2)))
})

test('on a full disk no call is noted that is not there, and its end is written once there is room', async (t) => {
  const disk = smallDisk(256)
  if (disk === undefined) return t.skip('needs the right to mount')
  const journal = new FileJournal(disk, 30_000)
  const free = fillDisk(disk, 20_000)
  const open = new Set<number>()
  let refusals = 0
  for (let number = 1; refusals < 20; number += 1) {
    // A call ends in the same turn in which another begins.
    const [oldest] = open
    if (oldest !== undefined && number > 40) {
      close(journal, oldest)
      open.delete(oldest)
    }
    try {
      await journal.open(numbered(number))
      open.add(number)
    } catch {
      refusals += 1
      close(journal, number)
    }
  }
  free()
  await journal.open(numbered(900))
  await yieldLoop()
  const expected = [...open, 900].toSorted((a, b) => a - b)
  assert.deepEqual(openNumbers(disk), expected)
  // Room for a new file as well.
  for (let number = 1000; number < 1200; number += 1) {
    await journal.open(numbered(number))
    close(journal, number)
  }
  await yieldLoop()
  assert.deepEqual(openNumbers(disk), expected)
  assert.equal(files(disk).length, 1)
  journal.end()
})

test('a kill -9 at any moment loses no call whose opening had resolved', async (t) => {
  const script = `
    import { writeSync } from 'node:fs'
    import { FileJournal } from '#stores/spool/journal.ts'
    import { numbered } from '#test/support/entries.ts'
    const journal = new FileJournal(process.argv[1], 20_000)
    for (let number = 1; ; number += 4) {
      const numbers = [number, number + 1, number + 2, number + 3]
      await Promise.all(numbers.map((each) => journal.open(numbered(each))))
      writeSync(1, numbers.map((each) => '+' + each + '\\n').join(''))
      for (const each of numbers.slice(1)) {
        writeSync(1, '-' + each + '\\n')
        journal.close(numbered(each).requestId, 0)
      }
    }`
  for (const lifeMs of [30, 60, 120]) {
    const folder = testFolder()
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder], {
      cwd: join(import.meta.dirname, '../../..'),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    t.after(() => child.kill('SIGKILL'))
    const closed = once(child, 'close')
    await once(child.stdout, 'data')
    setTimeout(() => child.kill('SIGKILL'), lifeMs)
    await closed
    const found = new Set(openNumbers(folder))
    const lines = output.split('\n').slice(0, -1)
    const ended = new Set(lines.filter((line) => line.startsWith('-')).map((line) => Number(line.slice(1))))
    const acknowledged = lines.filter((line) => line.startsWith('+')).map((line) => Number(line.slice(1)))
    assert.ok(acknowledged.length > 50)
    const lost = acknowledged.filter((number) => !ended.has(number) && !found.has(number))
    assert.deepEqual(lost, [])
  }
})

test('a probe leaves nothing to be read, and fails where the disk takes nothing', async () => {
  const folder = testFolder()
  const journal = new FileJournal(folder)
  await journal.open(numbered(1))
  await journal.probe()
  await journal.open(numbered(2))
  journal.end()
  assert.deepEqual(readOpenCalls(folder), { calls: [numbered(1), numbered(2)], damagedLines: 0 })
  const full = testFolder()
  symlinkSync('/dev/full', join(full, 'journal-0'))
  const unwritten = new FileJournal(full)
  await assert.rejects(unwritten.probe(), { code: 'ENOSPC' })
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { temporaryFolder } from '#test/support/process.ts'
import type { TriedWorks } from '#test/support/tried-thread.ts'
import { inTime, Thread } from './thread.ts'

const MODULE = new URL('../../test/support/tried-thread.ts', import.meta.url)
const LIMITS = { memoryMb: 64, maxTaskMs: 300_000 }
const thread = new Thread<TriedWorks>(MODULE, LIMITS)
after(() => thread.close())

test('each question gets its own answer, whatever overtakes it', async () => {
  const asked = [60, 5, 30].map((ms) => thread.ask('later', { ms, word: `after ${ms}` }))
  assert.deepEqual(await Promise.all(asked), ['after 60', 'after 5', 'after 30'])
})

test('an error fails its question alone, and tells where it was thrown', async () => {
  const other = thread.ask('later', { ms: 20, word: 'well' })
  await assert.rejects(thread.ask('fail', 'no such thing'), (error: Error) => {
    assert.equal(error.message, 'no such thing')
    assert.match(error.stack ?? '', /tried-thread\.ts/)
    return true
  })
  assert.equal(await other, 'well')
})

test('an answer that can not cross, or an error without words, fails its question alone', async () => {
  const before = await thread.ask('identify', undefined)
  const other = thread.ask('later', { ms: 20, word: 'well' })
  await assert.rejects(thread.ask('tangled', undefined), /call stack/)
  await assert.rejects(thread.ask('wordless', undefined), /without words/)
  assert.equal(await other, 'well')
  assert.equal(await thread.ask('identify', undefined), before)
})

for (const [work, limits, failure] of [
  ['spin', { memoryMb: 32, maxTaskMs: 4000 }, { message: 'the work spin took longer than 4000 ms' }],
  ['hoard', { memoryMb: 32, maxTaskMs: 300_000 }, { code: 'ERR_WORKER_OUT_OF_MEMORY' }],
] as const)
  test(`a question that takes too long or too much memory ends its thread, and the next one starts another: ${work}`, async () => {
    const own = new Thread<TriedWorks>(MODULE, limits)
    const before = await own.ask('identify', undefined)
    await assert.rejects(own.ask(work, undefined), failure)
    assert.notEqual(await own.ask('identify', undefined), before)
    await own.close()
  })

for (const [way, words] of [
  ['crash', /the work broke the thread/],
  ['end', /tried-thread\.ts ended with 3$/],
] as const) {
  test(`a thread that comes to its ${way} fails what was under way, and the next question starts another`, async () => {
    const before = await thread.ask('identify', undefined)
    const underWay = thread.ask('later', { ms: 60_000, word: 'never' })
    const last = thread.ask(way, undefined)
    await assert.rejects(underWay, words)
    await assert.rejects(last, words)
    assert.notEqual(await thread.ask('identify', undefined), before)
  })
}

test('what the thread tells is heard in order, and it goes on when it was heard', async () => {
  const heard: string[] = []
  const hear = async (number: number): Promise<void> => {
    heard.push(`${number}`)
    await wait(5)
    heard.push(`heard ${number}`)
  }
  assert.equal(await thread.ask('count', { to: 3 }, { hear }), 'done')
  assert.deepEqual(heard, ['1', 'heard 1', '2', 'heard 2', '3', 'heard 3'])
})

test('what could not be heard fails the question, and the thread hears nothing more of it', async () => {
  const heard: number[] = []
  const hear = (number: number): void => {
    heard.push(number)
    throw new Error('the disk is full')
  }
  await assert.rejects(thread.ask('count', { to: 3 }, { hear }), /the disk is full/)
  await thread.ask('later', { ms: 20, word: 'later' })
  assert.deepEqual(heard, [1])
})

test('a thread that nobody asks for a while ends, one that is asked stays, and the next question starts another', async () => {
  const own = new Thread<TriedWorks>(MODULE, { ...LIMITS, idleMs: () => 300 })
  const first = await own.ask('identify', undefined)
  // Longer than the idle time, but busy all the time.
  await own.ask('later', { ms: 600, word: 'done' })
  assert.equal(await own.ask('identify', undefined), first)
  await wait(400)
  assert.notEqual(await own.ask('identify', undefined), first)
  await own.close()
})

test('buffers are handed over both ways', async () => {
  const numbers = Float64Array.of(1, 2, 3)
  const asked = thread.ask('doubled', numbers, { transfer: [numbers.buffer] })
  assert.equal(numbers.length, 0)
  assert.deepEqual([...(await asked)], [2, 4, 6])
})

test('a request that can not cross fails, and the next one is answered', async () => {
  const word = (() => 'a function') as unknown as string
  await assert.rejects(thread.ask('later', { ms: 1, word }), { name: 'DataCloneError' })
  assert.equal(await thread.ask('later', { ms: 1, word: 'a text' }), 'a text')
})

test('a closed thread fails what was under way', async () => {
  const own = new Thread<TriedWorks>(MODULE, LIMITS)
  await own.close()
  const asked = assert.rejects(own.ask('later', { ms: 60_000, word: 'never' }), /ended with \d/)
  await own.close()
  await asked
})

test('whoever can not wait is told so in time, and what is in time comes as it is', async () => {
  const late = (): Error => new Error('too late')
  await assert.rejects(inTime(thread.ask('later', { ms: 500, word: 'slow' }), 20, late), /too late/)
  assert.equal(await inTime(thread.ask('later', { ms: 1, word: 'quick' }), 10_000, late), 'quick')
  await assert.rejects(inTime(thread.ask('fail', 'broken'), 10_000, late), /broken/)
})

test('the process lives as long as somebody waits for the thread, and no longer', () => {
  const program = `
    import { Thread } from '${new URL('./thread.ts', import.meta.url).href}'
    const thread = new Thread(new URL('${MODULE.href}'), { memoryMb: 64, maxTaskMs: 300_000 })
    console.log(await thread.ask('later', { ms: 50, word: 'done' }))`
  const file = join(temporaryFolder(), 'program.mjs')
  writeFileSync(file, program)
  const { stdout, status } = spawnSync(process.execPath, [file], { encoding: 'utf8', timeout: 30_000 })
  assert.deepEqual([stdout, status], ['done\n', 0])
})

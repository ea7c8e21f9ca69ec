import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { PATIENCE_MS } from '#test/support/patience.ts'
import { temporaryFolder } from '#test/support/process.ts'
import { ONLY_LINUX } from '#test/support/system.ts'
import type { TriedWorks } from '#test/support/tried-thread.ts'
import { SideEnded } from './asked.ts'
import { Process } from './process.ts'

const MODULE = new URL('../../test/support/tried-thread.ts', import.meta.url)
const LIMITS = { heapMb: 64, memoryMb: 300, maxTaskMs: 60_000 }
/** Five times what a process takes to start and answer on a busy machine: the first question must not time out. */
const SPIN_MS = Math.ceil(PATIENCE_MS / 18)
const apart = new Process<TriedWorks>(MODULE, LIMITS, ['one', 'two words'])
after(() => apart.close())

test('a process answers each question, and an error fails its question alone', async () => {
  const [slow, quick] = [60, 5].map((ms) => apart.ask('later', { ms, word: `after ${ms}` }))
  await assert.rejects(apart.ask('fail', 'no such thing'), { message: 'no such thing' })
  await assert.rejects(apart.ask('tangled', undefined), /call stack/)
  assert.deepEqual(await Promise.all([slow, quick]), ['after 60', 'after 5'])
  assert.deepEqual([...(await apart.ask('doubled', Float64Array.of(1, 2)))], [2, 4])
})

test('a process gets its words and none of the environment, which has secrets', async () => {
  process.env['TORANA_SECRET'] = 'a secret of the node'
  const own = new Process<TriedWorks>(MODULE, LIMITS, ['one', 'two words'])
  const { environment, words, parent } = await own.ask('about', undefined)
  await own.close()
  delete process.env['TORANA_SECRET']
  assert.deepEqual([words, parent], [['one', 'two words'], process.pid])
  const allowed = new Set(['LD_LIBRARY_PATH', 'SystemRoot', 'MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_'])
  assert.deepEqual(
    Object.keys(environment).filter((name) => !allowed.has(name)),
    [],
  )
})

test(
  'a process lets callers go first, with all its threads, and is the first that the kernel ends',
  ONLY_LINUX,
  async () => {
    const { pid } = await apart.ask('about', undefined)
    const expected = Math.max(getPriority(0), constants.priority.PRIORITY_BELOW_NORMAL)
    for (const thread of readdirSync(`/proc/${pid}/task`)) assert.equal(getPriority(Number(thread)), expected)
    assert.equal(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim(), '1000')
  },
)

for (const [what, ask, words] of [
  ['many values', (own) => own.ask('hoard', undefined), /ended with SIG(ABRT|TRAP).*heap/],
  ['one large text', (own) => own.ask('oneLargeText', 15_000_000), /ended with SIG(ABRT|TRAP)/],
  ['an endless loop', (own) => own.ask('spin', undefined), new RegExp(`spin took longer than ${SPIN_MS} ms`)],
  ['its own end', (own) => own.ask('end', undefined), /tried-thread\.ts ended with 3$/],
  ['a crash', (own) => own.ask('crash', undefined), /ended with 1: Error: the work broke the thread/],
] as const satisfies readonly (readonly [string, (own: Process<TriedWorks>) => Promise<unknown>, RegExp])[])
  test(`a question that takes too much ends its process alone, and the next one starts another: ${what}`, async () => {
    const own = new Process<TriedWorks>(MODULE, {
      ...LIMITS,
      memoryMb: 1000,
      maxTaskMs: what === 'an endless loop' ? SPIN_MS : 60_000,
    })
    const before = await own.ask('identify', undefined)
    await assert.rejects(ask(own), (error: Error) => {
      assert.ok(error instanceof SideEnded, String(error))
      assert.match(error.message, words)
      return true
    })
    assert.notEqual(await own.ask('identify', undefined), before)
    await own.close()
  })

test('buffers, which V8 does not count, end the process beyond its memory', ONLY_LINUX, async () => {
  const own = new Process<TriedWorks>(MODULE, LIMITS)
  assert.equal(await own.ask('buffers', { megabytes: 50 }), 50)
  await assert.rejects(own.ask('buffers', { megabytes: 400 }), /took \d+ MB; at most 300 are allowed/)
  assert.equal(await own.ask('buffers', { megabytes: 50 }), 50)
  await own.close()
})

test('signals for the whole group do not end the process: the node decides when its work is done', async () => {
  const { pid } = await apart.ask('about', undefined)
  const asked = apart.ask('later', { ms: 300, word: 'done' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal)
  assert.equal(await asked, 'done')
})

test('a process without a question ends after a while, and the next question starts another', async () => {
  const own = new Process<TriedWorks>(MODULE, { ...LIMITS, idleMs: () => 300 })
  const { pid } = await own.ask('about', undefined)
  await own.ask('later', { ms: 600, word: 'done' })
  assert.equal((await own.ask('about', undefined)).pid, pid)
  await gone(pid)
  assert.ok(own.isAsleep)
  assert.notEqual((await own.ask('about', undefined)).pid, pid)
  await own.close()
})

test('a closed process fails what was under way', async () => {
  const own = new Process<TriedWorks>(MODULE, LIMITS)
  await own.close()
  const asked = assert.rejects(own.ask('later', { ms: 60_000, word: 'never' }), /ended with SIGKILL/)
  await own.close()
  await asked
})

test('the asker lives as long as it waits for the process, and takes it along when it is killed', async () => {
  const program = (rest: string): string => {
    const file = join(temporaryFolder(), 'program.mjs')
    const source = `
      import { Process } from '${new URL('./process.ts', import.meta.url).href}'
      const own = new Process(new URL('${MODULE.href}'), { heapMb: 64, memoryMb: 300, maxTaskMs: 60_000 })
      console.log((await own.ask('about', undefined)).pid)
      ${rest}`
    writeFileSync(file, source)
    return file
  }
  for (const [rest, kill] of [
    ['', false],
    ["await own.ask('later', { ms: 60_000, word: 'never' })", true],
  ] as const) {
    const asker = spawn(process.execPath, [program(rest)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(asker.stdout, 'data')) as [Buffer]
    if (kill) asker.kill('SIGKILL')
    await once(asker, 'exit')
    await gone(Number(String(line)))
  }
})

async function gone(pid: number): Promise<void> {
  for (let look = 0; look < 100; look += 1) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await wait(100)
  }
  assert.fail(`process ${pid} is still there`)
}

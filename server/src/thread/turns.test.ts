import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as nextRound } from 'node:timers/promises'
import type { Asker } from '#ports/asker.ts'
import type { TriedWorks } from '#test/support/tried-thread.ts'
import { Thread } from './thread.ts'
import { Turns } from './turns.ts'

const MODULE = new URL('../../test/support/tried-thread.ts', import.meta.url)

const of = (project: string, timeoutMs = 60_000): Asker => ({ project, timeoutMs })

/** Work that the test ends. */
class Work {
  readonly begun: string[] = []
  readonly #ends = new Map<string, () => void>()

  named(name: string): () => Promise<string> {
    return () => {
      this.begun.push(name)
      return new Promise((resolve) => this.#ends.set(name, () => resolve(name)))
    }
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.()
    await nextRound()
  }
}

test('a project with much work waits for one piece of another, not the other for all of it', async () => {
  const turns = new Turns({ atOnce: 1, maxWaiting: 10 })
  const work = new Work()
  const runs = ['a1', 'a2', 'a3'].map((name) => turns.run(of('a'), work.named(name)))
  runs.push(turns.run(of('b'), work.named('b1')))
  await nextRound()
  for (const name of ['a1', 'a2', 'b1', 'a3']) await work.end(name)
  assert.deepEqual(work.begun, ['a1', 'a2', 'b1', 'a3'])
  assert.deepEqual(await Promise.all(runs), ['a1', 'a2', 'a3', 'b1'])
})

test('as many pieces of a project wait as may; the next is refused, and other projects are not', async () => {
  const turns = new Turns({ atOnce: 1, maxWaiting: 2 })
  const work = new Work()
  const runs = ['a1', 'a2', 'a3'].map((name) => turns.run(of('a'), work.named(name)))
  await assert.rejects(turns.run(of('a'), work.named('a4')), { name: 'ThreadBusy', kind: 'full' })
  runs.push(turns.run(of('b'), work.named('b1')))
  await nextRound()
  for (const name of ['a1', 'a2', 'b1', 'a3']) await work.end(name)
  await Promise.all(runs)
  assert.ok(!work.begun.includes('a4'))
})

test('a caller whose time is up is answered: what waited never begins, what began keeps its place until it ends', async () => {
  const turns = new Turns({ atOnce: 1, maxWaiting: 10 })
  const work = new Work()
  const late = { name: 'ThreadBusy', kind: 'late' }
  const began = turns.run(of('a', 20), work.named('began'))
  await assert.rejects(turns.run(of('a', 10), work.named('waited')), late)
  await assert.rejects(began, late)
  const next = turns.run(of('b'), work.named('next'))
  await nextRound()
  assert.deepEqual(work.begun, ['began'])
  await work.end('began')
  await work.end('next')
  assert.equal(await next, 'next')
  assert.deepEqual(work.begun, ['began', 'next'])
})

test('pieces that are too much together do not run at once', async () => {
  const turns = new Turns({ atOnce: 10, maxWaiting: 10 })
  const work = new Work()
  const runs = [6, 5, 4].map((amount) => turns.run(of('a'), work.named(`${amount}`), amount))
  await nextRound()
  assert.deepEqual(work.begun, ['6'])
  await work.end('6')
  assert.deepEqual(work.begun, ['6', '5', '4'])
  for (const name of ['5', '4']) await work.end(name)
  await Promise.all(runs)
})

test('work that fails gives its place to the next', async () => {
  const turns = new Turns({ atOnce: 1, maxWaiting: 10 })
  const failing = turns.run(of('a'), () => Promise.reject(new Error('no')))
  const next = turns.run(of('a'), async () => 'next')
  await assert.rejects(failing, /no/)
  assert.equal(await next, 'next')
})

test('what waits when the node stops does not begin', async () => {
  const turns = new Turns({ atOnce: 1, maxWaiting: 10 })
  const work = new Work()
  const first = turns.run(of('a'), work.named('first'))
  const waiting = assert.rejects(turns.run(of('a'), work.named('waiting')), /the node stops/)
  await nextRound()
  turns.close()
  await work.end('first')
  assert.equal(await first, 'first')
  await waiting
})

test('should a thread end, only the work that was in it fails, and what waited is done by the next one', async () => {
  const thread = new Thread<TriedWorks>(MODULE, { memoryMb: 64, maxTaskMs: 4000 })
  after(() => thread.close())
  const turns = new Turns({ atOnce: 1, maxWaiting: 10 })
  const asked = (project: string, word: string): Promise<string> =>
    turns.run(of(project), () => thread.ask('later', { ms: 1, word }))
  for (const way of ['spin', 'end', 'crash'] as const) {
    const broken = assert.rejects(turns.run(of('a'), () => thread.ask(way, undefined)))
    assert.deepEqual(await Promise.all([asked('a', 'one'), asked('b', 'two'), asked('a', 'three')]), [
      'one',
      'two',
      'three',
    ])
    await broken
  }
})

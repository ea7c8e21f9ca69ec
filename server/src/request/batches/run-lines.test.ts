/** The loop that runs lines of a batch: which attempts follow one another, and how long it waits between them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Circuits } from '#core/batch/circuits.ts'
import { Fault } from '#core/fault/fault.ts'
import type { Batch, HeldChunk } from '#ports/batches.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { BudgetRefusal } from '../money/budget-refusal.ts'
import { LineLoop, Suspects, type Attempted, type LineWork } from './run-lines.ts'
import { StopSignal } from './stop-signal.ts'

const failed = new Fault('upstream_failed', 'x')
const refused = new Fault('invalid_parameter', 'x')
const badInput = new Fault('invalid_input', 'x')
const busy = new Fault('deployments_busy', 'x', { retryAfterMs: 2000 })
/** The budget has a quarter of what the request can cost. */
const poor = new BudgetRefusal('budget_exhausted', 'x', { leftNanoUsd: 25n, askedNanoUsd: 100n })
const broke = new BudgetRefusal('budget_exhausted', 'x', { leftNanoUsd: 0n, askedNanoUsd: 100n })

/** The model of the batch. */
const CIRCUIT = 'batch_1\nfalse\nm'

interface Given {
  readonly lines: string
  /** Answers to attempts, one after another; then each succeeds. */
  readonly answers: readonly Attempted[]
  /** The upstream was down, and the pause of the batch is over. */
  readonly isPaused?: boolean
  /** A call of the model succeeds between any two attempts. */
  readonly othersSucceed?: boolean
  readonly token?: number
}

/** Each letter is a line. */
async function run({ lines, answers, isPaused = false, othersSucceed = false, token = 1 }: Given) {
  let nowMs = 1_000_000
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const [attempts, fails, waitsMs, resumes]: [string[], string[], number[], string[]] = [[], [], [], []]
  const [circuits, suspects] = [new Circuits(), new Suspects()]
  if (isPaused) circuits.failed(CIRCUIT, failed, nowMs)
  const batch = {
    id: 'batch_1',
    isContinued: false,
    expiresAtMs: nowMs + 3_600_000,
    pause: isPaused ? { code: 'upstream_failed' } : undefined,
  } as unknown as Batch
  const held = { hold: { batchId: 'batch_1', chunk: 1, token }, batch, isLate: false } as HeldChunk
  const loop = new LineLoop(
    held,
    { stop: new StopSignal(), circuits, suspects, place: () => undefined, answered: () => {} },
    {
      batches: {
        resume: async (id) => {
          resumes.push(id)
          if (resumes.length === 1) throw new StoreUnreachable('away')
        },
      },
      clock,
      identifiers: { next: () => `request ${attempts.length}` },
      wait: async (ms) => {
        waitsMs.push(ms)
        nowMs += ms
      },
      dispatch: { hasSucceededSince: () => othersSucceed },
    },
  )
  const work: LineWork<string> = {
    model: 'm',
    nameOf: (line) => line,
    attempt: async (some) => {
      nowMs += 1
      attempts.push(some.join(''))
      return answers[attempts.length - 1] ?? 'succeeded'
    },
    fail: (some) => void fails.push(some.join('')),
    split: (some) => [some.slice(0, some.length >> 1), some.slice(some.length >> 1)],
  }
  const trouble = await loop.run(Array.from(lines), work)
  return { attempts, fails, waitsMs, resumes, suspects, circuits, pauseMs: trouble?.pauseMs }
}

const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value)

interface Row extends Given {
  readonly attempts: readonly string[]
  readonly fails?: readonly string[]
  readonly waitsMs?: readonly number[]
  /** Absent: the batch goes on. */
  readonly pauseMs?: number
}

const ROWS: Readonly<Record<string, Row>> = {
  'lines that succeed run once': { lines: 'abcd', answers: [], attempts: ['abcd'] },
  'lines that would all be refused fail together': {
    lines: 'abcd',
    answers: [refused],
    attempts: ['abcd'],
    fails: ['abcd'],
  },
  'one bad input is found by halves, and fails alone': {
    lines: 'abcd',
    answers: [badInput, badInput, 'succeeded', badInput, 'succeeded'],
    attempts: ['abcd', 'ab', 'cd', 'a', 'b'],
    fails: ['a'],
  },
  'a call that fails is made again after one second, and after three': {
    lines: 'ab',
    answers: [failed, failed],
    attempts: ['ab', 'ab', 'ab'],
    waitsMs: [1000, 3000],
  },
  'three failures in a row pause the batch': {
    lines: 'ab',
    answers: [failed, failed, failed],
    attempts: ['ab', 'ab', 'ab'],
    waitsMs: [1000, 3000],
    pauseMs: 15_000,
  },
  'lines that fail while others succeed are split, and the one at fault fails': {
    lines: 'ab',
    answers: [failed, 'succeeded', failed, failed, failed],
    othersSucceed: true,
    attempts: ['ab', 'a', 'b', 'b', 'b'],
    fails: ['b'],
    waitsMs: [1000, 1000],
  },
  'lines without room wait as the fault says, thirty times, and then the batch pauses': {
    lines: 'ab',
    answers: times(31, busy),
    attempts: times(31, 'ab'),
    waitsMs: times(30, 2000),
    pauseMs: 15_000,
  },
  'a budget that is enough for some lines runs these, and pauses with the others': {
    lines: 'abcd',
    answers: [poor, 'succeeded', broke],
    attempts: ['abcd', 'a', 'bcd'],
    pauseMs: 60_000,
  },
  'a budget that is used up pauses the batch': {
    lines: 'abcd',
    answers: [broke],
    attempts: ['abcd'],
    pauseMs: 60_000,
  },
  'after a pause one line is tried, and the others follow': {
    lines: 'abcd',
    answers: [],
    isPaused: true,
    attempts: ['b', 'acd'],
  },
  'after each pause another line is tried': {
    lines: 'abcd',
    answers: [],
    isPaused: true,
    token: 7,
    attempts: ['d', 'abc'],
  },
  'a single line is tried once after a pause': {
    lines: 'a',
    answers: [],
    isPaused: true,
    attempts: ['a'],
  },
  'a line that fails again after a pause makes the next pause longer': {
    lines: 'abcd',
    answers: [failed],
    isPaused: true,
    attempts: ['b'],
    pauseMs: 30_000,
  },
  'a line that is refused after a pause fails, and tells nothing of the pause': {
    lines: 'a',
    answers: [refused],
    isPaused: true,
    attempts: ['a'],
    fails: ['a'],
  },
}

for (const [name, row] of Object.entries(ROWS))
  test(name, async () => {
    const { attempts, fails, waitsMs, pauseMs } = await run(row)
    assert.deepEqual(
      { attempts, fails, waitsMs, pauseMs },
      { attempts: row.attempts, fails: row.fails ?? [], waitsMs: row.waitsMs ?? [], pauseMs: row.pauseMs },
    )
  })

test('a line that is refused after a pause leaves the one attempt to another line', async () => {
  const { attempts, fails, circuits } = await run({ lines: 'abcd', answers: [refused], isPaused: true })
  assert.deepEqual([attempts, fails], [['b'], ['b']])
  assert.equal(circuits.enter(CIRCUIT, 2_000_000), 'probe')
})

test('only a line that fails by itself is a suspect', async () => {
  const together = await run({ lines: 'ab', answers: [failed, failed, failed] })
  assert.deepEqual([together.suspects.get('a'), together.suspects.get('b')], [undefined, undefined])
  const alone = await run({ lines: 'a', answers: [failed, failed, failed] })
  assert.equal(alone.suspects.get('a')?.beside, 0)
})

test('the end of a pause is recorded again with the next success if the store is unreachable, and then no more', async () => {
  const { resumes, attempts } = await run({
    lines: 'abcd',
    answers: ['succeeded', badInput],
    isPaused: true,
  })
  assert.deepEqual(
    [attempts, resumes],
    [
      ['b', 'acd', 'a', 'cd'],
      ['batch_1', 'batch_1'],
    ],
  )
})

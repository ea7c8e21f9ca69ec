import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { Log } from './log.ts'
import { Metrics } from './metrics.ts'
import { telemetryObserver } from './observer.ts'

const errors: unknown[] = []
const warnings: unknown[] = []
const lines: string[] = []
let isDebug = false
const log: Log = {
  debug: () => {},
  info: () => {},
  warn: (...args: unknown[]) => void warnings.push(args[0]),
  error: (...args: unknown[]) => void errors.push(args[0]),
  line: (json) => void lines.push(json),
  writes: (level) => level === 'info' || isDebug,
  close: () => {},
}
const metrics = new Metrics({ version: 'test', commit: '' })
const observer = telemetryObserver(log, metrics, { nowMs: () => 0, monotonicMs: () => 0 })
const ended = { requestId: 'r', route: 'embeddings', durationMs: 1 }

test('what lies behind a store that is away reaches the log: the page of the fault sends operators there', () => {
  const cause = new Error('connect ECONNREFUSED')
  observer.requestEnded({ ...ended, status: 503, fault: 'key_store_unreachable', cause })
  assert.deepEqual(errors.pop(), { ...ended, status: 503, fault: 'key_store_unreachable', err: cause })
})

test("an upstream's words never reach the log through the request, since they may repeat a caller's text", () => {
  const cause = new UpstreamFailure('refused', 'too long: canary', { deployment: 'm/u', status: 400 })
  observer.requestEnded({ ...ended, status: 400, fault: 'upstream_refused', cause })
  assert.equal(errors.length, 0)
  assert.doesNotMatch(lines.pop() ?? 'no line', /canary|no line/)
})

test('at level info only requests that failed have a line; at debug, all of them', () => {
  lines.length = 0
  observer.requestEnded({ ...ended, status: 200 })
  assert.deepEqual(lines, [])
  observer.requestEnded({ ...ended, status: 429, fault: 'rate_limit_exceeded' })
  isDebug = true
  observer.requestEnded({ ...ended, status: 200 })
  isDebug = false
  const levels = lines.map((line) => JSON.parse(line) as { level: string; status: number })
  assert.deepEqual(
    levels.map(({ level, status }) => `${level} ${status}`),
    ['info 429', 'debug 200'],
  )
})

test('a count above what was expected is a warning, one that was cut an error, and both are counted by deployment', async () => {
  const overcount = {
    requestId: 'r',
    callId: 'c',
    model: 'm',
    deployment: 'm/u',
    excessTokens: 7,
    cutTokens: 0,
  }
  observer.overcounted(overcount)
  assert.deepEqual(warnings.pop(), overcount)
  observer.overcounted({ ...overcount, cutTokens: 3 })
  assert.deepEqual(errors.pop(), { ...overcount, cutTokens: 3 })
  observer.overcounted({ ...overcount, excessTokens: 0, excessNanoUsd: 5n, cutNanoUsd: 2n })
  assert.deepEqual(errors.pop(), { ...overcount, excessTokens: 0, excessNanoUsd: '5', cutNanoUsd: '2' })
  const { text } = await metrics.text()
  const name = /^torana_upstream_overcounts_total\{model="m",deployment="m\/u",charged="(all|part)"\} (\d)$/gm
  assert.deepEqual(
    [...text.matchAll(name)].map(([, charged, count]) => [charged, count]),
    [
      ['all', '1'],
      ['part', '2'],
    ],
  )
})

test('a count that was too small to be one is in the log and counted, by deployment', async () => {
  const undercount = { requestId: 'r', callId: 'c', model: 'm', deployment: 'm/u', reportedTokens: 0 }
  observer.undercounted(undercount)
  assert.deepEqual(warnings.pop(), undercount)
  const { text } = await metrics.text()
  assert.match(text, /^torana_upstream_undercounts_total\{model="m",deployment="m\/u"\} 1$/m)
})

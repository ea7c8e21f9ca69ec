import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UpstreamFailure } from '#core/fault/failure.ts'
import type { Log } from './log.ts'
import { Metrics } from './metrics.ts'
import { telemetryObserver } from './observer.ts'

const errors: unknown[] = []
const warnings: unknown[] = []
const lines: string[] = []
const log: Log = {
  info: () => {},
  warn: (...args: unknown[]) => void warnings.push(args[0]),
  error: (...args: unknown[]) => void errors.push(args[0]),
  line: (json) => void lines.push(json),
  writesInfo: true,
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

test('a count that was cut is in the log and counted, by deployment', async () => {
  const overcount = { requestId: 'r', callId: 'c', model: 'm', deployment: 'm/u', excessTokens: 7 }
  observer.overcounted(overcount)
  assert.deepEqual(warnings.pop(), overcount)
  const { text } = await metrics.text()
  assert.match(text, /^torana_upstream_overcounts_total\{model="m",deployment="m\/u"\} 1$/m)
})

test('a count that was too small to be one is in the log and counted, by deployment', async () => {
  const undercount = { requestId: 'r', callId: 'c', model: 'm', deployment: 'm/u', toldTokens: 0 }
  observer.undercounted(undercount)
  assert.deepEqual(warnings.pop(), undercount)
  const { text } = await metrics.text()
  assert.match(text, /^torana_upstream_undercounts_total\{model="m",deployment="m\/u"\} 1$/m)
})

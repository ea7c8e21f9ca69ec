import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '#test/support/key-nodes.ts'
import { NodeReadiness } from './readiness.ts'

function aReadiness() {
  const clock = new TestClock()
  const stop = new AbortController()
  const ended = Promise.withResolvers<void>()
  const listeners = { isDraining: false, isOpen: true }
  const state = { reasons: [] as (string | undefined)[], wrongSinceMs: undefined as number | undefined }
  const waitedFor: string[] = []
  const readiness = new NodeReadiness({
    clock,
    wait: () => new Promise((resolve) => void setImmediate(resolve)),
    listeners,
    unable: () => (state.reasons.length > 1 ? state.reasons.shift() : state.reasons[0]),
    wrongSinceMs: () => state.wrongSinceMs,
    signal: stop.signal,
    ended: ended.promise,
    onWaiting: (reason) => waitedFor.push(reason),
  })
  return { readiness, clock, stop, ended, listeners, state, waitedFor }
}

test('a node names the first reason why it is not ready', () => {
  const { readiness, listeners, state } = aReadiness()
  assert.equal(readiness.notReady(), undefined)
  listeners.isOpen = false
  assert.equal(readiness.notReady(), 'starting')
  state.reasons = ['the disk is full']
  assert.equal(readiness.notReady(), 'the disk is full')
  listeners.isDraining = true
  assert.equal(readiness.notReady(), 'draining')
})

test('a start waits until the node can serve, and reports each reason once', async () => {
  const { readiness, state, waitedFor } = aReadiness()
  state.reasons = ['no keys yet', 'no keys yet', 'the disk is full', undefined]
  await readiness.serving()
  assert.deepEqual(waitedFor, ['no keys yet', 'the disk is full'])
})

test('a start that waits ends when it is aborted or its node is ended', async () => {
  const aborted = aReadiness()
  aborted.state.reasons = ['no keys yet']
  const waiting = aborted.readiness.serving()
  aborted.stop.abort(new Error('SIGTERM'))
  await assert.rejects(waiting, /SIGTERM/)
  const ended = aReadiness()
  ended.state.reasons = ['no keys yet']
  ended.ended.resolve()
  await ended.readiness.serving()
})

test('a node counts as watched for five minutes after a check', () => {
  const { readiness, clock } = aReadiness()
  assert.equal(readiness.isWatched, false)
  readiness.asked()
  clock.advance(299_999)
  assert.equal(readiness.isWatched, true)
  clock.advance(1)
  assert.equal(readiness.isWatched, false)
})

test('a ready node says since when its configuration file is wrong', () => {
  const { readiness, state } = aReadiness()
  assert.equal(readiness.remark(), undefined)
  state.wrongSinceMs = Date.UTC(2026, 0, 2)
  assert.match(readiness.remark() ?? '', /wrong since 2026-01-02T00:00:00.000Z/)
})

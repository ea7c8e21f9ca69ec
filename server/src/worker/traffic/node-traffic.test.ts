import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTrace } from '#core/request/request-trace.ts'
import { Scheduler, type DeploymentReport } from '#core/schedule/scheduler.ts'
import type { CallRecord, RequestRecord } from '#ports/observer.ts'
import { NodeTraffic } from './node-traffic.ts'

const START_MS = Date.UTC(2026, 10, 15, 12)
const CONDITION = {
  node: 'n',
  loopBusy: 0,
  spoolWaiting: 0,
  callsUnderWay: 0,
  isStoreAway: false,
  ledgerDifferences: 0,
}

function aWorld() {
  let nowMs = START_MS
  const scheduler = new Scheduler({ nodes: () => 1 })
  let reports: readonly DeploymentReport[] | undefined
  const traffic = new NodeTraffic({
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs - START_MS },
    states: (atMs) => reports ?? scheduler.states(atMs),
    reasonsOf: () => ({ guard: 'another space', drain: 'new driver' }),
  })
  return {
    traffic,
    scheduler,
    /** Moves the clock second by second, with a look at the end of each. */
    pass: (seconds: number): void => {
      for (let second = 0; second < seconds; second += 1) {
        nowMs += 1000
        traffic.look()
      }
    },
    report: (given: readonly DeploymentReport[]) => void (reports = given),
  }
}

function aCall(given: Partial<CallRecord> = {}): CallRecord {
  return {
    requestId: 'r',
    callId: 'c',
    model: 'm',
    deployment: 'm/one',
    outcome: 'ok',
    inputs: 1,
    durationMs: 100,
    ...given,
  }
}

function aRequest(given: Partial<RequestRecord> = {}): RequestRecord {
  return {
    requestId: 'r',
    route: 'embeddings',
    status: 200,
    project: 'search',
    key: 'indexer',
    keyId: 'k1',
    model: 'm',
    deployment: 'm/one',
    promptTokens: 50,
    amountNanoUsd: 1000n,
    cache: { hits: 1, misses: 3 },
    trace: new RequestTrace(0),
    durationMs: 120,
    ...given,
  }
}

function aReport(given: Partial<DeploymentReport>): DeploymentReport {
  return {
    deployment: 'm/one',
    state: 'healthy',
    inFlight: 1,
    limit: 8.7,
    learnsLimit: true,
    latencyMs: 50,
    failureShare: 0,
    closedUntilMs: undefined,
    ...given,
  }
}

test('a flow is the mean of ten seconds, and is gone ten seconds after its last request', () => {
  const { traffic, pass } = aWorld()
  for (let request = 0; request < 20; request += 1) traffic.requestEnded(aRequest())
  traffic.requestEnded(
    aRequest({ status: 502, fault: 'upstream_failed', deployment: 'm/two', amountNanoUsd: undefined }),
  )
  traffic.requestEnded(aRequest({ deployment: 'cache', promptTokens: 0 }))
  traffic.requestEnded(aRequest({ status: 400, fault: 'invalid_input', deployment: undefined }))
  pass(1)
  const { flows } = traffic.summary(CONDITION)
  assert.deepEqual(
    flows.map(({ key, deployment, requests, failed, tokens, nanoUsd }) => [
      key,
      deployment,
      requests,
      failed,
      tokens,
      nanoUsd,
    ]),
    [
      ['search/indexer', 'm/one', 2, 0, 100, '2000'],
      ['search/indexer', 'm/two', 0.1, 0.1, 5, '0'],
      ['search/indexer', null, 0.1, 0, 0, '100'],
    ],
  )
  pass(8)
  assert.equal(traffic.summary(CONDITION).flows.length, 3)
  pass(1)
  assert.deepEqual(traffic.summary(CONDITION).flows, [])
})

test('failures of 15 minutes are counted by kind; what a caller got wrong is no failure of the deployment', () => {
  const { traffic, pass, report } = aWorld()
  report([aReport({})])
  traffic.callEnded(aCall({ outcome: 'timedOut', reason: 'no answer within 10 s' }))
  traffic.callEnded(aCall({ outcome: 'refused' }))
  traffic.callEnded(aCall())
  pass(1)
  const deployment = () => traffic.summary(CONDITION).deployments[0]
  assert.deepEqual(deployment()?.failures, { timedOut: 1, refused: 1 })
  assert.deepEqual([deployment()?.calls, deployment()?.failed, deployment()?.limit], [3, 1, 8])
  pass(14 * 60)
  assert.equal(deployment()?.calls, 3)
  pass(61)
  assert.equal(deployment()?.calls, 0)
})

test('an illness is told once with its reason, probes included, and one that comes and goes does not fill the table', () => {
  const { traffic, pass, report } = aWorld()
  traffic.callEnded(aCall({ outcome: 'unreachable', reason: 'connection refused' }))
  report([aReport({})])
  pass(1)
  report([aReport({ state: 'ejected', closedUntilMs: 5000 })])
  pass(1)
  const ejected = traffic.summary(CONDITION).deployments[0]
  assert.deepEqual(
    [ejected?.state, ejected?.reason, ejected?.sinceMs],
    ['ejected', 'connection refused', START_MS + 2000],
  )
  assert.equal(ejected?.untilMs, START_MS + 5000)
  for (let round = 0; round < 30; round += 1) {
    report([aReport({ state: round % 2 === 0 ? 'probing' : 'ejected' })])
    pass(1)
  }
  assert.equal(traffic.summary(CONDITION).deployments[0]?.sinceMs, START_MS + 2000)
  report([aReport({})])
  pass(1)
  for (let round = 0; round < 60; round += 1) {
    report([aReport({ state: round % 2 === 0 ? 'limited' : 'healthy' })])
    pass(1)
  }
  const { events } = traffic.page()
  assert.deepEqual(
    events.slice(0, 2).map(({ state, reason }) => [state, reason]),
    [
      ['ejected', 'connection refused'],
      ['healthy', ''],
    ],
  )
  assert.ok(events.length <= 2 + 6, String(events.length))
})

test('a slot holds the worst that was seen in it, and what is written is not written again', () => {
  const { traffic, pass, report } = aWorld()
  report([aReport({ inFlight: 3 })])
  traffic.callEnded(aCall())
  pass(60)
  report([aReport({ state: 'quarantined' }), aReport({ deployment: 'm/idle' })])
  pass(60)
  report([aReport({})])
  const first = traffic.page()
  assert.deepEqual(
    first.deployments.map(({ deployment, atMs, worst, calls, inFlight }) => [
      deployment,
      atMs,
      worst,
      calls,
      inFlight,
    ]),
    [['m/one', START_MS, 'quarantined', 1, 3]],
  )
  traffic.written(first)
  pass(200)
  const second = traffic.page()
  assert.deepEqual(
    second.deployments.map(({ atMs, worst }) => [atMs, worst]),
    [[START_MS, 'quarantined']],
  )
  traffic.written(second)
  assert.deepEqual(traffic.page().deployments, [])
})

test('minutes add up to their half hour, project by project', () => {
  const { traffic, pass } = aWorld()
  for (let minute = 0; minute < 30; minute += 1) {
    traffic.requestEnded(aRequest())
    traffic.requestEnded(
      aRequest({
        project: undefined,
        key: undefined,
        keyId: undefined,
        status: 401,
        fault: 'invalid_api_key',
      }),
    )
    pass(60)
  }
  const { projects } = traffic.page()
  const half = projects.filter(({ slotMs }) => slotMs === 1_800_000)
  assert.deepEqual(
    half.map(({ project, outcomes, inputs, hits, nanoUsd }) => [
      project,
      outcomes.answered,
      outcomes.refused,
      inputs,
      hits,
      nanoUsd,
    ]),
    [
      ['search', 30, 0, 120, 30, 30_000n],
      ['', 0, 30, 120, 30, 30_000n],
    ],
  )
  assert.equal(projects.filter(({ slotMs }) => slotMs === 60_000).length, 60)
})

test('what is made for batches is spent, and counted in no share, rate or latency of callers', () => {
  const { traffic, pass } = aWorld()
  traffic.requestEnded(aRequest())
  for (const route of ['batch-lines', 'batch-images', 'batch-image-edits'])
    traffic.requestEnded(aRequest({ route, status: 429, fault: 'budget_exhausted', durationMs: 600_000 }))
  pass(60)
  const [row] = traffic.page().projects
  assert.deepEqual(
    [row?.outcomes, row?.inputs, row?.nanoUsd, row?.latency.counts],
    [{ answered: 1, refused: 0, limited: 0, failed: 0, unknown: 0 }, 4, 4000n, [1]],
  )
})

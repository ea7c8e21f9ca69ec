import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestTrace } from '#core/request/request-trace.ts'
import { mostSeries } from './metric.ts'
import { METRICS } from './metric-list.ts'
import { Metrics } from './metrics.ts'

/** What one small Prometheus takes from a hundred nodes. */
const MAX_SERIES = 5000

const build = { version: '1.0.0', commit: 'abc' }

function samplesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

test('all metrics together may have 5,000 series', () => {
  const most = Object.values(METRICS).reduce((sum, metric) => sum + mostSeries(metric), 0)
  assert.ok(most <= MAX_SERIES, `${most}`)
})

test('thousands of projects, models and deployments stay below 5,000 series, and no count is lost', async () => {
  const metrics = new Metrics(build)
  const deployments = Array.from({ length: 400 }, (_, index) => `model-${index}/upstream`)
  metrics.traffic.read(() => ({
    deployments: deployments.map(
      (deployment) => ({ deployment, state: 'healthy', inFlight: 1, limit: 8 }) as never,
    ),
    waiting: new Map(deployments.map((deployment) => [deployment, 1])),
    cache: { entries: 0, bytes: 0 },
  }))
  const faults = ['', 'rate_limit_exceeded', 'invalid_input', 'no_healthy_deployment']
  let requests = 0
  for (const [index, deployment] of deployments.entries()) {
    const model = `model-${index}`
    for (const fault of faults)
      for (let project = 0; project < 3; project += 1) {
        requests += 1
        const status = fault === '' ? 200 : 400
        const trace = new RequestTrace(0)
        trace.images = 1
        trace.calls.push({ startedMs: 0, endedMs: 1, waitedMs: 0 } as never)
        metrics.requestEnded({
          requestId: 'r',
          route: 'images',
          project: `project-${index * 3 + project}`,
          model,
          status,
          fault: fault || undefined,
          amountNanoUsd: 1_000_000_000n,
          durationMs: 1,
          trace,
        })
      }
    for (const outcome of ['ok', 'busy', 'failed'])
      metrics.callEnded({ requestId: 'r', callId: 'c', model, deployment, outcome, inputs: 1, durationMs: 1 })
  }
  const { text } = await metrics.text()
  const samples = samplesOf(text)
  assert.ok(samples.length < MAX_SERIES, `${samples.length}`)
  const sumOf = (name: string): number =>
    samples
      .filter((line) => line.startsWith(`${name}{`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
  assert.equal(sumOf('torana_requests_total'), requests)
  assert.equal(sumOf('torana_spend_usd_total'), requests)
  assert.equal(sumOf('torana_images_total'), requests)
  assert.equal(sumOf('torana_upstream_calls_total'), deployments.length * 3)
  assert.equal(sumOf('torana_deployment_calls_in_flight'), deployments.length)
  assert.equal(sumOf('torana_requests_waiting'), deployments.length)
  assert.match(text, /^torana_spend_usd_total\{project="other",model="other"\} \d+$/m)
  assert.match(text, /^torana_metric_full\{metric="torana_spend_usd_total"\} 1$/m)
})

test('each sample has the labels that the list says, and nothing is told that is not in the list', async () => {
  const metrics = new Metrics(build)
  metrics.node.configLoaded(1000, 'abcdef0123456789')
  metrics.node.readDisk(async () => ({ freeBytes: 7, sizeBytes: 9 }))
  metrics.requestEnded({ requestId: 'r', route: 'embeddings', model: 'm', status: 200, durationMs: 3 })
  metrics.callEnded({
    requestId: 'r',
    callId: 'c',
    model: 'm',
    deployment: 'm/u',
    outcome: 'ok',
    inputs: 1,
    durationMs: 1,
  })
  const { text } = await metrics.text()
  for (const line of samplesOf(text)) {
    const [, sample = '', labelText = ''] = /^(\w+?)(?:\{(.*)\})? \S+$/.exec(line) ?? []
    const name = sample in METRICS ? sample : sample.replace(/_(?:bucket|sum|count)$/, '')
    const metric = METRICS[name as keyof typeof METRICS]
    assert.ok(metric, line)
    const labels = [...labelText.matchAll(/(\w+)="/g)]
      .map(([, label]) => label)
      .filter((label) => label !== 'le')
    assert.deepEqual(labels, metric.labels, line)
  }
  assert.match(text, /^torana_build_info\{version="1.0.0",commit="abc"\} 1$/m)
  assert.match(text, /^torana_config_info\{hash="abcdef012345"\} 1$/m)
  assert.match(text, /^torana_data_folder_free_bytes \d+$/m)
})

test("a request's own time and its wait are told apart from its upstream's", async () => {
  const metrics = new Metrics(build)
  const trace = new RequestTrace(0)
  trace.calls.push({ startedMs: 3, endedMs: 93, waitedMs: 2 } as never)
  metrics.requestEnded({ requestId: 'r', route: 'embeddings', status: 200, durationMs: 100, trace })
  const { text } = await metrics.text()
  assert.match(text, /^torana_request_own_duration_seconds_sum\{route="embeddings"\} 0.008$/m)
  assert.match(text, /^torana_request_wait_duration_seconds_sum\{route="embeddings"\} 0.002$/m)
})

import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import { startOtlpReceiver, type ReceivedSpan } from '#test/support/otlp-receiver.ts'
import { eventually } from '#test/support/process.ts'
import { vectorOf } from '../../../lab/fake-provider/vectors.ts'

const TEXT = 'canary text that no span may hold'
const receiver = await startOtlpReceiver()
after(() => receiver.close())

/** An upstream that remembers with which headers it was called. */
const seen: IncomingHttpHeaders[] = []
const upstream = createServer((request, response) => {
  seen.push(request.headers)
  request.resume().on('end', () => {
    const embedding = [...vectorOf('any', 16)]
    const data = [{ object: 'embedding', index: 0, embedding }]
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({ object: 'list', data, model: 'm', usage: { prompt_tokens: 5, total_tokens: 5 } }),
    )
  })
})
await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve))
after(() => upstream.close())
const upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`

const gateway = await startGateway({
  models: {
    'seen-w16': { on: 'plain', upstream: { base: 'seen', baseUrl: upstreamUrl } },
    'slow-w16': { on: 'slow-300' },
    'second-w16': { on: ['status-500', 'plain'] },
  },
  env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=seven%20dwarfs',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_TRACES_SAMPLER: 'parentbased_always_on',
    OTEL_PROPAGATORS: 'tracecontext,baggage',
  },
})

async function spansOf(requestId: string): Promise<{ root: ReceivedSpan; all: readonly ReceivedSpan[] }> {
  return eventually(async () => {
    const root = receiver.spans.find((span) => span.attributes['torana.request.id'] === requestId)
    assert.ok(root, 'the spans have not come')
    return { root, all: receiver.spans.filter(({ traceId }) => traceId === root.traceId) }
  })
}

function ask(model: string, headers: Record<string, string> = {}) {
  return gateway.ask({ model, input: TEXT }, { headers })
}

const msOf = ({ startNs, endNs }: ReceivedSpan): number => Number(endNs - startNs) / 1e6

test('the steps of a request add up to its duration, and its call lies within', async () => {
  const startedMs = performance.now()
  const { status, headers } = await ask('slow-w16')
  const seenMs = performance.now() - startedMs
  assert.equal(status, 200)
  const { root, all } = await spansOf(headers.get('x-request-id') ?? '')
  assert.equal(root.name, 'POST /v1/embeddings')
  assert.equal(root.kind, 2)
  assert.equal(root.parentSpanId, '')
  const steps = all.filter((span) => span.parentSpanId === root.spanId)
  const sumMs = steps.reduce((sum, span) => sum + msOf(span), 0)
  assert.ok(Math.abs(sumMs - msOf(root)) <= msOf(root) * 0.05, `${sumMs} of ${msOf(root)}`)
  assert.ok(msOf(root) >= 300 && msOf(root) <= seenMs + 1, `${msOf(root)} of ${seenMs}`)
  const call = all.find(({ kind }) => kind === 3)
  const gather = steps.find(({ name }) => name === 'gather')
  assert.ok(call && gather && msOf(call) >= 300 && msOf(call) <= msOf(gather))
  assert.equal(call.parentSpanId, gather.spanId)
  assert.equal(new Set(all.map(({ spanId }) => spanId)).size, all.length)
})

test('spans speak the words of the GenAI conventions, and hold no text', async () => {
  const { headers } = await ask('slow-w16')
  const { root, all } = await spansOf(headers.get('x-request-id') ?? '')
  const call = all.find(({ kind }) => kind === 3)
  assert.equal(call?.name, 'embeddings slow-w16')
  assert.equal(call.attributes['gen_ai.operation.name'], 'embeddings')
  assert.equal(call.attributes['gen_ai.request.model'], 'slow-w16')
  assert.equal(call.attributes['gen_ai.embeddings.dimension.count'], 16)
  assert.deepEqual(call.attributes['gen_ai.request.encoding_formats'], ['float'])
  assert.equal(call.attributes['server.address'], '127.0.0.1')
  assert.equal(root.attributes['http.response.status_code'], 200)
  assert.equal(root.attributes['torana.project'], 'default')
  for (const { name, attributes } of all)
    assert.doesNotMatch(`${name} ${JSON.stringify(attributes)}`, /canary/)
  assert.equal(receiver.resources[0]?.['service.name'], 'torana')
  assert.equal(receiver.resources[0]?.['deployment.environment.name'], 'test')
  const [request] = receiver.requests
  assert.equal(request?.path, '/v1/traces')
  assert.equal(request?.headers['content-type'], 'application/x-protobuf')
  assert.equal(request?.headers['x-tenant'], 'seven dwarfs')
})

test('a call that failed and the one in its place have a span each', async () => {
  const { headers } = await ask('second-w16')
  const { all } = await spansOf(headers.get('x-request-id') ?? '')
  const calls = all.filter(({ kind }) => kind === 3)
  assert.deepEqual(
    calls.map(({ isError }) => isError),
    [true, false],
  )
  assert.equal(calls[1]?.attributes['torana.attempt.instead_of'], calls[0]?.attributes['torana.attempt'])
})

test('a request stands in the trace of its caller, and the upstream in the span of its call', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const { headers } = await ask('seen-w16', {
    traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    tracestate: 'vendor=value',
    baggage: 'tenant=7',
  })
  const { root, all } = await spansOf(headers.get('x-request-id') ?? '')
  assert.equal(root.traceId, traceId)
  assert.equal(root.parentSpanId, 'b7ad6b7169203331')
  assert.equal(root.traceState, 'vendor=value')
  const call = all.find(({ kind }) => kind === 3)
  const called = seen.at(-1)
  assert.equal(called?.['traceparent'], `00-${traceId}-${call?.spanId}-01`)
  assert.equal(called?.['tracestate'], 'vendor=value')
  assert.equal(called?.['baggage'], 'tenant=7')
})

test('a request that the caller does not sample is not sampled, and the upstream gets that flag', async () => {
  const traceId = '1af7651916cd43dd8448eb211c80319c'
  const { headers } = await ask('seen-w16', { traceparent: `00-${traceId}-b7ad6b7169203331-00` })
  assert.match(String(seen.at(-1)?.['traceparent']), new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
  // The later one was sent, so this one would have been.
  const later = await ask('seen-w16')
  await spansOf(later.headers.get('x-request-id') ?? '')
  assert.ok(
    !receiver.spans.some((span) => span.attributes['torana.request.id'] === headers.get('x-request-id')),
  )
})

test('a receiver that refuses for good costs the spans, which are counted, and nothing else', async () => {
  receiver.answerWith(400)
  const { status } = await ask('seen-w16')
  assert.equal(status, 200)
  await eventually(async () => {
    const metrics = await (await fetch(`${gateway.controlUrl}/metrics`)).text()
    assert.match(metrics, /^torana_trace_spans_total\{outcome="dropped"\} [1-9]/m)
  })
  receiver.answerWith(200)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { base64Of } from '#core/embedding/vector.ts'
import type { FailureKind } from '#core/fault/failure.ts'
import { RequestTrace } from '#core/request/request-trace.ts'
import { telemetryObserver } from '#telemetry/observer.ts'
import { Metrics } from '#telemetry/metrics.ts'
import { after } from '#runtime/clock.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { aDispatch } from '#test/support/dispatch.ts'
import { embedDependencies, MemoryUpstream } from '#test/support/embedding.ts'
import { memoryMoney } from '#test/support/money.ts'
import { aModel, aRequest } from '#test/support/models.ts'
import { embed, type EmbedDependencies } from './embed.ts'

const FAILURES: readonly FailureKind[] = [
  'rejectedUs',
  'rateLimited',
  'failed',
  'unreachable',
  'timedOut',
  'broken',
]

const anyRequest = fc.record({
  text: fc.oneof(fc.string({ minLength: 1 }), fc.constant('ééé "\\\n')),
  encoding: fc.constantFrom('float' as const, 'base64' as const),
  dimensions: fc.constantFrom(undefined, undefined, 3),
  hasLeft: fc.boolean(),
})
const situation = fc.record({
  requests: fc.array(anyRequest, { minLength: 1, maxLength: 6 }),
  outcomes: fc.array(fc.option(fc.constantFrom(...FAILURES), { freq: 2, nil: undefined }), {
    minLength: 1,
    maxLength: 6,
  }),
  tokens: fc.constantFrom(undefined, 0, 3, 1_000_000),
  concurrency: fc.constantFrom(undefined, 1),
  price: fc.constantFrom(
    { kind: 'perToken', nanoUsdPerMillionTokens: 1_500_000n } as const,
    { kind: 'free' } as const,
    { kind: 'unpriced' } as const,
  ),
})
type Situation = typeof situation extends fc.Arbitrary<infer Value> ? Value : never

/** The clock does not move, so a queued request waits until it is refused: in the same order, a hundred times sooner. */
const soon: typeof after = (delayMs, work) => after(delayMs / 100, work)

/**
 * Everything that a request leaves behind: its answer or its fault, its rows, its calls, its trace, the log
 * and the metrics.
 */
async function tracesOf(given: Situation, mayTakeTheLane: boolean) {
  const { requests, outcomes, tokens, concurrency, price } = given
  const upstream = new MemoryUpstream({
    plan: (_, number) => outcomes[number % outcomes.length],
    ...(tokens !== undefined && { usage: () => ({ kind: 'measured', tokens }) }),
  })
  const limits = concurrency === undefined ? undefined : { concurrency }
  const model = aModel({ facts: { matryoshka: true }, deployments: [aDeployment({ price, limits })] })
  const money = memoryMoney()
  const lines: unknown[] = []
  const note = (line: unknown): void => void lines.push(line)
  const log = { info: note, warn: note, error: note, line: note, writes: () => true, close: () => {} }
  const metrics = new Metrics({ version: '0', commit: '0' })
  const plain = embedDependencies(model, upstream, { money })
  const { clock } = plain
  const dispatch = aDispatch(clock, soon)
  const dependencies: EmbedDependencies = {
    ...plain,
    observer: telemetryObserver(log as never, metrics, clock),
    dispatch: mayTakeTheLane ? dispatch : generalWayOf(dispatch),
  }
  const ends: unknown[] = []
  const traces: RequestTrace[] = []
  for (const [number, { text, encoding, dimensions, hasLeft }] of requests.entries()) {
    const trace = new RequestTrace(0)
    traces.push(trace)
    const request = aRequest({
      input: { kind: 'texts', texts: [text] },
      encoding,
      dimensions,
      model: model.id,
    })
    const options = {
      requestId: `r${number}`,
      key: {
        id: 'p/k',
        name: 'k',
        project: 'p',
        models: undefined,
        expiresAtMs: undefined,
        limits: [],
        budgets: [],
      },
      unsupported: undefined,
      pinnedSpace: undefined,
      dryRun: false,
      callerTimeoutMs: undefined,
      cacheUse: 'usual' as const,
      trace,
      caller: hasLeft ? ({ destroyed: true } as never) : undefined,
    }
    ends.push(
      await embed(request, options, dependencies).then(
        (result) =>
          result.kind === 'embedded' ? { ...result, vectors: result.vectors.map(base64Of) } : result,
        (error: unknown) => ({ error: String(error) }),
      ),
    )
  }
  const rows = money.memory.entries().map(({ nodeId: _node, writtenAtMs: _writtenAt, ...row }) => row)
  const figures = (await metrics.text()).text
    .split('\n')
    .filter((line) => line.startsWith('torana_upstream_'))
  return { ends, rows, traces, calls: upstream.calls, lines, figures }
}

/** A dispatch that never has an immediate turn: every request takes the general path, which asks again. */
function generalWayOf(dispatch: EmbedDependencies['dispatch']): EmbedDependencies['dispatch'] {
  return new Proxy(dispatch, {
    get: (target, name) => {
      if (name === 'turnNow') return () => undefined
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

test('one input at one deployment: the lane of its own gives what the general way gives, also to the ledger, the log and the metrics', async () => {
  await fc.assert(
    fc.asyncProperty(situation, async (given) => {
      assert.deepEqual(await tracesOf(given, true), await tracesOf(given, false))
    }),
  )
})

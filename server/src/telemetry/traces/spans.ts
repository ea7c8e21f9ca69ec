/** The spans of a request, made after it from its trace. */
import type { CallTrace, RequestTrace } from '#core/request/request-trace.ts'
import type { RequestRecord } from '#ports/observer.ts'
import { ATTRIBUTES, LAST_STEP, providerName, ROUTES, STEPS, WAIT } from './names.ts'
import type { Span } from './span.ts'

/** Calls kept per trace. A request of two thousand texts may make as many calls. */
const MAX_CALLS = 64
/** Shortest recorded wait: shorter ones are the scheduler's own work. */
const LEAST_WAIT_MS = 0.5

/** What the catalog knows about a deployment. */
export interface CalledPlace {
  readonly provider: string
  /** The upstream's name for the model. */
  readonly model: string
  readonly address: string | undefined
  readonly port: number | undefined
}

export type PlaceOf = (model: string, deployment: string) => CalledPlace | undefined

/** `nowMs` and `monotonicMs` are one moment on both clocks. Empty for unknown kinds of requests. */
export function spansOf(
  record: RequestRecord,
  { nowMs, monotonicMs }: { readonly nowMs: number; readonly monotonicMs: number },
  placeOf: PlaceOf,
): readonly Span[] {
  const { trace, durationMs, fault } = record
  const context = trace?.context
  const route = ROUTES[record.route]
  if (trace === undefined || context === undefined || route === undefined) return []
  const at = (ms: number): number => nowMs - (monotonicMs - ms)
  const endMs = trace.startedMs + durationMs
  const common = { traceId: context.traceId, traceState: context.state }
  const root: Span = {
    ...common,
    spanId: context.spanId,
    parentSpanId: context.parentSpanId,
    name: `POST ${route.path}`,
    kind: 'server',
    startMs: at(trace.startedMs),
    endMs: at(endMs),
    attributes: requestAttributes(record, trace, route),
    // A caller's mistake is no error of the server.
    isError: record.status >= 500,
  }
  const steps = stepsOf(trace, endMs, fault !== undefined).map(({ name, fromMs, toMs }, index): Span => ({
    ...common,
    spanId: stepSpanId(context.spanId, index),
    parentSpanId: context.spanId,
    name,
    kind: 'internal',
    startMs: at(fromMs),
    endMs: at(toMs),
    attributes: {},
    isError: false,
  }))
  const gather = steps.find(({ name }) => name === 'gather') ?? root
  const calls = trace.calls.slice(0, MAX_CALLS).flatMap((call): Span[] => {
    const spanId = context.spanIdOf(call.callId)
    const span = { ...common, parentSpanId: gather.spanId }
    const place = placeOf(record.model ?? '', call.deployment)
    const waited: Span = {
      ...span,
      spanId: stepSpanId(spanId, 0),
      name: WAIT,
      kind: 'internal',
      startMs: at(call.startedMs - call.waitedMs),
      endMs: at(call.startedMs),
      attributes: {},
      isError: false,
    }
    const called: Span = {
      ...span,
      spanId,
      name: `${route.operation} ${place?.model ?? record.model ?? ''}`.trimEnd(),
      kind: 'client',
      startMs: at(call.startedMs),
      endMs: at(call.endedMs),
      attributes: callAttributes(call, trace, route.operation, place),
      isError: call.outcome !== 'ok',
    }
    return call.waitedMs < LEAST_WAIT_MS ? [called] : [waited, called]
  })
  return [root, ...steps, ...calls]
}

interface Step {
  readonly name: string
  readonly fromMs: number
  readonly toMs: number
}

/** One after another from the beginning to the end, without a gap. */
function stepsOf(trace: RequestTrace, endMs: number, isFailed: boolean): readonly Step[] {
  const steps: Step[] = []
  let fromMs = trace.startedMs
  let reached = 0
  for (const [index, { name, until }] of STEPS.entries()) {
    const toMs = trace[until]
    if (toMs === undefined) continue
    steps.push({ name, fromMs, toMs })
    fromMs = toMs
    reached = index + 1
  }
  steps.push({ name: isFailed ? failedStep(trace, reached) : LAST_STEP, fromMs, toMs: endMs })
  return steps
}

/** The step in which a request failed. If it made calls it was gathering, whatever it had noted before. */
function failedStep({ calls, gatheredMs }: RequestTrace, reached: number): string {
  if (calls.length > 0 && gatheredMs === undefined) return 'gather'
  return STEPS[reached]?.name ?? LAST_STEP
}

/** Different for each step, and from every other span, since those are random. */
function stepSpanId(spanId: string, index: number): string {
  const first = Number.parseInt(spanId.slice(0, 2), 16) ^ (index + 1)
  return first.toString(16).padStart(2, '0') + spanId.slice(2)
}

function requestAttributes(
  record: RequestRecord,
  trace: RequestTrace,
  { path, operation }: { readonly path: string; readonly operation: string },
): Span['attributes'] {
  return {
    [ATTRIBUTES.method]: 'POST',
    [ATTRIBUTES.route]: path,
    [ATTRIBUTES.status]: record.status,
    [ATTRIBUTES.errorType]: record.fault,
    [ATTRIBUTES.operation]: operation,
    [ATTRIBUTES.requestModel]: record.model,
    [ATTRIBUTES.inputTokens]: record.promptTokens,
    [ATTRIBUTES.cost]: record.amountNanoUsd === undefined ? undefined : Number(record.amountNanoUsd) / 1e9,
    [ATTRIBUTES.requestId]: record.requestId,
    [ATTRIBUTES.clientRequestId]: record.clientRequestId,
    [ATTRIBUTES.project]: record.project,
    [ATTRIBUTES.keyId]: record.keyId,
    [ATTRIBUTES.inputs]: record.inputs,
    [ATTRIBUTES.cacheHits]: record.cache?.hits,
    [ATTRIBUTES.images]: trace.images,
    [ATTRIBUTES.calls]: trace.calls.length,
    [ATTRIBUTES.space]: trace.space,
  }
}

function callAttributes(
  call: CallTrace,
  trace: RequestTrace,
  operation: string,
  place: CalledPlace | undefined,
): Span['attributes'] {
  const isEmbedding = operation === 'embeddings'
  return {
    [ATTRIBUTES.operation]: operation,
    [ATTRIBUTES.provider]: place && providerName(place.provider),
    [ATTRIBUTES.requestModel]: place?.model,
    [ATTRIBUTES.serverAddress]: place?.address,
    [ATTRIBUTES.serverPort]: place?.port,
    [ATTRIBUTES.outputType]: isEmbedding ? undefined : 'image',
    [ATTRIBUTES.choices]: isEmbedding ? undefined : call.inputs,
    [ATTRIBUTES.encodings]: isEmbedding && trace.encoding ? [trace.encoding] : undefined,
    [ATTRIBUTES.dimensions]: isEmbedding ? trace.width : undefined,
    [ATTRIBUTES.inputTokens]: call.counts.find(({ of }) => of === 'tokens')?.count,
    [ATTRIBUTES.errorType]: call.outcome === 'ok' ? undefined : call.outcome,
    [ATTRIBUTES.status]: call.status,
    [ATTRIBUTES.callId]: call.callId,
    [ATTRIBUTES.deployment]: call.deployment,
    [ATTRIBUTES.attempt]: call.attempt,
    [ATTRIBUTES.insteadOf]: call.insteadOf,
    [ATTRIBUTES.inputs]: call.inputs,
    [ATTRIBUTES.sharedWith]: call.sharedWith,
    [ATTRIBUTES.upstreamRequestId]: call.upstreamRequestId,
    [ATTRIBUTES.reason]: call.reason,
    [ATTRIBUTES.firstByteSeconds]:
      call.firstByteMs === undefined ? undefined : (call.firstByteMs - call.startedMs) / 1000,
  }
}

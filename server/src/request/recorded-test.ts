/** A call that tests one deployment for the node itself. It appears in the request log like any request. */
import { Fault } from '#core/fault/fault.ts'
import type { Cost } from '#core/money/price.ts'
import { RequestTrace } from '#core/request/request-trace.ts'
import type { Clock } from '#ports/clock.ts'
import type { Observer } from '#ports/observer.ts'
import { SYSTEM_KEY } from './access/system-key.ts'
import { recordOf } from './request-record.ts'

interface TestedDeployment {
  readonly requestId: string
  readonly route: string
  readonly model: { readonly id: string }
  readonly deployment: { readonly id: string }
}

/** Rejects with the error of `work` after recording it. */
export async function recordedTest(
  { requestId, route, model, deployment }: TestedDeployment,
  { clock, observer }: { readonly clock: Clock; readonly observer: Observer },
  work: (trace: RequestTrace) => Promise<{ readonly cost: Cost; readonly promptTokens?: number }>,
  faultOf: (error: unknown) => unknown = (error) => error,
): Promise<Cost> {
  const trace = new RequestTrace(clock.monotonicMs())
  trace.askedModel = model.id
  const record = (fault?: Fault) => ({
    ...recordOf({ requestId, route, trace, fault, key: SYSTEM_KEY }),
    model: model.id,
    deployment: deployment.id,
    inputs: 1,
    attempts: 1,
    durationMs: clock.monotonicMs() - trace.startedMs,
  })
  try {
    const { cost, promptTokens } = await work(trace)
    trace.isUnpriced = cost.kind !== 'known'
    const amountNanoUsd = cost.kind === 'known' ? cost.nanoUsd : undefined
    observer.requestEnded({ ...record(), promptTokens, amountNanoUsd })
    return cost
  } catch (error) {
    const found = faultOf(error)
    const fault = found instanceof Fault ? found : undefined
    observer.requestEnded(record(fault ?? new Fault('internal_error', 'The test failed.', { cause: error })))
    throw error
  }
}

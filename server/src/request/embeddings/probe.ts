/**
 * The vectors of the probe texts from one deployment: a call
 * like any other, paid for and in the books of project `system`.
 */
import type { Deployment, EmbeddingModel } from '#core/catalog.ts'
import { inputCount, slice, type Input } from '#core/embedding/input.ts'
import { valuesOf } from '#core/embedding/vector.ts'
import { Fault } from '#core/fault/fault.ts'
import { negotiate, type Offer } from '#core/embedding/negotiate.ts'
import { RequestTrace } from '#core/request-trace.ts'
import type { Key } from '#ports/keys.ts'
import { admit } from './admit.ts'
import type { CallContext } from './admitted-request.ts'
import { attempt } from './attempt.ts'
import { withPrefix } from './inputs.ts'
import type { EmbedOutside } from './outside.ts'

/** The gateway's own key. It has no limits, and what it spends stands under its own name. */
const SYSTEM_KEY: Key = {
  id: 'system',
  name: 'system',
  project: 'system',
  models: undefined,
  expiresAtMs: undefined,
  limits: [],
  budgets: [],
}

export async function probeSpace(
  model: EmbeddingModel,
  deployment: Deployment,
  texts: readonly string[],
  outside: EmbedOutside,
): Promise<readonly Float32Array[]> {
  const input: Input = { kind: 'texts', texts }
  const offer = offerOf(model, deployment, input)
  const requestId = outside.identifiers.next()
  const admitted = admit({ requestId, key: SYSTEM_KEY, model, offers: [offer], input }, outside)
  await using admission = admitted instanceof Promise ? await admitted : admitted
  let attempts = 0
  const request: CallContext = {
    requestId,
    project: SYSTEM_KEY.project,
    model,
    admission,
    trace: new RequestTrace(outside.clock.monotonicMs()),
    deadlineMs: outside.clock.monotonicMs() + outside.limits.requestTimeoutMs,
    outside,
    isLarge: false,
    attemptsMade: () => attempts,
    countAttempt: () => void (attempts += 1),
  }
  const { maxInputs } = deployment.capabilities
  const vectors: Float32Array[] = []
  for (let start = 0; start < inputCount(input); start += maxInputs) {
    const inputs = withPrefix(slice(input, start, start + maxInputs), offer.prefix)
    const [answer] = await attempt(
      [{ request, inputs, work: { part: 0, attempt: undefined } }],
      offer,
      'float32',
    )
    for (const vector of answer?.vectors ?? []) vectors.push(valuesOf(vector))
  }
  await admission.settle()
  return vectors
}

function offerOf(model: EmbeddingModel, deployment: Deployment, input: Input): Offer {
  const plain = {
    model: model.id,
    input,
    encoding: 'float',
    dimensions: undefined,
    inputType: undefined,
    user: undefined,
    extraFields: {},
  } as const
  const only = { ...model, deployments: [deployment] }
  const [offer] = negotiate(plain, only, 'refuse').offers
  if (offer === undefined)
    throw new Fault('internal_error', `${deployment.id} makes no offer for a plain text.`)
  return offer
}

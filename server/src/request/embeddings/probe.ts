/**
 * The vectors of a few texts from one deployment, for the node itself: a call like any other, paid for and
 * recorded in the ledger under project `system`. It does not wait for a turn, so that an ejected or drained
 * deployment can be asked too.
 */
import type { Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import { inputCount, slice, type Input } from '#core/embedding/input.ts'
import { valuesOf } from '#core/embedding/vector.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { faultOfFailure } from '#core/fault/of-failure.ts'
import { negotiate, type Offer } from '#core/embedding/negotiate.ts'
import { endedOf } from '#core/catalog/model-end.ts'
import { costOf, maxCostOf, type Cost } from '#core/money/price.ts'
import { RequestTrace } from '#core/request/request-trace.ts'
import { SYSTEM_KEY } from '../access/system-key.ts'
import { recordedTest } from '../recorded-test.ts'
import { admit } from './admit.ts'
import type { CallContext } from './admitted-request.ts'
import { attempt } from './attempt.ts'
import { withPrefix } from './inputs.ts'
import type { EmbedOutside } from './outside.ts'

export async function probeSpace(
  model: EmbeddingModel,
  deployment: Deployment,
  texts: readonly string[],
  outside: EmbedOutside,
): Promise<readonly Float32Array[]> {
  const requestId = outside.identifiers.next()
  const trace = new RequestTrace(outside.clock.monotonicMs())
  return (await askAlone({ model, deployment, texts, requestId, trace }, outside)).vectors
}

interface OwnQuestion {
  readonly model: EmbeddingModel
  readonly deployment: Deployment
  readonly texts: readonly string[]
  readonly requestId: string
  readonly trace: RequestTrace
}

async function askAlone(
  { model, deployment, texts, requestId, trace }: OwnQuestion,
  outside: EmbedOutside,
): Promise<{ readonly vectors: readonly Float32Array[]; readonly tokens: number }> {
  const input: Input = { kind: 'texts', texts }
  const offer = offerOf(model, deployment, input)
  const admitted = admit({ requestId, key: SYSTEM_KEY, model, offers: [offer], input }, outside)
  using admission = admitted instanceof Promise ? await admitted : admitted
  let attempts = 0
  const request: CallContext = {
    requestId,
    project: SYSTEM_KEY.project,
    model,
    admission,
    trace,
    deadlineMs: outside.clock.monotonicMs() + outside.limits.requestTimeoutMs,
    outside,
    isLarge: false,
    attemptsMade: () => attempts,
    countAttempt: () => void (attempts += 1),
  }
  const { maxInputs } = deployment.capabilities
  const vectors: Float32Array[] = []
  let tokens = 0
  for (let start = 0; start < inputCount(input); start += maxInputs) {
    const inputs = withPrefix(slice(input, start, start + maxInputs), offer.prefix)
    const [answer] = await attempt(
      [{ request, inputs, work: { part: 0, attempt: undefined } }],
      offer,
      'float32',
    )
    for (const vector of answer?.vectors ?? []) vectors.push(valuesOf(vector))
    tokens += answer?.usage.tokens ?? 0
  }
  await admission.settle()
  return { vectors, tokens }
}

/** The text of a test call. */
const TEST_TEXT = 'ping'

/** Largest cost of a test call. */
export function mostOfTest({ price }: Deployment): Cost {
  return maxCostOf(price, { tokens: TEST_TEXT.length, rows: 1 })
}

/** Embeds one word. The call appears in the request log like any request. Rejects with the error after recording it. */
export async function testEmbedding(
  model: EmbeddingModel,
  deployment: Deployment,
  requestId: string,
  outside: EmbedOutside,
): Promise<Cost> {
  return recordedTest(
    { requestId, route: 'embeddings', model, deployment },
    outside,
    async (trace) => {
      const { tokens } = await askAlone({ model, deployment, texts: [TEST_TEXT], requestId, trace }, outside)
      return { cost: costOf(deployment.price, tokens), promptTokens: tokens }
    },
    (error) =>
      error instanceof UpstreamFailure
        ? faultOfFailure(error, model.id, 1, endedOf(model, error.detail.deployment, outside.clock.nowMs()))
        : error,
  )
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

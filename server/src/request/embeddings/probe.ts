/**
 * The vectors of a few texts and images from one deployment, for the node itself: a call like any other, paid for and
 * recorded in the ledger under project `system`. It does not wait for a turn, so that an ejected or drained
 * deployment can be asked too.
 */
import type { Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import { asContents, slice, type Input } from '#core/embedding/input.ts'
import type { Content, Media } from '#core/content/content.ts'
import type { CallSize } from '#core/embedding/call-size.ts'
import { probeCalls } from '#core/embedding/probe-calls.ts'
import { PROBE_TEXTS, SHORT_TEXT } from '#core/embedding/probe-texts.ts'
import { meanOf } from '#core/embedding/space-check.ts'
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
import { runsOf } from './one-call.ts'
import type { EmbedOutside } from './outside.ts'

/** What a probe asks for. */
export interface ProbeQuestion {
  readonly texts: readonly string[]
  /** Empty for a deployment that takes no images. */
  readonly images: readonly Media[]
}

/** How often a deployment is asked in one probe. */
export interface ProbeTerms {
  /** Answers whose mean is the result: up to this many, fewer where they are equal or slow. */
  readonly samples: number
  /** Further calls with one short text, side by side, so that each may reach another replica. */
  readonly repeats: number
  /** Further calls of this size, with all texts. */
  readonly size?: CallSize | undefined
}

export interface ProbedSpace {
  /** In the order of the question, and so are those of the images. */
  readonly texts: readonly Float32Array[]
  readonly images?: readonly Float32Array[] | undefined
  /** How far the furthest sample is from the mean, as 1 − cosine. Absent: there was one sample, or all were equal. */
  readonly spread?: number | undefined
  readonly imageSpread?: number | undefined
  /** Vectors of the short text. */
  readonly repeats?: readonly Float32Array[] | undefined
  /** Those of the texts, in calls of the size that was asked for. */
  readonly sized?: readonly Float32Array[] | undefined
  /** The error of the images' calls. Those of the texts have succeeded. */
  readonly imageFailure?: unknown
}

export function probeSpace(
  model: EmbeddingModel,
  deployment: Deployment,
  { texts, images }: ProbeQuestion,
  outside: EmbedOutside,
  { samples, repeats, size }: ProbeTerms,
): Promise<ProbedSpace> {
  const { clock, identifiers, limits } = outside
  const requestId = identifiers.next()
  const trace = new RequestTrace(clock.monotonicMs())
  const words: Input = { kind: 'texts', texts }
  const contents = images.map((media): Content => ({ parts: [{ kind: media.kind, media }] }))
  const input: Input =
    images.length === 0 ? words : { kind: 'contents', contents: [...asContents(words), ...contents] }
  return askAlone({ model, deployment, input, requestId, trace }, outside, async (ask) => {
    const enoughMs = clock.monotonicMs() + limits.requestTimeoutMs / 2
    const several = (asked: Input): Promise<SampledVectors> =>
      sampled(
        async () => (await ask(asked)).vectors,
        samples,
        () => clock.monotonicMs() < enoughMs,
      )
    const [{ mean, spread }, repeated, sized] = await Promise.all([
      several(words),
      Promise.all(Array.from({ length: repeats }, () => ask(SHORT_INPUT))),
      size && askSized(ask, size, 0),
    ])
    const probed = {
      texts: mean,
      spread,
      repeats: repeated.flatMap(({ vectors }) => vectors),
      sized: sized?.texts,
    }
    if (images.length === 0) return probed
    try {
      const shown = await several({ kind: 'contents', contents })
      return { ...probed, images: shown.mean, imageSpread: shown.spread }
    } catch (imageFailure) {
      return { ...probed, imageFailure }
    }
  })
}

const SHORT_INPUT: Input = { kind: 'texts', texts: [SHORT_TEXT] }

interface SampledVectors {
  readonly mean: readonly Float32Array[]
  readonly spread: number | undefined
}

/** The mean of up to `most` answers. */
async function sampled(
  ask: () => Promise<readonly Float32Array[]>,
  most: number,
  hasTime: () => boolean,
): Promise<SampledVectors> {
  const first = await ask()
  const answers = [first]
  while (answers.length < most && hasTime()) {
    const next = await ask()
    // An upstream that does not vary needs no mean, and one that leaves vectors out gets none.
    if (next.length !== first.length || next.every((vector, index) => areEqual(vector, first[index]))) break
    answers.push(next)
  }
  return answers.length === 1 ? { mean: first, spread: undefined } : meanOf(answers)
}

function areEqual(one: Float32Array, other: Float32Array | undefined): boolean {
  return other?.length === one.length && one.every((value, index) => value === other[index])
}

/** A probe of a deployment in use. */
export interface ProbedInUse {
  /** Of the short text in a call of its own. */
  readonly short: Float32Array
  /** Of all texts, in calls of the size that was asked for. Undefined: the short text alone was. */
  readonly texts: readonly Float32Array[] | undefined
  /** What the upstream counted, or our estimate. */
  readonly tokens: number
}

/**
 * Asks for the short text, and beside it for all texts in calls of the given size, in which `turn` moves them. If the short one is
 * outside too, the change is not one of large calls.
 */
export function probeInUse(
  model: EmbeddingModel,
  deployment: Deployment,
  outside: EmbedOutside,
  { size, turn }: { readonly size: CallSize | undefined; readonly turn: number },
): Promise<ProbedInUse> {
  const requestId = outside.identifiers.next()
  const trace = new RequestTrace(outside.clock.monotonicMs())
  const calls = size === undefined ? [] : probeCalls(size, turn)
  const input: Input = { kind: 'texts', texts: [SHORT_TEXT, ...calls.flatMap(({ texts }) => texts)] }
  return askAlone({ model, deployment, input, requestId, trace }, outside, async (ask) => {
    const [{ vectors, tokens }, sized] = await Promise.all([
      ask(SHORT_INPUT),
      size && askSized(ask, size, turn),
    ])
    return {
      short: vectors[0] as Float32Array,
      texts: sized?.texts,
      tokens: tokens + (sized?.tokens ?? 0),
    }
  })
}

/** All probe texts in calls of this size, side by side. What only fills them is not looked at. */
async function askSized(
  ask: AskOwn,
  size: CallSize,
  turn: number,
): Promise<{ readonly texts: readonly Float32Array[]; readonly tokens: number }> {
  const texts: Float32Array[] = Array.from({ length: PROBE_TEXTS.length })
  const tokens = await Promise.all(
    probeCalls(size, turn).map(async ({ texts: asked, places }) => {
      const answer = await ask({ kind: 'texts', texts: asked })
      for (const [text, place] of places) texts[text] = answer.vectors[place] as Float32Array
      return answer.tokens
    }),
  )
  return { texts, tokens: tokens.reduce((sum, one) => sum + one, 0) }
}

interface OwnQuestion {
  readonly model: EmbeddingModel
  readonly deployment: Deployment
  /** Everything that will be asked: it is admitted together. */
  readonly input: Input
  readonly requestId: string
  readonly trace: RequestTrace
}

/** Vectors of some inputs, and their tokens. */
type AskOwn = (
  input: Input,
) => Promise<{ readonly vectors: readonly Float32Array[]; readonly tokens: number }>

async function askAlone<Result>(
  { model, deployment, input, requestId, trace }: OwnQuestion,
  given: EmbedOutside,
  answer: (ask: AskOwn) => Promise<Result>,
): Promise<Result> {
  const outside = { ...given, guard: undefined }
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
  const result = await answer(async (asked) => {
    const vectors: Float32Array[] = []
    let tokens = 0
    for (const [start, end] of runsOf(asked, offer, { outside, model, wholeBecauseOf: undefined })) {
      const inputs = withPrefix(slice(asked, start, end), offer.prefix)
      const [answered] = await attempt(
        [{ request, inputs, work: { part: 0, attempt: undefined } }],
        offer,
        'float32',
      )
      for (const vector of answered?.vectors ?? []) vectors.push(valuesOf(vector))
      tokens += answered?.usage.tokens ?? 0
    }
    return { vectors, tokens }
  })
  await admission.settle()
  return result
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
      const input: Input = { kind: 'texts', texts: [TEST_TEXT] }
      const { tokens } = await askAlone({ model, deployment, input, requestId, trace }, outside, (ask) =>
        ask(input),
      )
      return { cost: costOf(deployment.price, tokens), promptTokens: tokens }
    },
    (error) =>
      error instanceof UpstreamFailure
        ? faultOfFailure(error, model.id, 1, endedOf(model, error.detail.deployment, outside.clock.nowMs()))
        : error,
  )
}

/** The offer of a deployment for inputs without options, as in probes. */
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
    throw new Fault('internal_error', `${deployment.id} makes no offer for a plain input.`)
  return offer
}

/** The journey of `request/embeddings/embed.ts` with an upstream that lives in memory, keeps its caps and fails by plan. */
import { RequestTrace } from '#core/request/request-trace.ts'
import { plainTraffic } from './dispatch.ts'
import { memoryMoney } from './money.ts'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import { identityOf, mediaIn, type Content } from '#core/content/content.ts'
import type { TokenIds } from '#core/embedding/input.ts'
import type { EmbeddingRequest } from '#core/embedding/request.ts'
import { encodeBase64, type Vector, type VectorForm } from '#core/embedding/vector.ts'
import { UpstreamFailure, type FailureKind } from '#core/fault/failure.ts'
import { defaultLimits, type Limits } from '#core/settings.ts'
import type { Usage } from '#core/money/usage.ts'
import type { CallRecord, Overcount, Undercount } from '#ports/observer.ts'
import type { TokenCounter } from '#ports/tokens.ts'
import type { EmbeddingAnswer, EmbeddingCall, EmbeddingUpstream } from '#ports/upstream.ts'
import type { DryRun } from '#request/embeddings/dry-run.ts'
import { type EmbedResult } from '#request/embeddings/embed-result.ts'
import { embed, type EmbedDependencies, type EmbedOptions } from '#request/embeddings/embed.ts'
import type { MoneyOutside } from '#request/money/admission.ts'
import { numberText, tokensOf, truncated, vectorOf } from '../../../lab/fake-provider/vectors.ts'

/** The outcome of one call: undefined serves it. */
export type Plan = (call: EmbeddingCall, number: number) => FailureKind | undefined

export interface MemoryUpstreamOptions {
  readonly plan?: Plan
  /** Answers in these forms by turns; absent: in the form that was wanted. */
  readonly forms?: readonly VectorForm[]
  readonly usage?: (call: EmbeddingCall, texts: readonly string[]) => Usage
  /** Calls take this many rounds of the event loop, in turn. */
  readonly loopRounds?: readonly number[]
}

export class MemoryUpstream implements EmbeddingUpstream {
  readonly #options: MemoryUpstreamOptions
  /** Every call that was made, and those that were answered. */
  readonly calls: EmbeddingCall[] = []
  readonly served: { readonly call: EmbeddingCall; readonly usage: Usage }[] = []
  /** Calls that no such deployment would have accepted. */
  readonly violations: string[] = []
  /** Highest number of parallel calls, by deployment. */
  readonly peaks = new Map<string, number>()
  readonly #inFlight = new Map<string, number>()

  constructor(options: MemoryUpstreamOptions = {}) {
    this.#options = options
  }

  async embed(call: EmbeddingCall): Promise<EmbeddingAnswer> {
    const { id } = call.deployment
    const number = this.calls.push(call) - 1
    const inFlight = (this.#inFlight.get(id) ?? 0) + 1
    this.#inFlight.set(id, inFlight)
    this.peaks.set(id, Math.max(inFlight, this.peaks.get(id) ?? 0))
    try {
      const { loopRounds = [] } = this.#options
      for (let round = loopRounds[number % loopRounds.length] ?? 0; round > 0; round -= 1)
        await (round > 2 ? yieldLoop() : undefined)
      return this.#answer(call, number)
    } finally {
      this.#inFlight.set(id, (this.#inFlight.get(id) ?? 1) - 1)
    }
  }

  #answer(call: EmbeddingCall, number: number): EmbeddingAnswer {
    const { plan, forms = [call.wantedForm], usage = counted } = this.#options
    const texts = textsOf(call)
    this.#checkCaps(call, texts)
    const failure = plan?.(call, number)
    if (failure !== undefined)
      throw new UpstreamFailure(failure, `planned: ${failure}`, { deployment: call.deployment.id })
    const vectors = texts.map((text, index): Vector => {
      const whole = vectorOf(text, 8)
      const values = call.dimensions === undefined ? whole : truncated(whole, call.dimensions)
      return inForm(values, forms[(number + index) % forms.length] as VectorForm)
    })
    const used = usage(call, texts)
    this.served.push({ call, usage: used })
    return { vectors, usage: used, extraFields: {} }
  }

  #checkCaps({ deployment, inputs }: EmbeddingCall, texts: readonly string[]): void {
    const { maxInputs, maxTokens = Infinity, maxBytes = Infinity, tokenArrays } = deployment.capabilities
    if (inputs.kind === 'tokens' && !tokenArrays) this.violations.push('token arrays')
    if (texts.length > maxInputs) this.violations.push(`${texts.length} inputs`)
    // An input that is too large alone travels alone: that is for the upstream to refuse.
    if (texts.length === 1) return
    const tokens = tokensIn(inputs)
    if (tokens > maxTokens) this.violations.push(`${tokens} tokens`)
    if (inputs.kind === 'contents') return this.#checkContents(inputs.contents, deployment)
    const body = {
      model: deployment.upstreamModel,
      input: inputs.kind === 'texts' ? texts : inputs.tokens.map((ids) => [...ids]),
    }
    if (Buffer.byteLength(JSON.stringify(body)) > maxBytes) this.violations.push('bytes')
  }

  #checkContents(contents: readonly Content[], { capabilities }: EmbeddingCall['deployment']): void {
    const { maxImages = Infinity, maxCallBytes = Infinity } = capabilities.contents ?? {}
    const images = contents.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'image')).length
    const bytes = contents.flatMap(mediaIn).reduce((sum, { size }) => sum + size, 0)
    if (images > maxImages) this.violations.push(`${images} images`)
    if (bytes > maxCallBytes) this.violations.push(`${bytes} bytes of media`)
  }
}

function tokensIn(inputs: EmbeddingCall['inputs']): number {
  const counts =
    inputs.kind === 'texts'
      ? inputs.texts.map(tokensOf)
      : inputs.kind === 'tokens'
        ? inputs.tokens.map(({ length }) => length)
        : inputs.contents.map((content) => tokensOf(identityOf(content) ?? ''))
  return counts.reduce((sum, count) => sum + count, 0)
}

function counted({ inputs }: EmbeddingCall): Usage {
  return { kind: 'measured', tokens: tokensIn(inputs) }
}

function inForm(values: Float32Array, form: VectorForm): Vector {
  switch (form) {
    case 'float32':
      return { form, values }
    case 'base64':
      return { form, base64: encodeBase64(values) }
    case 'base64Bytes':
      return { form, bytes: Buffer.from(encodeBase64(values)) }
    case 'text':
      return { form, text: Buffer.from(numberText(values)) }
  }
}

/** A vocabulary without a table: id 7 is the word `<7>`. Ids from a million up are unknown. */
export const memoryTokens: TokenCounter = {
  count: async (texts) => texts.map((text) => ({ tokens: tokensOf(text), exact: true })),
  decode: async (tokens) =>
    tokens.map((ids) => (ids.some((id) => id >= 1_000_000) ? undefined : decoded(ids))),
}

export function decoded(ids: TokenIds): string {
  return Array.from(ids, (id) => `<${id}>`).join('')
}

function textsOf({ inputs }: EmbeddingCall): readonly string[] {
  return inputs.kind === 'texts'
    ? inputs.texts
    : inputs.kind === 'tokens'
      ? inputs.tokens.map(decoded)
      : inputs.contents.map((content) => identityOf(content) ?? '')
}

export interface Journey extends Partial<EmbedOptions> {
  readonly limits?: Partial<Limits>
  readonly tokens?: TokenCounter
  readonly records?: CallRecord[]
  readonly overcounts?: Overcount[]
  readonly undercounts?: Undercount[]
  readonly monotonicMs?: () => number
  readonly money?: MoneyOutside
}

const key = {
  id: 'p/k',
  name: 'k',
  project: 'p',
  models: undefined,
  expiresAtMs: undefined,
  limits: [],
  budgets: [],
}

/** One request through the whole journey. The first deployment of a priority goes first. */
export async function embedInMemory(
  request: EmbeddingRequest,
  model: EmbeddingModel,
  upstream: EmbeddingUpstream,
  journey: Journey = {},
): Promise<EmbedResult> {
  const outcome = await journeyInMemory(request, model, upstream, journey)
  if (outcome.kind !== 'embedded') throw new Error('a dry run')
  return outcome
}

/** The plan of the request. */
export async function dryRunInMemory(request: EmbeddingRequest, model: EmbeddingModel): Promise<DryRun> {
  const outcome = await journeyInMemory(request, model, new MemoryUpstream(), { dryRun: true })
  if (outcome.kind !== 'dry-run') throw new Error('no dry run')
  return outcome
}

function journeyInMemory(
  request: EmbeddingRequest,
  model: EmbeddingModel,
  upstream: EmbeddingUpstream,
  journey: Journey,
): Promise<EmbedResult | DryRun> {
  const {
    limits: _limits,
    tokens: _tokens,
    records: _records,
    overcounts: _over,
    undercounts: _under,
    monotonicMs: _ms,
    money: _money,
    ...options
  } = journey
  return embed(
    { ...request, model: model.id },
    {
      requestId: 'r',
      key,
      unsupported: undefined,
      pinnedSpace: undefined,
      dryRun: false,
      callerTimeoutMs: undefined,
      cacheUse: 'usual',
      trace: new RequestTrace(0),
      ...options,
    },
    embedDependencies(model, upstream, journey),
  )
}

/** The dependencies of the journey, with one model and an upstream in memory. */
export function embedDependencies(
  model: EmbeddingModel,
  upstream: EmbeddingUpstream,
  {
    limits,
    tokens = memoryTokens,
    records = [],
    overcounts = [],
    undercounts = [],
    monotonicMs = () => 0,
    money = memoryMoney(),
  }: Journey = {},
): EmbedDependencies {
  const clock = { nowMs: () => 0, monotonicMs }
  return {
    upstream,
    tokens,
    clock,
    ...plainTraffic(clock),
    identifiers: { next: () => 'c' },
    observer: {
      callEnded: (record) => void records.push(record),
      overcounted: (record) => void overcounts.push(record),
      undercounted: (record) => void undercounts.push(record),
      requestEnded: () => {},
    },
    limits: { ...defaultLimits, ...limits },
    catalog: () => ({ models: new Map([[model.id, model]]), retired: new Map(), projects: [] }),
    yieldLoop: () => Promise.resolve(),
    ...money,
  }
}

/** One node's journey in memory whose requests share: a real cache, real flights, real batches, and a ledger to read afterwards. */
import { RequestTrace } from '#core/request/request-trace.ts'
import { setImmediate as yieldLoop } from 'node:timers/promises'
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import { identityOf } from '#core/content/content.ts'
import type { Input } from '#core/embedding/input.ts'
import type { EmbeddingRequest } from '#core/embedding/request.ts'
import { defaultLimits, type Limits } from '#core/settings.ts'
import type { Key } from '#ports/keys.ts'
import type { EmbeddingUpstream } from '#ports/upstream.ts'
import type { VectorCache } from '#ports/vector-cache.ts'
import { type EmbedResult } from '#request/embeddings/embed-result.ts'
import { embed, type EmbedDependencies, type EmbedOptions } from '#request/embeddings/embed.ts'
import { MicroBatches } from '#request/embeddings/micro-batch.ts'
import type { CallGuard } from '#request/embeddings/outside.ts'
import { Flights, type SharingRules } from '#request/embeddings/shared-vectors.ts'
import { MemoryLedgerStore } from '#test/support/stores/ledger-store.ts'
import { MemoryLedger } from '#test/support/stores/ledger.ts'
import { MemoryVectorCache } from '#stores/memory/vector-cache.ts'
import { systemClock } from '#runtime/clock.ts'
import { aDispatch } from './dispatch.ts'
import { memoryTokens } from './embedding.ts'
import { memoryMoney } from './money.ts'
import { aRequest } from './models.ts'

export interface SharingNodeOptions {
  readonly cache?: VectorCache
  readonly maxBytes?: number
  readonly limits?: Partial<Limits>
  /** How a batch waits for company; absent: one round of the event loop. */
  readonly wait?: (ms: number) => Promise<unknown>
  readonly isTrusted?: SharingRules['isTrusted']
  readonly guard?: CallGuard
}

/** Requests change nothing of it except the leases of budgets. */
const money = memoryMoney()
let lastId = 0

/** A UUID of this moment, as far as the ledger can tell. */
function nextId(): string {
  lastId += 1
  return `01990000-0000-7000-8000-${lastId.toString(16).padStart(12, '0')}`
}

export function aKey(project: string, overrides: Partial<Key> = {}): Key {
  return {
    id: `${project}/k`,
    name: 'k',
    project,
    models: undefined,
    expiresAtMs: undefined,
    limits: [],
    budgets: [],
    ...overrides,
  }
}

export class SharingNode {
  readonly clock = { ms: 1000, nowMs: () => this.clock.ms, monotonicMs: () => this.clock.ms }
  readonly memory = new MemoryLedgerStore(systemClock)
  readonly cache: VectorCache
  readonly #model: EmbeddingModel
  readonly #dependencies: EmbedDependencies

  constructor(model: EmbeddingModel, upstream: EmbeddingUpstream, options: SharingNodeOptions = {}) {
    const { limits, wait = () => yieldLoop(), maxBytes = 1e9, isTrusted = () => true } = options
    const { clock } = this
    this.#model = model
    this.cache = options.cache ?? new MemoryVectorCache({ maxBytes, clock })
    const flights = new Flights()
    const batches = new MicroBatches(wait)
    void this.memory.startNode({ id: money.nodeId })
    this.#dependencies = {
      ...money,
      ledger: new MemoryLedger(this.memory, money.nodeId),
      upstream,
      tokens: memoryTokens,
      clock,
      dispatch: aDispatch(clock),
      spaceNow: ({ id }) => ({ model: id, generation: 1 }),
      isQuarantined: () => false,
      identifiers: { next: nextId },
      observer: {
        callEnded: () => {},
        overcounted: () => {},
        undercounted: () => {},
        requestEnded: () => {},
      },
      limits: { ...defaultLimits, ...limits },
      catalog: () => ({ models: new Map([[model.id, model]]), retired: new Map(), projects: [] }),
      yieldLoop: () => Promise.resolve(),
      guard: options.guard,
      sharingOf: (_, request, { project, space, cacheUse }) => ({
        cache: model.cache && { store: this.cache, ttlMs: model.cache.ttlMs },
        mayRead: cacheUse === 'usual',
        mayKeep: cacheUse !== 'none',
        digestsOf: (input) => digestsOf(input, `${project} ${space} ${request.inputType ?? ''} `),
        isTrusted,
        isConfirmed: () => true,
        flights,
        batches,
        microBatch: model.microBatch,
      }),
    }
  }

  async ask(
    request: Partial<EmbeddingRequest>,
    project = 'p',
    options: Partial<EmbedOptions> = {},
  ): Promise<EmbedResult> {
    const outcome = await embed(
      { ...aRequest(request), model: this.#model.id },
      {
        requestId: nextId(),
        key: aKey(project),
        unsupported: undefined,
        pinnedSpace: undefined,
        dryRun: false,
        callerTimeoutMs: undefined,
        cacheUse: 'usual',
        trace: new RequestTrace(0),
        ...options,
      },
      this.#dependencies,
    )
    if (outcome.kind !== 'embedded') throw new Error('a dry run')
    return outcome
  }

  /** The charges of each call's requests, by call, without those served from the cache. */
  paidByCall(): Map<string, { readonly tokens: number; readonly requests: string[] }> {
    const calls = new Map<string, { tokens: number; requests: string[] }>()
    for (const { kind, callId, tokens = 0, requestId, deployment } of this.memory.entries()) {
      if (kind !== 'post' || deployment.endsWith('/cache')) continue
      const call = calls.get(callId) ?? { tokens: 0, requests: [] }
      call.tokens += tokens
      call.requests.push(requestId)
      calls.set(callId, call)
    }
    return calls
  }
}

/** In the open, so that a wrong one can be read. */
function digestsOf(input: Input, prefix: string): readonly string[] {
  return input.kind === 'texts'
    ? input.texts.map((text) => `${prefix}text ${text}`)
    : input.kind === 'tokens'
      ? input.tokens.map((ids) => `${prefix}tokens ${ids.join()}`)
      : input.contents.map((content) => `${prefix}content ${identityOf(content)}`)
}

/**
 * `POST /v1/embeddings`, taken before the framework's router because it is the hot lane; the other spellings of the path
 * come here from the router. Everything one request does at the listener is in this file, in order.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readEmbeddingRequest, type EmbeddingRequest } from '#core/embedding/request.ts'
import type { PathModel } from '#core/request/path-model.ts'
import { inputCount } from '#core/embedding/input.ts'
import type { Fault } from '#core/fault/fault.ts'
import type { LargeJson } from '#ports/json.ts'
import type { Key, KeyDirectory } from '#ports/keys.ts'
import type { RequestTrace } from '#ports/observer.ts'
import { authenticate } from '#request/access/authenticate.ts'
import {
  type CacheUse,
  embed,
  type DryRun,
  type EmbedDependencies,
  type Embedded,
} from '#request/embeddings/embed.ts'
import { toFault } from '../../faults.ts'
import {
  clientRequestId,
  isDryRun,
  refuseEncoded,
  secondsOf,
  singleOf,
  unsupportedIn,
  writeFault,
} from '../caller/caller.ts'
import { writeEmbeddings } from './answer.ts'
import { presentedKey } from '../caller/presented-key.ts'
import { parseBody, readBody } from '../caller/read-body.ts'

export interface EmbeddingsDependencies extends EmbedDependencies {
  readonly keys: KeyDirectory
  readonly json: LargeJson
  /** Where error pages are served. */
  readonly docsUrl: () => string
}

export type EmbeddingsHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  path?: PathModel,
) => Promise<void>

export function embeddingsHandler(dependencies: EmbeddingsDependencies): EmbeddingsHandler {
  const { clock, identifiers, keys, limits, observer } = dependencies

  return async function serve(request, response, path) {
    const startedMs = clock.monotonicMs()
    const requestId = identifiers.next()
    const { headers } = request
    const trace: RequestTrace = { calls: [] }
    let key: Key | undefined
    let asked: EmbeddingRequest | undefined
    let embedded: Embedded | undefined
    let fault: Fault | undefined
    try {
      const found = authenticate(presentedKey(headers), keys, clock)
      key = found instanceof Promise ? await found : found
      refuseEncoded(request)
      const body = await readBody(request, limits.embeddingsBodyBytes)
      const parsed = parseBody(body, dependencies.json)
      asked = readEmbeddingRequest(parsed instanceof Promise ? await parsed : parsed, limits.maxInputs, path)
      const outcome = await embed(asked, { requestId, key, trace, ...optionsIn(request) }, dependencies)
      if (outcome.kind === 'dry-run') writeDryRun(response, outcome, requestId)
      else {
        embedded = outcome
        await writeEmbeddings(response, outcome, { requestId, asked: asked.model, encoding: asked.encoding })
      }
    } catch (error) {
      fault = toFault(error)
      writeFault(response, fault, requestId, dependencies.docsUrl())
    }
    observer.requestEnded({
      requestId,
      route: 'embeddings',
      status: fault ? fault.entry.status : 200,
      fault: fault?.code,
      cause: fault?.cause,
      clientRequestId: clientRequestId(request),
      project: key?.project,
      key: key?.name,
      keyId: key?.id,
      model: embedded?.model.id ?? (asked && dependencies.catalog().models.get(asked.model)?.id),
      deployment: embedded?.deployments.join() ?? fault?.upstream?.deployment,
      attempts: embedded?.attempts,
      inputs: asked && inputCount(asked.input),
      cache: embedded?.cache,
      promptTokens: embedded?.usage.promptTokens,
      amountNanoUsd: embedded?.usage.cost.kind === 'known' ? embedded.usage.cost.nanoUsd : undefined,
      trace,
      user: asked?.user,
      durationMs: clock.monotonicMs() - startedMs,
    })
  }
}

function optionsIn(request: IncomingMessage): {
  readonly unsupported: 'refuse' | 'drop' | undefined
  readonly pinnedSpace: string | undefined
  readonly dryRun: boolean
  readonly callerTimeoutMs: number | undefined
  readonly cacheUse: CacheUse
} {
  const { headers } = request
  return {
    unsupported: unsupportedIn(request),
    pinnedSpace: singleOf(headers['x-torana-space']),
    dryRun: isDryRun(request),
    cacheUse: cacheUseIn(headers['cache-control']),
    callerTimeoutMs: secondsOf(headers['x-stainless-timeout'] ?? headers['x-stainless-read-timeout']),
  }
}

/** As HTTP has it: `no-cache` wants a new answer, `no-store` wants nothing kept of it either. */
function cacheUseIn(header: string | undefined): CacheUse {
  if (header === undefined) return 'usual'
  const words = new Set(header.split(',').map((word) => word.trim().toLowerCase()))
  if (words.has('no-store')) return 'none'
  return words.has('no-cache') ? 'fresh' : 'usual'
}

function writeDryRun(response: ServerResponse, dryRun: DryRun, requestId: string): void {
  const { model, space, deployments, dropped, maxTokens } = dryRun
  const body = {
    object: 'torana.dry_run',
    model: model.id,
    space,
    max_tokens: maxTokens,
    dropped,
    deployments: deployments.map(({ id, native, emulated, maxCostUsd }) => ({
      id,
      native,
      emulated,
      cost_usd: { min: maxCostUsd === 'unpriced' ? 'unpriced' : '0.000000000', max: maxCostUsd },
    })),
  }
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'x-request-id': requestId })
  response.end(JSON.stringify(body))
}

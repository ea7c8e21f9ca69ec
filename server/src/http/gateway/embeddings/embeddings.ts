/**
 * `POST /v1/embeddings`, handled before the framework's router because it is the hot lane. The other spellings of the path come here
 * from the router. This file holds the steps of an embeddings request, `caller/journey.ts` their order.
 */
import type { IncomingMessage } from 'node:http'
import { idOf } from '#core/catalog/catalog.ts'
import { contentBoundsOf } from '#core/text/json-bounds.ts'
import { inputCount } from '#core/embedding/input.ts'
import { embeddingWire } from '#core/embedding/wire.ts'
import { readEmbeddingRequest, type EmbeddingRequest } from '#core/embedding/request.ts'
import { endNotice } from '#core/catalog/model-end.ts'
import type { Limits } from '#core/settings.ts'
import { TAGS_HEADER, tagsInHeader, withHeaderTags } from '#core/request/labels.ts'
import type { RequestTrace } from '#core/request/request-trace.ts'
import { serverTiming } from '#core/request/server-timing.ts'
import type { LargeJson, ParsedJson } from '#ports/json.ts'
import type { Key } from '#ports/keys.ts'
import type { DryRun } from '#request/embeddings/dry-run.ts'
import { type EmbedResult } from '#request/embeddings/embed-result.ts'
import { embed, type CacheUse, type EmbedDependencies, type EmbedOptions } from '#request/embeddings/embed.ts'
import { isDryRun, secondsOf, singleOf, unsupportedIn, writeFault } from '../caller/caller.ts'
import { costRange, writeDryRun } from '../caller/dry-run.ts'
import { handlerOf, type Journey, type ListenerDependencies, type RequestHandler } from '../caller/journey.ts'
import { gatewayBounds } from '../../gate/bounds.ts'
import { refuseEncoded } from '../../gate/encoding.ts'
import { parseBody } from '../../gate/parse-json.ts'
import { readBody, type ReadingBodyOutside } from '../caller/read-body.ts'
import { writeEmbeddings } from './answer.ts'
import { readContents, type ParsedContents, type ReadingContentsOutside } from './read-contents.ts'
import { readableBy } from './typed-answers.ts'

export interface EmbeddingsDependencies
  extends EmbedDependencies, ListenerDependencies, ReadingBodyOutside, ReadingContentsOutside {
  readonly json: LargeJson
  readonly limits: Limits
}

export function embeddingsHandler(dependencies: EmbeddingsDependencies): RequestHandler {
  const { catalog, clock, docsUrl, json, limits } = dependencies
  const contents = { maxTextBytes: limits.embeddingsBodyBytes, maxFiles: limits.maxInputs }
  const bounds = contentBoundsOf(limits.maxInputs, contents)
  const bodyLimit = gatewayBounds(limits)['POST /embeddings'].json
  return handlerOf<Buffer<ArrayBuffer>, EmbeddingRequest, EmbedResult | DryRun>(
    {
      route: 'embeddings',
      scope: 'embeddings',
      receive(journey, key) {
        refuseEncoded(journey.request)
        return readBody(journey, key, bodyLimit, dependencies)
      },
      read(body, journey, { project }) {
        const { path, request, trace } = journey
        trace.bytesIn = body.length
        const parsed = parseBody(body, json, { project, timeoutMs: limits.requestTimeoutMs }, bounds)
        const asked = ({ value, exact, media }: ParsedJson): EmbeddingRequest | Promise<EmbeddingRequest> =>
          media === undefined
            ? readBy(request, readEmbeddingRequest(value, limits.maxInputs, path, exact))
            : contentsOf({ value, exact, media }, journey, project, dependencies)
        return parsed instanceof Promise ? parsed.then(asked) : asked(parsed)
      },
      run: (asked, key, journey) => embed(asked, optionsOf(key, journey), dependencies),
      write(outcome, { model, encoding }, { response, requestId, trace }) {
        if (outcome.kind === 'embedded')
          return writeEmbeddings(response, outcome, {
            requestId,
            asked: model,
            encoding,
            trace,
            ends: endNotice(outcome.model.end, clock.nowMs),
            timing: dependencies.serverTiming ? serverTiming(trace, clock.monotonicMs()) : undefined,
          })
        writeDryRun(response, requestId, dryRunBody(outcome))
        return undefined
      },
      fail(fault, _asked, { response, requestId, trace }) {
        trace.bytesOut = writeFault(response, fault, requestId, docsUrl())
        return undefined
      },
      fillRecord(record, asked, outcome) {
        const { input, model, user, tags } = asked
        record.inputs = inputCount(input)
        record.user = user
        record.tags = tags
        record.trace.askedModel = model
        if (outcome?.kind !== 'embedded') {
          record.model = idOf(catalog(), model)
          return
        }
        const { usage } = outcome
        record.model = outcome.model.id
        record.deployment = outcome.deployments.join()
        record.attempts = outcome.attempts
        record.cache = outcome.cache
        record.promptTokens = usage.promptTokens
        record.amountNanoUsd = usage.cost.kind === 'known' ? usage.cost.nanoUsd : undefined
        noteAnswer(record.trace, asked, outcome)
      },
    },
    dependencies,
  )
}

async function contentsOf(
  parsed: ParsedContents,
  journey: Journey,
  project: string,
  outside: ReadingContentsOutside,
): Promise<EmbeddingRequest> {
  const { path, request } = journey
  const hold = (media: AsyncDisposable): void => void (journey.media = media)
  const { asked, isOnDisk } = await readContents(parsed, { project, path, hold }, outside)
  if (isOnDisk) journey.room?.[Symbol.dispose]()
  return readBy(request, asked)
}

/** With what its headers add: tags, and a form of typed vectors that its client can read. */
function readBy(request: IncomingMessage, asked: EmbeddingRequest): EmbeddingRequest {
  return readableBy(request.headers, tagged(asked, request))
}

function tagged(asked: EmbeddingRequest, { headers }: IncomingMessage): EmbeddingRequest {
  const header = headers[TAGS_HEADER]
  if (header === undefined) return asked
  return { ...asked, tags: withHeaderTags(asked.tags, tagsInHeader(header)) }
}

/** What the log says of an answer besides what metrics count. */
function noteAnswer(trace: RequestTrace, asked: EmbeddingRequest, result: EmbedResult): void {
  trace.space = result.space
  trace.width = result.width
  trace.encoding = asked.encoding
  trace.usage = result.usage.source
  trace.isUnpriced = result.usage.cost.kind === 'unpriced'
  trace.emulated = result.emulated
  trace.dropped = result.dropped
  if (result.emulated.length > 0 || result.dropped.length > 0) trace.wire = embeddingWire(asked, result)
}

function optionsOf(key: Key, { request, response, requestId, trace, counted }: Journey): EmbedOptions {
  const { headers } = request
  return {
    requestId,
    key,
    caller: response,
    trace,
    counted,
    unsupported: unsupportedIn(request),
    pinnedSpace: singleOf(headers['x-torana-space']),
    dryRun: isDryRun(request),
    cacheUse: cacheUseIn(headers),
    callerTimeoutMs: secondsOf(headers['x-stainless-timeout'] ?? headers['x-stainless-read-timeout']),
  }
}

/** As HTTP defines it: `no-cache` asks for a new answer, `no-store` also forbids keeping it. */
function cacheUseIn({ 'cache-control': header }: IncomingMessage['headers']): CacheUse {
  if (header === undefined) return 'usual'
  const words = new Set(header.split(',').map((word) => word.trim().toLowerCase()))
  if (words.has('no-store')) return 'none'
  return words.has('no-cache') ? 'fresh' : 'usual'
}

function dryRunBody({ model, space, deployments, dropped, maxTokens, tokens, areCounted }: DryRun) {
  return {
    model: model.id,
    space,
    tokens,
    token_counts: areCounted ? 'exact' : 'estimated',
    max_tokens: maxTokens,
    dropped,
    deployments: deployments.map(({ id, priority, native, emulated, likelyCostUsd, maxCostUsd }) => ({
      id,
      priority,
      native,
      emulated,
      cost_usd: { ...costRange(maxCostUsd), likely: likelyCostUsd },
    })),
  }
}

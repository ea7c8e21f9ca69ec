/** Providers that can be connected, and a look at what an upstream offers before it is kept. */
import { z } from 'zod'
import type { Catalog, Upstream } from '#core/catalog/catalog.ts'
import type { OfferedModel } from '#core/catalog/offer.ts'
import { addressOf } from '#core/catalog/upstream-address.ts'
import { UpstreamFailure, type FailureKind } from '#core/fault/failure.ts'
import type { FaultCode } from '#core/fault/fault.ts'
import { embeddingAbilities, narrowerWidths } from '#core/options/embedding.ts'
import { imageAbilities } from '#core/options/image.ts'
import type { StoredEntry } from '#ports/stored-configuration.ts'
import { notFound } from '../shared/faults.ts'
import { listOf } from '../shared/fields.ts'
import { upstreamName } from '../shared/model-fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { priceBody, priceText } from '../shared/price-text.ts'
import { route, type Api } from '../shared/route.ts'
import { addressFields, declaredEntry, entryOf, newSecret, usable } from './rules.ts'

const provider = z
  .object({
    id: z.string().describe('What `provider` is in torana.yaml.'),
    name: z.string(),
    dialect: z.string(),
    base_url: z
      .string()
      .nullable()
      .describe('Its published address. null: give one, or its package knows it.'),
    embedding_models: z.int(),
    image_models: z.int(),
  })
  .meta({ id: 'Provider' })

const providerList = listOf(provider).meta({ id: 'ProviderList' })

const upstreamQuestion = z
  .strictObject({
    ...addressFields,
    upstream: upstreamName
      .optional()
      .describe('Instead of all others: one that exists, with its own credential.'),
    secret: newSecret.optional(),
  })
  .meta({ id: 'UpstreamQuestion', examples: [{ provider: 'openai', secret: 'sk-…' }] })

const checkedModel = z.object({
  id: z.string(),
  kind: z.enum(['embedding', 'image']).nullable(),
  known: z.boolean().describe('false: say what it is when you add it.'),
  price: z.array(priceText),
  as_of: z.string().nullable().describe('The day on which the list price was read.'),
  width: z.int().nullable(),
  narrower: z.union([z.enum(['any', 'none']), z.array(z.int())]).nullable(),
  can: z.record(z.string(), z.enum(['native', 'emulated'])),
  served: z
    .string()
    .nullable()
    .describe('Where it is declared already: `torana.yaml:14`, `store`, `built-in`.'),
})

export const checked = z
  .object({
    ok: z.boolean(),
    duration_ms: z.number(),
    fault: z.object({ code: z.string(), message: z.string() }).nullable(),
    listed: z
      .boolean()
      .describe('false: this kind of upstream has no list. The models are those that Torana knows of it.'),
    models: z.array(checkedModel),
  })
  .meta({ id: 'Checked' })

export function registerProviders(api: Api, { knownProviders }: Pick<ControlNode, 'knownProviders'>): void {
  route(api, 'GET /providers', {
    permission: 'upstreams.read',
    id: 'listProviders',
    summary: 'The providers and server families that Torana has built-in facts about',
    answer: providerList,
    needsStore: false,
    handler: async () => ({
      data: knownProviders().map(({ baseUrl, embeddingModels, imageModels, ...one }) => ({
        ...one,
        base_url: baseUrl ?? null,
        embedding_models: embeddingModels,
        image_models: imageModels,
      })),
      has_more: false,
    }),
  })
}

export function registerUpstreamCheck(api: Api, node: ControlNode): void {
  const { declaredCatalog, configuration, credentials, tryUpstream, modelListing, clock } = node

  const storedEntry = async (name: string): Promise<StoredEntry | undefined> =>
    (await configuration.read()).find((one) => one.object === 'upstream' && one.name === name)?.entry

  const check = async (
    name: string,
    entry: StoredEntry,
    apiKey: string | undefined,
  ): Promise<z.output<typeof checked>> => {
    const { upstream, offer } = usable(tryUpstream(name, apiKey === undefined ? entry : { ...entry, apiKey }))
    const startedMs = clock.monotonicMs()
    const outcome = await modelListing.list(upstream).catch((error: unknown) => {
      if (error instanceof UpstreamFailure) return error
      throw error
    })
    const duration = { duration_ms: Math.round(clock.monotonicMs() - startedMs) }
    if (outcome instanceof UpstreamFailure)
      return { ok: false, ...duration, fault: faultOf(outcome, upstream), listed: false, models: [] }
    const ids = outcome.kind === 'listed' ? outcome.ids : undefined
    const models = offer(ids).map((one) => offeredBody(one, declaredCatalog()))
    return { ok: true, ...duration, fault: null, listed: ids !== undefined, models }
  }

  route(api, 'POST /upstreams/check', {
    permission: 'upstreams.write',
    id: 'checkUpstream',
    summary: 'Ask an upstream for its models, with their list prices. Nothing is kept',
    body: upstreamQuestion,
    answer: checked,
    faults: [404],
    handler: async ({ body }) => {
      const { upstream: name, secret, ...fields } = body
      if (name === undefined) return check('check', entryOf(fields), secret)
      const known = declaredCatalog().upstreams?.get(name)
      if (known === undefined) throw notFound(`There is no upstream ${name}.`)
      // A declared upstream takes precedence over one of the store with the same name: all of it, or nothing of it.
      const entry = known.managedBy === 'store' ? await storedEntry(name) : declaredEntry(known.upstream)
      if (entry === undefined) throw notFound(`There is no upstream ${name}.`)
      if (secret !== undefined) return check(name, entry, secret)
      const address = addressOf(usable(tryUpstream(name, entry)).upstream)
      return check(name, entry, known.upstream.apiKey ?? (await credentials.open(name, address)))
    },
  })
}

/** A check sends no inputs, so whether they would be split does not matter. */
const ANY_NUMBER = 1

function offeredBody({ id, model, asOf }: OfferedModel, catalog: Catalog): z.output<typeof checkedModel> {
  const served = catalog.models.get(id)?.managedBy ?? null
  if (model === undefined)
    return {
      id,
      kind: null,
      known: false,
      price: [],
      as_of: null,
      width: null,
      narrower: null,
      can: {},
      served,
    }
  const {
    kind,
    deployments: [deployment],
  } = model
  const price = deployment === undefined ? [] : priceBody(deployment.price)
  const common = { id, kind, known: true, price, as_of: asOf ?? null, served }
  if (model.kind === 'image') return { ...common, width: null, narrower: null, can: imageAbilities(model) }
  const narrower = narrowerWidths(model)
  return {
    ...common,
    width: model.facts.dimensions,
    narrower: typeof narrower === 'string' ? narrower : [...narrower],
    can: embeddingAbilities(model, ANY_NUMBER),
  }
}

/** Where to look when an upstream does not answer. */
const HINT = 'Check the address, and that this node may connect to it: DNS, firewall, proxy.'

/** Code of each failure, and the rest of a sentence that begins with the name of the upstream. */
const FAILURES: Readonly<Record<FailureKind, readonly [FaultCode, string]>> = {
  refused: ['upstream_refused', 'refused the question for its models.'],
  contentRefused: ['upstream_refused', 'refused the question for its models.'],
  rejectedUs: [
    'upstream_rejected_us',
    'refused the key. Check that it is whole, and that it may list models.',
  ],
  missing: [
    'upstream_model_missing',
    'has no list of models at this address. Check the path: most servers want /v1 at its end.',
  ],
  rateLimited: ['upstream_rate_limited', 'has had too many calls. Try again in a minute.'],
  failed: ['upstream_failed', 'failed. Try again.'],
  unreachable: ['upstream_unreachable', 'could not be reached'],
  timedOut: ['upstream_timeout', `did not answer in time. ${HINT}`],
  broken: [
    'upstream_broken_answer',
    'answered with something that is no list of models. Is this the address of its API?',
  ],
}

/** In our own words, because the text of an upstream may hold anything. The cause of `unreachable` comes from this node's network. */
function faultOf({ kind, reason: cause, detail: { status } }: UpstreamFailure, asked: Upstream) {
  const [code, words] = FAILURES[kind]
  const sentence = `${hostOf(asked)} ${words}`
  if (kind === 'unreachable') return { code, message: `${sentence}: ${cause}. ${HINT}` }
  return { code, message: status === undefined ? sentence : `${sentence} (status ${status})` }
}

/** The provider where only its package knows the address. */
function hostOf({ baseUrl, provider }: Upstream): string {
  return URL.parse(baseUrl ?? '')?.host || (provider ?? 'The upstream')
}

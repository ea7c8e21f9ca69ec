/** The catalogue of facts and prices in force, and signed feeds of newer ones: compared, pulled and pinned. */
import { z } from 'zod'
import { chosenSequence } from '#core/feed/choice.ts'
import { MAX_FEED_BYTES } from '#core/feed/document.ts'
import type { VectorChange } from '#core/feed/effects.ts'
import { Fault } from '#core/fault/fault.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import type { FeedState, PinnedTo } from '#ports/catalog-feed.ts'
import type { FeedPreview, VerifiedFeed } from '#ports/feed-work.ts'
import { actorIn } from '../shared/caller.ts'
import { invalidField, notFound } from '../shared/faults.ts'
import { storable, time } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { route, type Api } from '../shared/route.ts'
import { isoOf } from '../shared/times.ts'
import { ledgerRateOf } from './bill-rules.ts'
import { catalogDiff, changeBodies, priceChangeBodies } from './diff-rules.ts'
import { countOld, deploymentFacts, factsInUse } from './fact-rules.ts'
import { billsOf } from './queries.ts'

/** Problems or changed facts in one message. The diff lists all. */
const MAX_SHOWN = 10
const URL_CHARACTERS = 2000
const NAME_CHARACTERS = 200

const pinnedTo = z.union([z.int().min(1), z.literal('built-in')])

const storedFeed = z
  .object({
    sequence: z.int(),
    made_on: z.string(),
    digest: z.string().describe('SHA-256 of the document as it is signed.'),
    key: z.string().describe('The id of the key that signed it.'),
    source: z.string(),
    pulled_by: z.string(),
    pulled_at: time,
  })
  .meta({ id: 'CatalogFeed' })

const catalogState = z
  .object({
    sequence: z.int().describe('Of the catalogue in force.'),
    made_on: z.string(),
    from: z.enum(['built-in', 'feed']),
    pinned: pinnedTo.nullable().describe('null: the newest counts.'),
    built_in: z.object({ sequence: z.int(), made_on: z.string() }),
    url: z.string().nullable().describe('`catalog.url` of torana.yaml.'),
    feeds: z.array(storedFeed).describe('What is stored, the newest first.'),
  })
  .meta({ id: 'CatalogState' })

const catalog = z
  .object({
    ...catalogState.shape,
    data: z.array(deploymentFacts).describe('Where the facts about each deployment come from.'),
    old_facts: z.int().describe('How many of them were read more than 120 days ago.'),
  })
  .meta({ id: 'Catalog' })

const source = {
  url: storable(URL_CHARACTERS).optional().describe('Default: `catalog.url` of torana.yaml.'),
  feed: z.string().max(MAX_FEED_BYTES).optional().describe('The text of a feed, instead of a URL.'),
  name: storable(NAME_CHARACTERS).optional().describe('The file that `feed` comes from, for the audit.'),
}
const accept = {
  accept_vector_changes: z
    .boolean()
    .default(false)
    .describe('Whether facts that decide vectors of models in use may change.'),
}
const to = z
  .union([z.int().min(1), z.enum(['built-in', 'latest'])])
  .describe(
    'The sequence of a stored feed, the catalogue of the program, or the newest, now and from now on.',
  )

const diffBody = z
  .strictObject({ ...source, to: to.optional().describe('Compares with a stored catalogue instead.') })
  .meta({ id: 'CatalogDiffRequest', examples: [{ url: 'https://example.com/catalog.json' }] })
const pullBody = z
  .strictObject({ ...source, ...accept })
  .meta({ id: 'CatalogPull', examples: [{ url: 'https://example.com/catalog.json' }] })
const pinBody = z.strictObject({ to, ...accept }).meta({ id: 'CatalogPin', examples: [{ to: 'built-in' }] })

const changedCatalog = z
  .object({ ...catalogState.shape, changed: z.boolean().describe('false: it was so already.') })
  .meta({ id: 'ChangedCatalog' })

type CatalogNode = Pick<
  ControlNode,
  'catalog' | 'clock' | 'feeds' | 'feedWork' | 'refreshCatalog' | 'reports'
>

export function registerCatalog(api: Api, node: CatalogNode): void {
  const { feeds, feedWork, clock } = node

  route(api, 'GET /catalog', {
    permission: 'prices.read',
    id: 'getCatalog',
    summary: 'The catalogue of facts and prices in force, where it comes from and how old its facts are',
    answer: catalog,
    handler: async () => {
      const data = factsInUse(node.catalog(), clock.nowMs())
      return { ...stateBody(await feeds.state(), feedWork), data, old_facts: countOld(data) }
    },
  })

  route(api, 'POST /catalog/diff', {
    permission: 'prices.read',
    id: 'compareCatalog',
    summary: 'What a feed would change, and what the last 30 days would have cost at its prices',
    body: diffBody,
    answer: catalogDiff,
    faults: [502],
    handler: async ({ body }) => {
      if (body.to !== undefined) return diffOf(node, await storedTarget(node, body.to))
      const { feed } = await feedIn(node, body)
      return diffOf(node, { ...feed, key: feed.keyId })
    },
  })

  registerChanges(api, node)
}

function registerChanges(api: Api, node: CatalogNode): void {
  const { feeds, feedWork, refreshCatalog } = node

  route(api, 'POST /catalog/pull', {
    permission: 'models.write',
    id: 'pullCatalog',
    summary:
      'Put a feed in force on all nodes. What torana.yaml and the store declare takes precedence over it',
    body: pullBody,
    answer: changedCatalog,
    faults: [409, 502],
    handler: async (request) => {
      const { feed, from } = await feedIn(node, request.body)
      const before = await feeds.state()
      if (isStored(before, feed)) return { ...stateBody(before, feedWork), changed: false }
      refuseStale(feed, feedWork.builtIn.sequence, before)
      refuseUnfit(await feedWork.preview(feed.document), request.body.accept_vector_changes)
      const { isChanged, state } = await feeds
        .add({ ...feed, source: from }, actorIn(request))
        .catch(refuseAsStale)
      await refreshCatalog()
      return { ...stateBody(state, feedWork), changed: isChanged }
    },
  })

  route(api, 'POST /catalog/pin', {
    permission: 'models.write',
    id: 'pinCatalog',
    summary: 'Put a stored catalogue in force on all nodes, and keep it until further notice',
    body: pinBody,
    answer: changedCatalog,
    faults: [404, 409],
    handler: async (request) => {
      const { document, pinned } = await storedTarget(node, request.body.to)
      refuseUnfit(await feedWork.preview(document), request.body.accept_vector_changes)
      const { isChanged, state } = await feeds.pin(pinned, actorIn(request))
      await refreshCatalog()
      return { ...stateBody(state, feedWork), changed: isChanged }
    },
  })
}

/** A catalogue that can be compared with the one in force. */
interface Target {
  readonly sequence: number
  readonly madeOn: string
  readonly key: string | null
  /** Undefined: that of the program. */
  readonly document: string | undefined
}

async function diffOf(
  { clock, feedWork, reports }: CatalogNode,
  { sequence, madeOn, key, document }: Target,
): Promise<z.output<typeof catalogDiff>> {
  const preview = await feedWork.preview(document)
  const rated = preview.priceChanges.map((change) => {
    const { rate, problem } = ledgerRateOf(change)
    return { deployment: change.deployment, rate, problem }
  })
  const bills = rated.length === 0 ? new Map() : await billsOf(reports, rated, clock)
  return {
    from: feedWork.usedSequence(),
    to: sequence,
    made_on: madeOn,
    key,
    ...changeBodies(preview, clock.nowMs()),
    price_changes: priceChangeBodies(preview.priceChanges, bills),
  }
}

async function feedIn(
  { feedWork }: CatalogNode,
  { url, feed, name }: z.output<typeof pullBody> | z.output<typeof diffBody>,
): Promise<{ readonly feed: VerifiedFeed; readonly from: string }> {
  if (feed !== undefined) return { feed: feedWork.verify(feed), from: name ?? 'a file' }
  const from = url ?? feedWork.defaultUrl()
  if (from === undefined)
    throw invalidField('Send `url` or `feed`, or write catalog.url in torana.yaml.', 'url')
  return { feed: feedWork.verify(await feedWork.download(from)), from }
}

async function storedTarget(
  { feeds, feedWork }: CatalogNode,
  wanted: z.output<typeof to>,
): Promise<Target & { readonly pinned: PinnedTo | undefined }> {
  const { sequence, madeOn } = feedWork.builtIn
  const pinned = wanted === 'latest' ? undefined : wanted
  const state = await feeds.state()
  const chosen = chosenSequence({ ...state, pinned }, sequence)
  if (chosen === undefined) return { sequence, madeOn, key: null, document: undefined, pinned }
  const stored = state.feeds.find((one) => one.sequence === chosen)
  const document = stored && (await feeds.document(chosen))
  if (stored === undefined || document === undefined)
    throw notFound(`No catalogue with the sequence ${chosen} is stored.`)
  return { sequence: chosen, madeOn: stored.madeOn, key: stored.keyId, document, pinned }
}

function isStored({ feeds }: FeedState, { sequence, digest }: VerifiedFeed): boolean {
  return feeds.some((one) => one.sequence === sequence && one.digest === digest)
}

function refuseStale({ sequence }: VerifiedFeed, builtIn: number, { feeds, pinned }: FeedState): void {
  const newest = Math.max(builtIn, ...feeds.map((one) => one.sequence))
  if (sequence <= newest)
    throw new Fault(
      'catalog_feed_stale',
      `The feed has the sequence ${sequence}, and ${newest} is ${newest === builtIn ? 'in this version of Torana' : 'stored'} already. To go back to a stored one: torana catalog pin <sequence>.`,
    )
  if (pinned !== undefined)
    throw new ChangeRefused(
      'in-use',
      `The catalogue is pinned to ${pinned}. Let the newest count again first: torana catalog pin latest.`,
    )
}

/** Another admin pulled at the same moment. */
function refuseAsStale(error: unknown): never {
  if (error instanceof ChangeRefused && error.reason === 'exists')
    throw new Fault('catalog_feed_stale', error.message, { cause: error })
  throw error
}

function refuseUnfit({ problems, lostModels, vectorChanges }: FeedPreview, isAccepted: boolean): void {
  const lost = lostModels.map(
    (id) =>
      `${id} would no longer be served: remove it from torana.yaml, or write its kind and what it can do`,
  )
  if (problems.length + lost.length > 0)
    throw new Fault(
      'catalog_feed_unfit',
      `The catalogue does not fit this configuration: ${someOf([...problems, ...lost])}`,
    )
  if (vectorChanges.length > 0 && !isAccepted)
    throw new Fault(
      'catalog_vector_changes',
      `The catalogue changes what decides vectors of models in use: ${someOf(vectorChanges.map(vectorWords))}. Declare these facts in torana.yaml to keep them, or accept the change with accept_vector_changes (--accept-vector-changes).`,
    )
}

function vectorWords({ model, deployment, fact, before, after }: VectorChange): string {
  return `${fact} of ${deployment ?? model} from ${JSON.stringify(before ?? null)} to ${JSON.stringify(after ?? null)}`
}

function someOf(texts: readonly string[]): string {
  const more = texts.length - MAX_SHOWN
  return texts.slice(0, MAX_SHOWN).join('; ') + (more > 0 ? `; and ${more} more` : '')
}

function stateBody(state: FeedState, work: CatalogNode['feedWork']): z.output<typeof catalogState> {
  const { builtIn } = work
  const chosen = chosenSequence(state, builtIn.sequence)
  const stored = state.feeds.find((one) => one.sequence === chosen)
  return {
    sequence: chosen ?? builtIn.sequence,
    made_on: stored?.madeOn ?? builtIn.madeOn,
    from: chosen === undefined ? 'built-in' : 'feed',
    pinned: state.pinned ?? null,
    built_in: { sequence: builtIn.sequence, made_on: builtIn.madeOn },
    url: work.defaultUrl() ?? null,
    feeds: state.feeds.map((one) => ({
      sequence: one.sequence,
      made_on: one.madeOn,
      digest: one.digest,
      key: one.keyId,
      source: one.source,
      pulled_by: one.by,
      pulled_at: isoOf(one.atMs),
    })),
  }
}

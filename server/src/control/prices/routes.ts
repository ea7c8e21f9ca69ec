/** What each deployment costs and who says so. A price can be set here where torana.yaml has none. */
import { z } from 'zod'
import { listModels, type Model } from '#core/catalog/catalog.ts'
import { isOldFact } from '#core/catalog/fact-age.ts'
import { priceFormOf } from '#core/money/price-form.ts'
import { actorIn } from '../shared/caller.ts'
import { saveConfiguration } from '../shared/configuration.ts'
import { withPrice } from '../shared/configuration-change.ts'
import { conflict, invalidField, notFound } from '../shared/faults.ts'
import { givenTime, storable } from '../shared/fields.ts'
import { priceForm } from '../shared/model-fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { priceBody, priceText } from '../shared/price-text.ts'
import { route, type Api } from '../shared/route.ts'
import { DAY_MS, isoOf } from '../shared/times.ts'
import { listPriceChanges, priceChange, unpricedRequests } from './queries.ts'

const NAME_CHARACTERS = 400
/** Price changes in one answer: a chart can't show more marks apart. */
const MAX_CHANGES = 500
const DEFAULT_SPAN_MS = 30 * DAY_MS

const price = z
  .object({
    deployment: z.string(),
    model: z.string(),
    kind: z.enum(['embedding', 'image']),
    price: priceForm,
    text: z.array(priceText),
    from: z
      .enum(['configuration', 'store', 'catalog', 'none'])
      .describe('`configuration`: torana.yaml decides, and the price is changed there.'),
    managed_at: z.string().nullable().describe('Such as `torana.yaml:88`.'),
    as_of: z.string().nullable().describe('The day of a price of the catalog, or on which it was set.'),
    is_old: z.boolean().describe('A price of the catalogue that was read more than 120 days ago.'),
    source: z.string().nullable().describe('Where a price of the catalog was read.'),
    set_by: z.string().nullable().describe('Who set it here.'),
    unpriced_requests_30d: z.int().describe('Calls of the last 30 days that no sum of dollars holds.'),
  })
  .meta({ id: 'Price' })

/** The answer to a change of a price, built from what was committed: counts come from reports, which may be busy. */
const changedPrice = price.omit({ unpriced_requests_30d: true }).meta({ id: 'ChangedPrice' })

export const priceList = z
  .object({ data: z.array(price), has_more: z.literal(false), next: z.null() })
  .meta({ id: 'PriceList' })

const pricePath = z.object({ deployment: storable(NAME_CHARACTERS).min(1) })

const givenPrice = z
  .strictObject({ price: priceForm })
  .meta({ id: 'GivenPrice', examples: [{ price: { usdPerMillionTokens: '0.02' } }] })

const changesQuery = z.object({
  from: givenTime.optional().describe('Default: 30 days before `to`.'),
  to: givenTime.optional().describe('Default: now.'),
})

export const changeList = z
  .object({ data: z.array(priceChange), has_more: z.boolean(), next: z.null() })
  .meta({ id: 'PriceChangeList' })

type Deployment = Model['deployments'][number]
type PricedDeployment = Pick<Deployment, 'id' | 'price' | 'priceFrom'>

export function registerPrices(api: Api, node: ControlNode): void {
  const { catalog, configuration, prices, readPrice, refreshCatalog, reports, clock } = node
  const deployments = () =>
    listModels(catalog()).flatMap((model) =>
      model.deployments.map((deployment: Deployment) => ({ model, deployment })),
    )
  const found = (id: string) => {
    const one = deployments().find(({ deployment }) => deployment.id === id)
    if (one === undefined) throw notFound(`There is no deployment ${id}.`)
    return one
  }
  const changeable = (id: string) => {
    const one = found(id)
    const { priceFrom } = one.deployment
    if (priceFrom?.from === 'configuration')
      throw conflict(`The price of ${id} stands in ${priceFrom.at}. Change it there.`)
    return one
  }

  route(api, 'GET /prices', {
    permission: 'prices.read',
    id: 'listPrices',
    summary: 'What each deployment costs and who says so, those without a price first',
    answer: priceList,
    handler: async () => {
      const unpriced = await unpricedRequests(reports, clock.nowMs())
      const rows = deployments().map(({ model, deployment }) => ({
        ...priceOf(model, deployment, clock.nowMs()),
        unpriced_requests_30d: unpriced.get(deployment.id) ?? 0,
      }))
      const rankOf = ({ from, unpriced_requests_30d: calls }: z.output<typeof price>): number =>
        from === 'none' ? 0 : calls > 0 ? 1 : 2
      return {
        data: rows.toSorted((left, right) => rankOf(left) - rankOf(right)),
        has_more: false as const,
        next: null,
      }
    },
  })

  route(api, 'PUT /prices/:deployment', {
    permission: 'prices.write',
    id: 'setPrice',
    summary: 'Set what a deployment costs, where torana.yaml says nothing. It counts from now on',
    params: pricePath,
    body: givenPrice,
    answer: changedPrice,
    faults: [409],
    handler: async (request) => {
      const id = request.params.deployment
      const { model, deployment } = changeable(id)
      const { price: read, problem } = readPrice(model.kind, request.body.price)
      if (read === undefined) throw invalidField(`price: ${problem}`, 'price')
      const actor = actorIn(request)
      const form = priceFormOf(read)
      if (deployment.managedBy === 'store') {
        const change = withPrice(await configuration.read(), model, id, form)
        if (change !== undefined) await saveConfiguration(node, [change], actor)
      } else await prices.set(id, form, priceFormOf(deployment.price), actor)
      await refreshCatalog()
      const priceFrom = { from: 'store', by: actor.name, atMs: clock.nowMs() } as const
      return priceOf(model, { id, price: read, priceFrom }, clock.nowMs())
    },
  })

  route(api, 'DELETE /prices/:deployment', {
    permission: 'prices.write',
    id: 'forgetPrice',
    summary: 'Take back a price that was set here. The price of the catalog counts again, if it has one',
    params: pricePath,
    answer: changedPrice,
    faults: [409],
    handler: async (request) => {
      const id = request.params.deployment
      const { model: of, deployment: one } = changeable(id)
      const change =
        one.managedBy === 'store' ? withPrice(await configuration.read(), of, id, undefined) : undefined
      if (change === undefined) await prices.forget(id, actorIn(request))
      else await saveConfiguration(node, [change], actorIn(request))
      await refreshCatalog()
      const { model, deployment } = found(id)
      return priceOf(model, deployment, clock.nowMs())
    },
  })

  registerPriceChanges(api, node)
}

function registerPriceChanges(api: Api, { reports, clock }: Pick<ControlNode, 'reports' | 'clock'>): void {
  route(api, 'GET /price-changes', {
    permission: 'prices.read',
    id: 'listPriceChanges',
    summary: 'When the price of a deployment changed, and who changed it',
    query: changesQuery,
    answer: changeList,
    handler: async ({ query: { from, to } }) => {
      const endMs = to === undefined ? clock.nowMs() : Date.parse(to)
      const fromMs = from === undefined ? endMs - DEFAULT_SPAN_MS : Date.parse(from)
      if (fromMs >= endMs) throw invalidField('`from` must be before `to`.', 'from')
      const changes = await listPriceChanges(reports, { fromMs, endMs }, MAX_CHANGES + 1)
      return { data: changes.slice(0, MAX_CHANGES), has_more: changes.length > MAX_CHANGES, next: null }
    },
  })
}

function priceOf(
  model: Model,
  { id, price: own, priceFrom }: PricedDeployment,
  nowMs: number,
): z.output<typeof changedPrice> {
  return {
    deployment: id,
    model: model.id,
    kind: model.kind,
    price: priceFormOf(own),
    text: priceBody(own),
    from: own.kind === 'unpriced' ? 'none' : (priceFrom?.from ?? 'none'),
    managed_at: priceFrom?.from === 'configuration' ? priceFrom.at : null,
    as_of: asOf(priceFrom),
    is_old: priceFrom?.from === 'catalog' && isOldFact(priceFrom.asOf, nowMs),
    source: priceFrom?.from === 'catalog' ? (priceFrom.source ?? null) : null,
    set_by: priceFrom?.from === 'store' ? priceFrom.by : null,
  }
}

function asOf(from: Deployment['priceFrom']): string | null {
  if (from?.from === 'store') return isoOf(from.atMs).slice(0, 10)
  return from?.from === 'catalog' ? (from.asOf ?? null) : null
}

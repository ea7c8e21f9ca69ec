/** Routes about prices: what each deployment costs, who says so, and setting what nobody says. */
import type { z } from 'zod'
import { listModels, type Catalog, type Model } from '#core/catalog.ts'
import { priceFormOf, type PriceForm } from '#core/price-form.ts'
import type { PriceText } from '#core/price-text.ts'
import type { ImagePrice, Price } from '#core/price.ts'
import type { Actor } from '#ports/audit.ts'
import type { PriceReader } from '#ports/prices.ts'
import { faultAnswers } from '../../fault-answers.ts'
import { actorIn } from '../access/caller.ts'
import { conflict, invalidField, notFound } from '../wire/faults.ts'
import { priceBody } from '../wire/price-text.ts'
import type { Api } from '../wire/route.ts'
import { isoOf } from '../wire/times.ts'
import {
  changedPrice,
  changeList,
  changesQuery,
  givenPrice,
  priceList,
  pricePath,
  type price,
} from './schemas.ts'

export interface PricesDependencies {
  readonly prices: {
    /** With the prices of the store. */
    readonly catalog: () => Catalog
    /** What a form means, or what is wrong with it. */
    readonly readPrice: (
      kind: Model['kind'],
      form: unknown,
    ) => { readonly price?: Price | ImagePrice | undefined; readonly problem?: string | undefined }
    /** Resolves when this node reckons with it. */
    readonly set: (deployment: string, form: PriceForm, before: PriceForm, actor: Actor) => Promise<void>
    readonly forget: (deployment: string, actor: Actor) => Promise<void>
  }
  readonly priceReports: PriceReader
  readonly nowMs: () => number
}

type Deployment = Model['deployments'][number]
interface Found {
  readonly model: Model
  readonly deployment: Deployment
}

/** Marks on the axis of a picture: more can't be told apart. */
const MOST_CHANGES = 500
const DEFAULT_MS = 30 * 86_400_000

export function registerPrices(api: Api, dependencies: PricesDependencies): void {
  const { prices, priceReports, nowMs } = dependencies
  const found = (id: string): Found => {
    const all = everyDeployment(prices.catalog())
    const one = all.find(({ deployment }) => deployment.id === id)
    if (one === undefined) throw notFound(`There is no deployment ${id}.`)
    return one
  }
  const changeable = (id: string): Found => {
    const one = found(id)
    const { priceFrom } = one.deployment
    if (priceFrom?.from === 'configuration')
      throw conflict(`The price of ${id} stands in ${priceFrom.at}. Change it there.`)
    return one
  }

  api.get('/prices', {
    config: { permission: 'prices.read' },
    schema: {
      operationId: 'listPrices',
      summary: 'What each deployment costs and who says so, those without a price first',
      response: { 200: priceList, ...faultAnswers([401, 403, 503]) },
    },
    handler: async () => {
      const unpriced = await priceReports.unpriced()
      const rows = everyDeployment(prices.catalog()).map(({ model, deployment }) => ({
        ...changedRow(model, deployment),
        unpriced_requests_30d: unpriced.get(deployment.id) ?? 0,
      }))
      const isPriced = ({ from, unpriced_requests_30d: calls }: Row): number =>
        from === 'none' ? 0 : calls > 0 ? 1 : 2
      return {
        data: rows.toSorted((left, right) => isPriced(left) - isPriced(right)),
        has_more: false as const,
        next: null,
      }
    },
  })

  api.put('/prices/:deployment', {
    config: { permission: 'prices.write' },
    schema: {
      operationId: 'setPrice',
      summary: 'Set what a deployment costs, where torana.yaml says nothing. It counts from now on',
      params: pricePath,
      body: givenPrice,
      response: { 200: changedPrice, ...faultAnswers([400, 401, 403, 404, 409, 503]) },
    },
    handler: async (request) => {
      const id = request.params.deployment
      const { model, deployment } = changeable(id)
      const { price: read, problem } = prices.readPrice(model.kind, request.body.price)
      if (read === undefined) throw invalidField(`price: ${problem ?? 'is not a price'}`, 'price')
      const actor = actorIn(request)
      await prices.set(id, priceFormOf(read), priceFormOf(deployment.price), actor)
      return changedRow(model, {
        id,
        price: read,
        priceFrom: { from: 'store', by: actor.name, atMs: nowMs() },
      })
    },
  })

  api.delete('/prices/:deployment', {
    config: { permission: 'prices.write' },
    schema: {
      operationId: 'forgetPrice',
      summary: 'Take back a price that was set here. The price of the catalog counts again, if it has one',
      params: pricePath,
      response: { 200: changedPrice, ...faultAnswers([401, 403, 404, 409, 503]) },
    },
    handler: async (request) => {
      const id = request.params.deployment
      changeable(id)
      await prices.forget(id, actorIn(request))
      const { model, deployment } = found(id)
      return changedRow(model, deployment)
    },
  })
  registerPriceChanges(api, dependencies)
}

function registerPriceChanges(api: Api, { priceReports, nowMs }: PricesDependencies): void {
  api.get('/price-changes', {
    config: { permission: 'prices.read' },
    schema: {
      operationId: 'listPriceChanges',
      summary: 'When the price of a deployment changed, and who changed it',
      querystring: changesQuery,
      response: { 200: changeList, ...faultAnswers([400, 401, 403, 503]) },
    },
    handler: async ({ query }) => {
      const endMs = query.to === undefined ? nowMs() : Date.parse(query.to)
      const fromMs = query.from === undefined ? endMs - DEFAULT_MS : Date.parse(query.from)
      if (fromMs >= endMs) throw invalidField('`from` must be before `to`.', 'from')
      const changes = await priceReports.changes({ fromMs, endMs, limit: MOST_CHANGES + 1 })
      return {
        data: changes.slice(0, MOST_CHANGES).map(({ atMs, deployment, before, after, by }) => ({
          at: isoOf(atMs),
          deployment,
          before: before.map(textBody),
          after: after.map(textBody),
          by,
        })),
        has_more: changes.length > MOST_CHANGES,
        next: null,
      }
    },
  })
}

type Row = z.output<typeof price>

type PricedDeployment = Pick<Deployment, 'id' | 'price' | 'priceFrom'>

function changedRow(
  model: Model,
  { id, price: own, priceFrom }: PricedDeployment,
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
    source: priceFrom?.from === 'catalog' ? (priceFrom.source ?? null) : null,
    set_by: priceFrom?.from === 'store' ? priceFrom.by : null,
  }
}

function asOf(from: Deployment['priceFrom']): string | null {
  if (from?.from === 'store') return isoOf(from.atMs).slice(0, 10)
  return from?.from === 'catalog' ? (from.asOf ?? null) : null
}

function textBody({ amount, unit, note }: PriceText): Row['text'][number] {
  return { amount, unit, note: note ?? null }
}

function everyDeployment(catalog: Catalog): readonly Found[] {
  return listModels(catalog).flatMap((model) =>
    model.deployments.map((deployment: Deployment) => ({ model, deployment })),
  )
}

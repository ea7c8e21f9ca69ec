/** Requests to a catalog, decided by the real rules: what is asked for, which deployments can serve it, who gets the call, what it costs. */
import { idOf, listModels, type Catalog, type Model } from '#core/catalog/catalog.ts'
import { negotiate } from '#core/embedding/negotiate.ts'
import { readEmbeddingRequest } from '#core/embedding/request.ts'
import { Fault } from '#core/fault/fault.ts'
import { maxRequestCost } from '#core/image/expected-cost.ts'
import { negotiateImages } from '#core/image/negotiate.ts'
import { readImageRequest } from '#core/image/request.ts'
import { costOf, costText } from '#core/money/price.ts'
import type { CallEnd } from '#core/schedule/deployment.ts'
import { Scheduler, type Schedulable } from '#core/schedule/scheduler.ts'
import { seeded } from '#test/support/seeded.ts'

/** One line per request: equal lines are equal behaviour. */
export function decisions(catalog: Catalog, requests: number, seed: number): readonly string[] {
  const random = seeded(seed)
  const one = <Value>(of: readonly Value[]): Value => of[Math.floor(random() * of.length)] as Value
  const names = [...catalog.models.keys(), 'no-such-model'].toSorted()
  const keys = catalog.projects
    .flatMap(({ name, keys: own }) => own.map((key) => ({ project: name, ...key })))
    .toSorted((a, b) => (`${a.project}/${a.name}` < `${b.project}/${b.name}` ? -1 : 1))
  const scheduler = new Scheduler({ nodes: () => 1 })
  let nowMs = 0
  return Array.from({ length: requests }, () => {
    nowMs += random() * 2000
    const name = one(names)
    const key = keys.length === 0 ? undefined : one(keys)
    const model = catalog.models.get(name)
    const asked = {
      dimensions: one([undefined, 8, 256]),
      encoding: one(['float', 'base64']),
      extra: one([{}, { task: 'x' }]),
    }
    const image = { size: one(['1024x1024', 'auto', '512x512']), n: one([1, 3]) }
    const [draw, spare, outcome, tokens] = [random(), random(), random(), Math.floor(random() * 5000)]
    const who = key === undefined ? '-' : `${key.project}/${key.name} ${mayUse(key, catalog, name)}`
    if (model === undefined) return `${name} by ${who}: ${idOf(catalog, name) ?? 'unknown'}`
    try {
      const { offers, costs, rest } = offersFor(model, asked, image, tokens)
      const draws = [draw, spare]
      const picked = scheduler.pick(offers, {
        nowMs,
        random: () => draws.shift() ?? 0.5,
        project: key?.project ?? 'none',
        tokens,
        images: image.n,
      })
      if (picked.kind !== 'go') return `${model.id} by ${who}: ${picked.kind}`
      const { deployment } = picked.offer
      picked.end(endOf(outcome), nowMs + outcome * 900)
      return `${model.id} by ${who}: ${deployment.id} ${outcome} ${costs.get(deployment.id)} ${rest}`
    } catch (error) {
      if (error instanceof Fault) return `${model.id} by ${who}: ${error.code} ${error.message}`
      throw error
    }
  })
}

function endOf(outcome: number): CallEnd {
  if (outcome < 0.75) return { kind: 'ok', durationMs: 20 + outcome * 900 }
  if (outcome < 0.9) return { kind: 'failed', durationMs: outcome * 900 }
  return outcome < 0.95 ? { kind: 'limited', retryAfterMs: 5000 } : { kind: 'rejectedUs' }
}

function mayUse(
  { models }: { readonly models?: readonly string[] | undefined },
  catalog: Catalog,
  name: string,
): string {
  const id = idOf(catalog, name)
  return models === undefined || (id !== undefined && models.includes(id)) ? 'may' : 'may not'
}

interface Offers {
  readonly offers: readonly Schedulable[]
  readonly costs: ReadonlyMap<string, string>
  /** What else decides how the request is served. */
  readonly rest: string
}

function offersFor(
  model: Model,
  asked: { readonly dimensions: number | undefined; readonly encoding: string; readonly extra: object },
  image: { readonly size: string; readonly n: number },
  tokens: number,
): Offers {
  if (model.kind === 'image') {
    const request = readImageRequest({ model: model.id, prompt: 'a gate', ...image }, { maxImages: 10 })
    const { offers } = negotiateImages(request, model, model.unsupported)
    const costs = new Map(
      offers.map((offer) => [offer.deployment.id, costText(maxRequestCost(request, model, offer))]),
    )
    return { offers, costs, rest: JSON.stringify(offers.map(({ perCall, size }) => [perCall, size])) }
  }
  const { dimensions, encoding, extra } = asked
  const body = {
    model: model.id,
    input: 'hello',
    ...(dimensions && { dimensions }),
    encoding_format: encoding,
    ...extra,
  }
  const { offers } = negotiate(readEmbeddingRequest(body, 2048), model, model.unsupported)
  const costs = new Map(
    offers.map(({ deployment }) => [deployment.id, costText(costOf(deployment.price, tokens))]),
  )
  const { cache, microBatch, attemptTimeoutMs, isGuarded } = model
  const rest = JSON.stringify([
    cache,
    microBatch,
    attemptTimeoutMs,
    isGuarded,
    offers.map(({ width }) => width),
  ])
  return { offers, costs, rest }
}

/** What a catalog means, without where each part of it was declared. */
export function meaningOf(catalog: Catalog): unknown {
  const plain = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value, (name, part: unknown) => {
        if (name === 'managedBy' || name === 'managedAt' || name === 'priceFrom') return undefined
        if (name === 'source' && /^(torana\.yaml:\d+|store)$/.test(String(part))) return undefined
        if (part instanceof Map) return [...part].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
        return typeof part === 'bigint' ? `${part}n` : part
      }) ?? 'null',
    )
  return plain({
    models: listModels(catalog).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    names: [...catalog.models]
      .map(([name, { id }]) => [name, id])
      .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    upstreams: [...(catalog.upstreams ?? [])]
      .map(([, { upstream }]) => upstream)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    retired: [...catalog.retired.keys()].toSorted(),
    projects: catalog.projects
      .map((project) => ({ ...project, keys: project.keys.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  })
}

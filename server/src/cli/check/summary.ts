/** What a configuration declares, in tables. */
import { editsText, imagePriceText, sizesText } from '#config/schema/image-words.ts'
import { displayName } from '#config/load.ts'
import { listModels } from '#core/catalog/catalog.ts'
import type {
  Catalog,
  ConfiguredBudget,
  ConfiguredLimits,
  Deployment,
  EmbeddingModel,
  ImageDeployment,
  ImageModel,
  NativeDimensions,
} from '#core/catalog/catalog.ts'
import { priceTextOf } from '#core/money/price-text.ts'
import { dollars, type Price } from '#core/money/price.ts'
import type { Settings } from '#core/settings.ts'
import { table } from '../command/table.ts'

export function summary(settings: Settings, catalog: Catalog): string {
  const models = listModels(catalog)
  const keys = catalog.projects.flatMap((project) => project.keys).length + (settings.bootstrapKey ? 1 : 0)
  const name =
    settings.configFile === undefined ? 'No torana.yaml; built in' : displayName(settings.configFile)
  const embeddings = models.filter((model) => model.kind === 'embedding')
  const images = models.filter((model) => model.kind === 'image')
  const deployments = models.flatMap<unknown>((model) => model.deployments).length
  return [
    `${name}: ${count(models.length, 'model')}, ${count(deployments, 'deployment')}, ${count(keys, 'key')}.`,
    '',
    ...(embeddings.length > 0 ? embeddingLines(embeddings) : []),
    ...(images.length > 0 ? imageLines(images) : []),
    ...routingLines(models),
    ...projectLines(catalog),
  ].join('\n')
}

function embeddingLines(models: readonly EmbeddingModel[]): string[] {
  const head = [
    'model',
    'deployment',
    'upstream model',
    'width',
    'float',
    'base64',
    'dimensions',
    'token ids',
  ]
  return [
    table([
      [...head, '$/M tokens'],
      ...models.flatMap((model) => model.deployments.map((deployment) => embeddingRow(model, deployment))),
    ]),
    'native: the upstream does it; emulated: Torana does it; refused: the caller gets a 400; dropped: Torana leaves it out, because of `unsupported: drop`.',
    '',
  ]
}

function embeddingRow(model: EmbeddingModel, deployment: Deployment): string[] {
  const { capabilities, price } = deployment
  const encoding = (name: 'float' | 'base64') =>
    capabilities.encodings.includes(name) ? 'native' : 'emulated'
  return [
    ...whereCells(model, deployment),
    String(model.facts.dimensions),
    encoding('float'),
    encoding('base64'),
    dimensionsText(model, capabilities.dimensions),
    capabilities.tokenArrays ? 'native' : model.facts.tokenizer === 'none' ? 'refused' : 'emulated',
    embeddingPriceText(price),
  ]
}

/** `0.02`, or for a model with prices by kind of part `0.2, 0.45 image`: the first is that of text. */
function embeddingPriceText(price: Price): string {
  if (price.kind === 'free' || price.kind === 'unpriced') return price.kind
  return priceTextOf(price)
    .flatMap(({ amount, note }) => [amount, note ?? ''])
    .filter((text) => text !== '')
    .join(', ')
}

function imageLines(models: readonly ImageModel[]): string[] {
  const head = [
    'image model',
    'deployment',
    'upstream model',
    'sizes',
    'quality',
    'background',
    'formats',
    'n',
  ]
  return [
    table([
      [...head, 'edits', 'stream', '$'],
      ...models.flatMap((model) => model.deployments.map((deployment) => imageRow(model, deployment))),
    ]),
    'The table shows what the upstream does itself. Torana adds: more than n images by several calls, conversion between png, jpeg and webp, b64_json and url, and streams.',
    '',
  ]
}

function imageRow(model: ImageModel, deployment: ImageDeployment): string[] {
  const { sizes, qualities, backgrounds, formats, maxImages, edits, stream } = deployment.capabilities
  return [
    ...whereCells(model, deployment),
    sizesText(sizes),
    qualities.join(' ') || '–',
    backgrounds.join(' ') || '–',
    formats.join(' '),
    String(maxImages),
    editsText(edits),
    stream ? 'native' : 'emulated',
    imagePriceText(deployment.price),
  ]
}

function whereCells(
  model: EmbeddingModel | ImageModel,
  { id, upstream, upstreamModel }: Deployment | ImageDeployment,
): string[] {
  return [[model.id, ...model.aliases].join(' = '), id, `${upstreamModel} (${upstream.dialect})`]
}

function dimensionsText({ facts, unsupported }: EmbeddingModel, native: NativeDimensions): string {
  const other = facts.matryoshka ? 'emulated' : unsupported === 'drop' ? 'dropped' : 'refused'
  if (native.kind === 'none') return other
  const range = native.kind === 'range' ? `${native.min}–${native.max}` : native.values.join(' ')
  return native.kind === 'range' && native.min === 1 ? 'native' : `native ${range}, else ${other}`
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}

/** Which deployment is asked first, and how often; what is shared. Left out where nothing is said. */
function routingLines(models: readonly (EmbeddingModel | ImageModel)[]): string[] {
  const rows = models.flatMap((model) =>
    model.deployments.map((one: Deployment | ImageDeployment) => [
      one.id,
      String(one.priority),
      String(one.weight),
      limitsText(one.limits ?? {}),
      model.kind === 'embedding' && model.cache !== undefined ? `${model.cache.ttlMs / 1000} s` : '–',
      model.kind === 'embedding' && model.microBatch !== undefined ? batchText(model.microBatch) : '–',
    ]),
  )
  return [
    table([['deployment', 'priority', 'weight', 'limits', 'cache', 'micro-batch'], ...rows]),
    'The lowest priority is asked first. Deployments of one priority share calls by their weights.',
    '',
  ]
}

function batchText({
  maxWaitMs,
  maxItems,
  acrossProjects,
}: NonNullable<EmbeddingModel['microBatch']>): string {
  return `${maxItems} texts, ${maxWaitMs} ms${acrossProjects ? ', across projects' : ''}`
}

/** Keys never with their secrets. */
function projectLines({ projects }: Catalog): string[] {
  const rows = projects.flatMap(({ name, keys, limits, budget, webhooks = [] }) => [
    [
      name,
      '',
      '',
      limitsText(limits ?? {}),
      budgetText(budget),
      webhooks.map(({ url }) => url).join(', ') || '–',
    ],
    ...keys.map((key) => [
      '',
      key.name,
      key.models?.join(', ') ?? 'all',
      limitsText(key.limits ?? {}),
      budgetText(key.budget),
      '',
    ]),
  ])
  if (rows.length === 0) return []
  return [table([['project', 'key', 'models', 'limits', 'budget', 'webhooks'], ...rows])]
}

function limitsText(limits: ConfiguredLimits & { readonly concurrency?: number | undefined }): string {
  const { requestsPerMinute, tokensPerMinute, imagesPerMinute, concurrency } = limits
  const parts = [
    ...(requestsPerMinute === undefined ? [] : [`${requestsPerMinute} requests/min`]),
    ...(tokensPerMinute === undefined ? [] : [`${tokensPerMinute} tokens/min`]),
    ...(imagesPerMinute === undefined ? [] : [`${imagesPerMinute} images/min`]),
    ...(concurrency === undefined ? [] : [`${concurrency} at once`]),
  ]
  return parts.join(', ') || '–'
}

function budgetText(budget: ConfiguredBudget | undefined): string {
  if (budget === undefined) return '–'
  const window = budget.per === 'total' ? 'in total' : `a ${budget.per}`
  return `${dollars(budget.limitNanoUsd)} ${window}${budget.hard ? ', hard' : ''}`
}

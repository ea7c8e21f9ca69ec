/** Everything that is wrong with a configuration, or what it means. */
import { readEnvironment } from '#config/environment.ts'
import { editsText, imagePriceText, sizesText } from '#config/schema/image-words.ts'
import { readText } from '#config/file/variable.ts'
import { displayName, loadCatalog } from '#config/load.ts'
import type { LoadedConfig } from '#config/load.ts'
import { ConfigError } from '#config/file/problem.ts'
import { listModels } from '#core/catalog.ts'
import type {
  Catalog,
  Deployment,
  EmbeddingModel,
  ImageDeployment,
  ImageModel,
  NativeDimensions,
  Upstream,
} from '#core/catalog.ts'
import { usdText } from '#core/price.ts'
import type { Settings } from '#core/settings.ts'
import { settingsProblem } from '#upstreams/ai-sdk/settings.ts'
import type { Output } from '../command/output.ts'
import { table } from '../command/table.ts'

export function checkConfiguration(file: string | undefined, out: Output): number {
  const env = file === undefined ? process.env : { ...process.env, TORANA_CONFIG: file }
  const problems: string[] = []
  /** Notes what is wrong and goes on, so that one run tells of environment and file. */
  function attempt<Value>(step: () => Value): Value | undefined {
    try {
      return step()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems.filter((problem) => !problems.includes(problem)))
      return undefined
    }
  }
  const settings =
    attempt(() => readEnvironment(env, process.cwd(), readText)) ??
    attempt(() => readEnvironment({ TORANA_CONFIG: env['TORANA_CONFIG'] }, process.cwd(), readText))
  const loaded = settings && attempt(() => loadCatalog(settings, env))
  problems.push(...(loaded ? settingsProblems(loaded.catalog) : []))
  for (const warning of loaded?.warnings ?? []) out.stderr.write(`${warning} (warning)\n`)
  for (const problem of problems) out.stderr.write(`${problem}\n`)
  if (!settings || !loaded || problems.length > 0) {
    out.stderr.write(`\n${problems.length} problem${problems.length === 1 ? '' : 's'}\n`)
    return 1
  }
  out.stdout.write(summary(settings, loaded))
  return 0
}

/** Packages look at their settings only when they are first called; an operator wants to know before. */
function settingsProblems(catalog: Catalog): string[] {
  const deployments = listModels(catalog).flatMap<{ readonly id: string; readonly upstream: Upstream }>(
    (model) => model.deployments,
  )
  const problems = deployments
    .filter(({ upstream }) => upstream.dialect === 'ai-sdk')
    .map(settingsProblem)
    .filter((problem) => problem !== undefined)
  return [...new Set(problems)]
}

function summary(settings: Settings, { catalog }: LoadedConfig): string {
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
    price.kind === 'perToken' ? usdText(price.nanoUsdPerMillionTokens) : price.kind,
  ]
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

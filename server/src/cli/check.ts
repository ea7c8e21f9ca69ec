/** `torana check [file]`: says everything that is wrong with the configuration, or what it means. */
import { readEnvironment } from '#config/environment.ts'
import { displayName, loadCatalog, readText } from '#config/load.ts'
import type { Loaded } from '#config/load.ts'
import { ConfigError } from '#config/problem.ts'
import { listModels } from '#core/catalog.ts'
import type { Catalog, Deployment, Model, NativeDimensions } from '#core/catalog.ts'
import type { Price } from '#core/price.ts'
import type { Settings } from '#core/settings.ts'
import { settingsProblem } from '#upstreams/ai-sdk/settings.ts'
import type { Output } from './output.ts'

export async function run(argv: string[], out: Output): Promise<number> {
  const [file] = argv
  if (argv.length > 1 || file?.startsWith('-')) {
    out.stderr.write('usage: torana check [file]\n')
    return 2
  }
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
  const deployments = listModels(catalog).flatMap((model) => model.deployments)
  const problems = deployments
    .filter(({ upstream }) => upstream.dialect === 'ai-sdk')
    .map(settingsProblem)
    .filter((problem) => problem !== undefined)
  return [...new Set(problems)]
}

function summary(settings: Settings, { catalog }: Loaded): string {
  const models = listModels(catalog)
  const keys = catalog.projects.flatMap((project) => project.keys).length + (settings.bootstrapKey ? 1 : 0)
  const name =
    settings.configFile === undefined ? 'No torana.yaml; built in' : displayName(settings.configFile)
  const rows = models.flatMap((model) => model.deployments.map((deployment) => row(model, deployment)))
  return [
    `${name}: ${count(models.length, 'model')}, ${count(rows.length, 'deployment')}, ${count(keys, 'key')}.`,
    '',
    ...table([
      [
        'model',
        'deployment',
        'upstream model',
        'width',
        'float',
        'base64',
        'dimensions',
        'token ids',
        '$/M tokens',
      ],
      ...rows,
    ]),
    '',
    'native: the upstream does it; emulated: Torana does it; refused: callers get 400; dropped: left out, as `unsupported: drop` says.',
    '',
  ].join('\n')
}

function row(model: Model, { id, upstream, upstreamModel, capabilities, price }: Deployment): string[] {
  const encoding = (name: 'float' | 'base64') =>
    capabilities.encodings.includes(name) ? 'native' : 'emulated'
  return [
    [model.id, ...model.aliases].join(' = '),
    id,
    `${upstreamModel} (${upstream.dialect})`,
    String(model.facts.dimensions),
    encoding('float'),
    encoding('base64'),
    dimensionsText(model, capabilities.dimensions),
    capabilities.tokenArrays ? 'native' : model.facts.tokenizer === 'none' ? 'refused' : 'emulated',
    priceText(price),
  ]
}

function dimensionsText({ facts, unsupported }: Model, native: NativeDimensions): string {
  const other = facts.matryoshka ? 'emulated' : unsupported === 'drop' ? 'dropped' : 'refused'
  if (native.kind === 'none') return other
  const range = native.kind === 'range' ? `${native.min}–${native.max}` : native.values.join(' ')
  return native.kind === 'range' && native.min === 1 ? 'native' : `native ${range}, else ${other}`
}

function priceText(price: Price): string {
  if (price.kind !== 'perToken') return price.kind
  const digits = price.nanoUsdPerMillionTokens.toString().padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

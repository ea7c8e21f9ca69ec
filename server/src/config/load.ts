/** Environment and torana.yaml → what the node serves. */
import { relative } from 'node:path'
import type { Catalog } from '#core/catalog/catalog.ts'
import { startsLikeOurs } from '#core/keys/key.ts'
import { defaultLimits } from '#core/settings.ts'
import type { CorsSettings, LedgerSettings, Limits, PlaygroundSettings, Settings } from '#core/settings.ts'
import { buildCatalog } from './build/build.ts'
import type { AdditionBase, BuildInput } from './build/build.ts'
import { extendCatalog, type ConfigAddition, type ExtendedCatalog } from './build/additions.ts'
import { builtInFacts, type Facts } from './build/facts.ts'
import { ConfigError, plainReport } from './file/problem.ts'
import type { Report } from './file/problem.ts'
import { configFile } from './schema/schema.ts'
import type { ConfigFile } from './schema/schema.ts'
import { validate } from './file/validate.ts'
import { lookUpFilled, readText, reasonOf } from './file/variable.ts'
import type { Environment, ReadFile } from './file/variable.ts'
import { parseSource } from './file/yaml.ts'

/** A configuration in plain values, which can come from another thread. */
export interface PlainConfig {
  readonly catalog: Catalog
  readonly limits: Limits
  /** Undefined: no page may. */
  readonly cors: CorsSettings | undefined
  readonly playground: PlaygroundSettings
  readonly ledger: LedgerSettings
  readonly warnings: readonly string[]
  readonly base: AdditionBase
  /** The content of the file. Undefined: there is none. */
  readonly text: string | undefined
}

export interface LoadedConfig extends PlainConfig {
  /** The catalog with upstreams and models of the store beside those of the configuration, which come first. */
  readonly extend: (additions: readonly ConfigAddition[]) => ExtendedCatalog
}

/** Parts that are read once, at the start. */
type LatePart = 'limits' | 'cors' | 'playground' | 'ledger'

/** Why parts of a changed configuration are not in force yet. */
export function lateChanges(
  before: Pick<PlainConfig, LatePart>,
  now: Pick<PlainConfig, LatePart>,
): readonly string[] {
  const names = {
    limits: 'limits',
    cors: 'origins of cors',
    playground: 'limits of the playground',
    ledger: 'settings of the ledger',
  } as const satisfies Record<LatePart, string>
  return Object.entries(names)
    .filter(([part]) => {
      const of = part as keyof typeof names
      return JSON.stringify(before[of]) !== JSON.stringify(now[of])
    })
    .map(([, name]) => `changed ${name} take effect at the next start`)
}

/** The context in which a configuration is read. */
export interface Surroundings {
  readonly env: Environment
  readonly readFile: ReadFile
  readonly facts: Facts
  readonly bootstrapKey: string | undefined
  readonly nowMs: number
}

/** The settings that locate the configuration. */
export type LoadSettings = Pick<Settings, 'configFile' | 'openaiApiKey' | 'bootstrapKey'>

/** Throws a `ConfigError` with every problem there is. */
export function loadCatalog(settings: LoadSettings, env: Environment): LoadedConfig {
  const surroundings: Surroundings = {
    env,
    readFile: readText,
    facts: builtInFacts(),
    bootstrapKey: settings.bootstrapKey,
    nowMs: Date.now(),
  }
  if (settings.configFile === undefined) return readNothing(settings.openaiApiKey, surroundings)
  const name = displayName(settings.configFile)
  let text: string
  try {
    text = readText(settings.configFile)
  } catch (error) {
    throw new ConfigError([`${name}: can't be read (${reasonOf(error)})`])
  }
  return readConfig(name, text, surroundings)
}

/** The content of a torana.yaml; `name` is its name in problems. */
export function readConfig(name: string, text: string, surroundings: Surroundings): LoadedConfig {
  const source = parseSource(name, text, (variable) =>
    lookUpFilled(variable, surroundings.env, surroundings.readFile),
  )
  const valid = source.data === undefined ? undefined : validate(configFile, source)
  if (!valid) throw new ConfigError(source.report.problems())
  const declared = { upstreams: keysOf(source.data, 'upstreams'), models: keysOf(source.data, 'models') }
  return finish({ file: valid.value, declared, report: valid.report, ...surroundings }, text)
}

/** Without a file: the demo models, and OpenAI's once there is a key for them. */
export function readNothing(openaiApiKey: string | undefined, surroundings: Surroundings): LoadedConfig {
  const upstreams: NonNullable<ConfigFile['upstreams']> = { demo: { dialect: 'demo' } }
  const models: NonNullable<ConfigFile['models']> = {}
  const add = (id: string, upstream: string, aliases: string[]) => {
    const deployments = [{ upstream, priority: 0, weight: 1 }]
    models[id] = { aliases, unsupported: 'refuse', deployments }
  }
  const addAll = (provider: string) => {
    const known = surroundings.facts.get(provider)?.models ?? {}
    for (const [id, { aliases }] of Object.entries(known)) add(id, provider, aliases)
  }
  const report = reportOnNothing()
  if (openaiApiKey && startsLikeOurs(openaiApiKey)) {
    report.warning(
      ['OPENAI_API_KEY'],
      "holds a key of Torana, so it is not used and sent nowhere, and OpenAI's models are not added. In this terminal the variable is for the key of OpenAI: unset it, or set that key",
    )
  } else if (openaiApiKey) {
    upstreams['openai'] = { provider: 'openai', apiKey: openaiApiKey }
    addAll('openai')
  }
  addAll('demo')
  const declared = { upstreams: Object.keys(upstreams), models: Object.keys(models) }
  return finish({ file: { upstreams, models }, declared, report, ...surroundings })
}

function finish(input: BuildInput, text?: string): LoadedConfig {
  const catalog = buildCatalog(input)
  const problems = input.report.problems()
  if (problems.length > 0) throw new ConfigError(problems)
  const { file, declared, facts, nowMs } = input
  const { limits, cors, playground, ledger, upstreams, models, retired } = file
  const base = { file: { upstreams, models, retired }, declared, nowMs }
  return extendable(
    {
      catalog,
      limits: limits ?? defaultLimits,
      cors: cors ?? undefined,
      playground: playground ?? {},
      ledger: ledger ?? { keepDays: 'forever' },
      warnings: input.report.warnings(),
      base,
      text,
    },
    facts,
  )
}

export function extendable(config: PlainConfig, facts: Facts): LoadedConfig {
  const { catalog, base } = config
  return { ...config, extend: (additions) => extendCatalog(catalog, additions, { ...base, facts }) }
}

/** There is no file to point into. */
function reportOnNothing(): Report {
  return plainReport('built-in')
}

/** As one would type it: relative when it is below the working directory. */
export function displayName(file: string): string {
  const short = relative(process.cwd(), file)
  return short === '' || short.startsWith('..') ? file : short
}

function keysOf(data: unknown, section: string): string[] {
  const entries =
    data !== null && typeof data === 'object' ? (data as Record<string, unknown>)[section] : undefined
  return entries !== null && typeof entries === 'object' ? Object.keys(entries) : []
}

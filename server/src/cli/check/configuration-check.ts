/** Everything that is wrong with a configuration, and what it means. */
import { createHash } from 'node:crypto'
import { readEnvironment } from '#config/environment.ts'
import { ConfigError } from '#config/file/problem.ts'
import { readText, type Environment } from '#config/file/variable.ts'
import { unknownVariables } from '#config/unknown-variables.ts'
import { loadCatalog, type LoadedConfig } from '#config/load.ts'
import { listModels, upstreamsOf, type Catalog, type Upstream } from '#core/catalog/catalog.ts'
import type { Settings } from '#core/settings.ts'
import { accessProblem } from '#upstreams/contents/access.ts'
import { settingsProblem } from '#upstreams/openai/provider-settings.ts'

export interface CheckedConfiguration {
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
  /** Undefined: it could not be read. */
  readonly read: { readonly settings: Settings; readonly loaded: LoadedConfig } | undefined
}

interface CheckOptions {
  readonly file: string | undefined
  /** False: variables need not be set, as where a repository of configurations is checked. */
  readonly usesEnvironment: boolean
}

export function checkConfiguration({ file, usesEnvironment }: CheckOptions): CheckedConfiguration {
  const given: Environment = usesEnvironment ? process.env : onlyConfig(process.env)
  const env = file === undefined ? given : { ...given, TORANA_CONFIG: file }
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
    attempt(() => readEnvironment(onlyConfig(env), process.cwd(), readText))
  const loaded = settings && attempt(() => loadCatalog(settings, usesEnvironment ? env : everyVariable()))
  const ignored = usesEnvironment ? unknownVariables(env, settings?.configFile) : []
  if (settings === undefined || loaded === undefined) return { problems, warnings: ignored, read: undefined }
  problems.push(...settingsProblems(loaded.catalog))
  const warnings = [...ignored, ...loaded.warnings, ...callerWarnings(settings, loaded.catalog)]
  return {
    problems,
    warnings: usesEnvironment ? [...warnings, ...credentialWarnings(loaded.catalog)] : warnings,
    read: { settings, loaded },
  }
}

function onlyConfig(env: Environment): Environment {
  return { TORANA_CONFIG: env['TORANA_CONFIG'] }
}

/** Each variable has a value of its own that could be a key or an address; regions and locations go by their names. */
function everyVariable(): Environment {
  const valueOf = (name: string): string => {
    if (name.includes('REGION')) return 'us-east-1'
    if (name.includes('LOCATION')) return 'us-central1'
    return `https://${createHash('sha256').update(name).digest('hex').slice(0, 40)}.invalid`
  }
  return new Proxy<Environment>(
    {},
    { get: (_, name) => (typeof name === 'string' && !name.endsWith('_FILE') ? valueOf(name) : undefined) },
  )
}

/** Wires look at their settings only when they are first called; an operator wants to know before. */
function settingsProblems(catalog: Catalog): string[] {
  const problems = listModels(catalog).flatMap((model) =>
    model.kind === 'embedding'
      ? model.deployments.map((deployment) =>
          deployment.capabilities.contents === undefined
            ? packageProblem(deployment)
            : accessProblem(deployment),
        )
      : model.deployments.map(packageProblem),
  )
  return [...new Set(problems.filter((problem) => problem !== undefined))]
}

function packageProblem(deployment: {
  readonly id: string
  readonly upstream: Upstream
}): string | undefined {
  return deployment.upstream.dialect === 'ai-sdk' ? settingsProblem(deployment) : undefined
}

function callerWarnings({ configFile, bootstrapKey }: Settings, { projects }: Catalog): string[] {
  // Without a file, a first start makes a key of its own.
  if (configFile === undefined || bootstrapKey !== undefined) return []
  if (projects.some(({ keys }) => keys.length > 0)) return []
  return [
    'projects: no key is declared, so requests are refused until there is one in the store: torana keys create <project>/<name>',
  ]
}

/** Servers of one's own often need none, and packages of clouds find theirs on the machine. */
const HOSTED = /^https:/

function credentialWarnings(catalog: Catalog): string[] {
  const lacks = ({ dialect, baseUrl, apiKey, headers }: Upstream): boolean =>
    (dialect === 'openai' || dialect === 'azure') &&
    apiKey === undefined &&
    Object.keys(headers).length === 0 &&
    HOSTED.test(baseUrl ?? '')
  return upstreamsOf(catalog)
    .filter(lacks)
    .map(
      ({ name }) =>
        `upstreams.${name}: has no apiKey, so calls go without a credential unless the store has one: torana credentials set ${name}`,
    )
}

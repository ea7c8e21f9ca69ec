/**
 * An upstream's settings as the packages take them. Everything is passed: what is left out the packages look
 * up by themselves.
 */
import type { Upstream } from '#core/catalog/catalog.ts'
import { settingsOf } from '#core/catalog/stored-upstream.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'

/** A deployment of either kind. */
interface Deployment {
  readonly id: string
  readonly upstream: Upstream
}

interface CommonSettings {
  readonly apiKey: string
  readonly headers: Record<string, string>
  readonly fetch: typeof globalThis.fetch
  readonly baseURL?: string
}

export function commonSettings(deployment: Deployment, fetch: typeof globalThis.fetch): CommonSettings {
  const { upstream } = deployment
  refuseUnknown(deployment)
  if (!upstream.apiKey) throw missing(deployment, 'apiKey')
  return { ...connectionOf(upstream, fetch), apiKey: upstream.apiKey }
}

/** What is wrong with a deployment's settings, before any call; undefined when nothing is visible from here. */
export function settingsProblem(deployment: Deployment): string | undefined {
  const settings = { 'amazon-bedrock': bedrockSettings, 'google-vertex': vertexSettings }
  const read = settings[deployment.upstream.provider as keyof typeof settings] ?? commonSettings
  try {
    read(deployment, globalThis.fetch)
    return undefined
  } catch (error) {
    if (error instanceof UpstreamFailure) return error.message
    throw error
  }
}

/** A bearer key, or the credentials that sign each request. */
export function bedrockSettings(deployment: Deployment, fetch: typeof globalThis.fetch) {
  const { upstream } = deployment
  refuseUnknown(deployment)
  const { modelFamily = 'titan' } = upstream.settings
  if (modelFamily !== 'titan' && modelFamily !== 'cohere' && modelFamily !== 'nova') {
    throw wrong(deployment, 'settings.modelFamily is not titan, cohere or nova')
  }
  const settings = { ...connectionOf(upstream, fetch), ...optional(deployment, 'sessionToken') }
  if (upstream.apiKey && upstream.baseUrl) return { ...settings, apiKey: upstream.apiKey }
  const region = required(deployment, 'region')
  if (upstream.apiKey) return { ...settings, region, apiKey: upstream.apiKey }
  return {
    ...settings,
    region,
    // Empty rather than undefined, which makes the package sign requests.
    apiKey: '',
    accessKeyId: required(deployment, 'accessKeyId'),
    secretAccessKey: required(deployment, 'secretAccessKey'),
  }
}

/** An API key (express mode), or a project whose access tokens Google's own auth library fetches. */
export function vertexSettings(deployment: Deployment, fetch: typeof globalThis.fetch) {
  const { upstream } = deployment
  refuseUnknown(deployment)
  const settings = connectionOf(upstream, fetch)
  if (upstream.apiKey) return { ...settings, apiKey: upstream.apiKey }
  const { googleAuthOptions } = upstream.settings
  return {
    ...settings,
    // Empty rather than undefined, which makes the package fetch tokens.
    apiKey: '',
    project: required(deployment, 'project'),
    location: required(deployment, 'location'),
    ...(typeof googleAuthOptions === 'object' && googleAuthOptions !== null ? { googleAuthOptions } : {}),
  }
}

function connectionOf({ baseUrl, headers }: Upstream, fetch: typeof globalThis.fetch) {
  return { headers: { ...headers }, fetch, ...(baseUrl === undefined ? {} : { baseURL: baseUrl }) }
}

function required(deployment: Deployment, name: string): string {
  const value = deployment.upstream.settings[name]
  if (typeof value !== 'string' || value === '') throw missing(deployment, `settings.${name}`)
  return value
}

function optional<Name extends string>(
  deployment: Deployment,
  name: Name,
): { readonly [Key in Name]?: string } {
  const value = deployment.upstream.settings[name]
  return typeof value === 'string' ? ({ [name]: value } as { [Key in Name]: string }) : {}
}

export function missing(deployment: Deployment, path: string): UpstreamFailure {
  return wrong(deployment, `${path} is not set`)
}

/** A misspelt setting would otherwise silently change nothing. */
function refuseUnknown(deployment: Deployment): void {
  const { settings, provider } = deployment.upstream
  const known = settingsOf(provider)
  const unknown = Object.keys(settings).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw wrong(
    deployment,
    `settings.${unknown} is not a setting of ${provider}; it takes ${known.join(', ') || 'none'}`,
  )
}

function wrong({ id, upstream }: Deployment, what: string): UpstreamFailure {
  return new UpstreamFailure('rejectedUs', `upstreams.${upstream.name}.${what}`, { deployment: id })
}

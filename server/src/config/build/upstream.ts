import { createSecureContext } from 'node:tls'
import type { DialectName, Upstream } from '#core/catalog/catalog.ts'
import { startsLikeOurs } from '#core/keys/key.ts'
import { settingsOf } from '#core/catalog/stored-upstream.ts'
import { hostSettingsOf } from '#core/catalog/upstream-address.ts'
import type { UpstreamTls } from '#core/catalog/upstream-tls.ts'
import type { Facts, ProviderFacts } from './facts.ts'
import { didYouMean } from '../file/problem.ts'
import type { Path, Report } from '../file/problem.ts'
import { tlsProblem } from '../file/certificates.ts'
import type { UpstreamEntry } from '../schema/schema.ts'

/** One upstream, as the deployments of each kind see it: their wire languages may differ. */
export interface UpstreamByKind {
  readonly embedding: Upstream
  readonly image: Upstream
}

/** Undefined when a required field is missing; the report names it. */
export function buildUpstream(
  name: string,
  entry: UpstreamEntry,
  facts: Facts,
  report: Report,
): UpstreamByKind | undefined {
  const path = ['upstreams', name]
  const problem = (field: string, message: string) => report.problem([...path, field], message)

  if (entry.provider !== undefined && !facts.has(entry.provider)) {
    const near = didYouMean(entry.provider, facts.keys()) || ` Known: ${[...facts.keys()].join(', ')}.`
    problem(
      'provider',
      `there is no provider ${entry.provider}.${near} For your own server, leave provider out and set dialect and baseUrl`,
    )
  }
  const named =
    typeof entry.dialect === 'object' ? entry.dialect : { embedding: entry.dialect, image: undefined }
  const provider = facts.get(entry.provider ?? impliedProvider(named.embedding, entry.baseUrl, facts) ?? '')
  const dialect = named.embedding ?? provider?.dialect
  if (dialect === undefined) {
    if (!report.isBroken(path))
      problem('dialect', `is missing: write dialect (openai for an OpenAI-compatible server) or provider`)
    return undefined
  }
  // The facts about a provider's images hold only for its own dialect.
  const ownImageDialect = dialect === provider?.dialect ? provider.imageDialect : undefined
  const dialects = [...new Set([dialect, named.image ?? ownImageDialect ?? dialect])]

  for (const field of misplacedFields(entry, dialects)) {
    problem(field, `has no meaning for dialect ${dialects.join(' and ')}: remove it`)
  }
  reportHostSettings(entry, provider, path, report)
  if (dialects.includes('ai-sdk') && provider) reportUnknownSettings(entry, provider, path, report)
  for (const one of dialects) reportMissing(one, entry, provider, path, report)
  if (entry.apiKey !== undefined && startsLikeOurs(entry.apiKey) && !isOwnAddress(entry, facts))
    problem(
      'apiKey',
      'holds a key of Torana, which would be sent to the provider. Write the key of the provider: keys of Torana are for applications',
    )
  if (report.isBroken(path)) return undefined
  if (entry.tls !== undefined) reportUnusable(entry.tls, (message) => problem('tls', message))
  const [embedding, image = embedding] = dialects.map((one) => upstreamIn(one, name, entry, provider))
  return embedding && image && { embedding, image }
}

/** A value outside the pattern could send the credential to a host of another company. It may be a secret: it is not shown. */
function reportHostSettings(
  { settings = {} }: UpstreamEntry,
  provider: ProviderFacts | undefined,
  path: Path,
  report: Report,
): void {
  for (const [name, { pattern, expected }] of Object.entries(hostSettingsOf(provider?.provider))) {
    const value = settings[name]
    if (value === undefined || (typeof value === 'string' && pattern.test(value))) continue
    report.problem(
      [...path, 'settings', name],
      `becomes part of the host that calls go to, and cannot be one: expected ${expected}`,
    )
  }
}

/** Every call would be refused for it: the package does not take it. */
function reportUnknownSettings(
  { settings = {} }: UpstreamEntry,
  { provider }: ProviderFacts,
  path: Path,
  report: Report,
): void {
  const known = settingsOf(provider)
  for (const name of Object.keys(settings).filter((one) => !known.includes(one)))
    report.problem(
      [...path, 'settings', name],
      `is not a setting of ${provider}, which takes ${known.join(', ') || 'none'}: remove it.${didYouMean(name, known)}`,
    )
}

function reportUnusable(tls: UpstreamTls, problem: (message: string) => void): void {
  try {
    createSecureContext(tls)
  } catch (error) {
    problem(`cannot be used: ${tlsProblem(error)}`)
  }
}

function reportMissing(
  dialect: DialectName,
  entry: UpstreamEntry,
  provider: ProviderFacts | undefined,
  path: Path,
  report: Report,
): void {
  const problem = (field: string, message: string) => report.problem([...path, field], message)
  const baseUrl = addressOf(entry, dialect, provider)
  if (dialect === 'azure') {
    if (entry.resource && entry.baseUrl) problem('resource', 'write resource or baseUrl, not both')
    else if (!baseUrl && !report.isBroken(path))
      problem('resource', 'is missing: the name of your Azure resource, or baseUrl')
  } else if (dialect === 'openai' && !baseUrl && !report.isBroken(path)) {
    problem('baseUrl', 'is missing: the address of the server, such as http://localhost:8080/v1')
  }
  if (dialect === 'ai-sdk' && !provider && !report.isBroken(path)) {
    problem('provider', `is missing: Torana needs it to choose the provider package`)
  }
}

function upstreamIn(
  dialect: DialectName,
  name: string,
  entry: UpstreamEntry,
  provider: ProviderFacts | undefined,
): Upstream {
  return {
    name,
    dialect,
    provider: provider?.provider,
    baseUrl: addressOf(entry, dialect, provider),
    apiKey: entry.apiKey,
    apiVersion: dialect === 'azure' ? (entry.apiVersion ?? 'v1') : undefined,
    headers: entry.headers ?? {},
    settings: entry.settings ?? {},
    ...(entry.pictureHosts && { pictureHosts: entry.pictureHosts }),
    ...(entry.tls && { tls: entry.tls }),
  }
}

/** Another Torana may listen there, with its own key. */
function isOwnAddress({ baseUrl }: UpstreamEntry, facts: Facts): boolean {
  return baseUrl !== undefined && impliedProvider(undefined, baseUrl, facts) === undefined
}

/**
 * Only Azure speaks azure, and a published https address belongs to its provider. Other addresses imply nothing: a port of
 * a private network may be anything.
 */
function impliedProvider(
  dialect: DialectName | undefined,
  baseUrl: string | undefined,
  facts: Facts,
): string | undefined {
  if (dialect === 'azure' || dialect === 'demo') return dialect
  if (!baseUrl?.startsWith('https://')) return undefined
  return [...facts.values()].find(
    (provider) => provider.baseUrl && trimmed(provider.baseUrl) === trimmed(baseUrl),
  )?.provider
}

function addressOf(
  entry: UpstreamEntry,
  dialect: DialectName,
  provider: ProviderFacts | undefined,
): string | undefined {
  if (dialect === 'azure' && entry.resource && !entry.baseUrl)
    return `https://${entry.resource}.openai.azure.com`
  // A provider's published address speaks its own dialect; in another one it would be the wrong address.
  const address = entry.baseUrl ?? (provider?.dialect === dialect ? provider.baseUrl : undefined)
  return address && trimmed(address)
}

/** Fields that each of the dialects would ignore. */
function misplacedFields(entry: UpstreamEntry, dialects: readonly DialectName[]): (keyof UpstreamEntry)[] {
  const only: Partial<Record<keyof UpstreamEntry, readonly DialectName[]>> = {
    baseUrl: ['openai', 'azure', 'ai-sdk'],
    apiKey: ['openai', 'azure', 'ai-sdk'],
    headers: ['openai', 'azure', 'ai-sdk'],
    // The packages of the AI SDK refuse such addresses themselves.
    pictureHosts: ['openai', 'azure'],
    tls: ['openai', 'azure'],
    resource: ['azure'],
    apiVersion: ['azure'],
    settings: ['ai-sdk'],
  }
  const fields = Object.keys(only) as (keyof UpstreamEntry)[]
  return fields.filter(
    (field) => entry[field] !== undefined && !dialects.some((dialect) => only[field]?.includes(dialect)),
  )
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, '')
}

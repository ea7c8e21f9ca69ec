import type { DialectName, Upstream } from '#core/catalog.ts'
import type { Facts, ProviderFacts } from './facts.ts'
import { didYouMean } from './problem.ts'
import type { Report } from './problem.ts'
import type { UpstreamEntry } from './schema.ts'

/** Undefined when something needed is missing; the report says what. */
export function buildUpstream(
  name: string,
  entry: UpstreamEntry,
  facts: Facts,
  report: Report,
): Upstream | undefined {
  const path = ['upstreams', name]
  const problem = (field: string, message: string) => report.problem([...path, field], message)

  if (entry.provider !== undefined && !facts.has(entry.provider)) {
    const near = didYouMean(entry.provider, facts.keys()) || ` Known: ${[...facts.keys()].join(', ')}`
    problem('provider', `there are no built-in facts about ${entry.provider}: leave it out.${near}`)
  }
  const named = typeof entry.dialect === 'object' ? entry.dialect.embedding : entry.dialect
  const provider = facts.get(entry.provider ?? impliedProvider(named, entry.baseUrl, facts) ?? '')
  const dialect = named ?? provider?.dialect
  if (dialect === undefined) {
    if (!report.isBroken(path))
      problem('dialect', `is missing: say dialect (openai for an OpenAI-compatible server) or provider`)
    return undefined
  }
  if (typeof entry.dialect === 'object' && entry.dialect.image) {
    report.warning([...path, 'dialect', 'image'], 'has no effect: this version serves no images yet')
  }

  for (const field of misplacedFields(entry, dialect)) {
    problem(field, `means nothing to dialect ${dialect}: remove it`)
  }
  const baseUrl = addressOf(entry, dialect, provider)
  if (dialect === 'azure') {
    if (entry.resource && entry.baseUrl) problem('resource', 'give resource or baseUrl, not both')
    else if (!baseUrl && !report.isBroken(path))
      problem('resource', 'is missing: the name of your Azure resource, or baseUrl')
  } else if (dialect === 'openai' && !baseUrl && !report.isBroken(path)) {
    problem('baseUrl', 'is missing: the address of the server, such as http://localhost:8080/v1')
  }
  if (dialect === 'ai-sdk' && !provider && !report.isBroken(path)) {
    problem('provider', `is missing: it picks the package that speaks to the upstream`)
  }

  if (report.isBroken(path)) return undefined
  return {
    name,
    dialect,
    provider: provider?.provider,
    baseUrl,
    apiKey: entry.apiKey,
    apiVersion: dialect === 'azure' ? (entry.apiVersion ?? 'v1') : undefined,
    headers: entry.headers ?? {},
    settings: entry.settings ?? {},
  }
}

/**
 * Only Azure speaks azure, and a published https address belongs to its provider. Other addresses tell nothing: whatever
 * listens on a port of one's own network may be anything.
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

/** Fields that the dialect would ignore. */
function misplacedFields(entry: UpstreamEntry, dialect: DialectName): (keyof UpstreamEntry)[] {
  const only: Partial<Record<keyof UpstreamEntry, readonly DialectName[]>> = {
    baseUrl: ['openai', 'azure', 'ai-sdk'],
    apiKey: ['openai', 'azure', 'ai-sdk'],
    headers: ['openai', 'azure', 'ai-sdk'],
    resource: ['azure'],
    apiVersion: ['azure'],
    settings: ['ai-sdk'],
  }
  const fields = Object.keys(only) as (keyof UpstreamEntry)[]
  return fields.filter((field) => entry[field] !== undefined && !only[field]?.includes(dialect))
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, '')
}

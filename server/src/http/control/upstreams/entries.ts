/** From the fields of a request to what torana.yaml would say. */
import type { z } from 'zod'
import type { Catalog, Upstream } from '#core/catalog.ts'
import { isRecord } from '#core/record.ts'
import type { StoredEntry } from '#ports/stored-upstreams.ts'
import type { UpstreamOffers } from '#ports/upstream-offers.ts'
import { invalidField, notFound } from '../wire/faults.ts'
import type { newUpstream } from './schemas.ts'

type Given = Omit<z.output<typeof newUpstream>, 'name' | 'secret'>

export function entryOf(given: Given): StoredEntry {
  const { provider, base_url: baseUrl, api_version: apiVersion, region, project, location } = given
  const settings = present({ region, project, location })
  return present({
    provider,
    // Without a provider it is a server that speaks as OpenAI does.
    dialect: provider === undefined && baseUrl !== undefined ? 'openai' : undefined,
    baseUrl,
    apiVersion,
    settings: Object.keys(settings).length > 0 ? settings : undefined,
  })
}

/** Settings are changed one by one: a new region leaves the others as they are. */
export function mergedEntry(before: StoredEntry, changed: StoredEntry): StoredEntry {
  const settings = { ...recordIn(before['settings']), ...recordIn(changed['settings']) }
  return { ...before, ...changed, ...(Object.keys(settings).length > 0 && { settings }) }
}

/** What `torana.yaml` says of an upstream of its own, as far as asking it for its models needs to know. */
export function declaredEntry({
  provider,
  dialect,
  baseUrl,
  apiVersion,
  headers,
  settings,
}: Upstream): StoredEntry {
  return present({
    provider,
    dialect,
    baseUrl,
    apiVersion: dialect === 'azure' ? apiVersion : undefined,
    headers: Object.keys(headers).length > 0 ? headers : undefined,
    settings: Object.keys(settings).length > 0 ? settings : undefined,
  })
}

/** The upstream as it would be, by the rules of torana.yaml. */
export function builtUpstream(
  offers: Pick<UpstreamOffers, 'build'>,
  name: string,
  entry: StoredEntry,
): Upstream {
  const tried = offers.build(name, entry)
  if ('upstream' in tried) return tried.upstream
  throw invalidField(tried.problems.join('; '), 'base_url')
}

export function upstreamIn(catalog: Catalog, name: string): Upstream {
  const known = catalog.upstreams?.get(name)
  if (known === undefined) throw notFound(`There is no upstream ${name}.`)
  return known.upstream
}

/** `openai`, or the first part of the host, with a number where it is taken. */
export function freeName({ provider, base_url: baseUrl }: Given, { upstreams }: Catalog): string {
  const host = URL.parse(baseUrl ?? '')?.hostname.replace(/^\[|\]$/g, '')
  const label = /^[\d.:]+$/.test(host ?? '') ? 'server' : host?.split('.')[0]
  const base = (provider ?? label ?? 'server').replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, 50) || 'server'
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base}-${number}`
    if (upstreams?.has(name) !== true) return name
  }
}

function recordIn(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

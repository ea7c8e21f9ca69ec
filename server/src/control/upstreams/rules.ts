/** Upstreams in requests: their fields, and the entries of torana.yaml that they stand for. */
import { z } from 'zod'
import type { Catalog, Upstream } from '#core/catalog/catalog.ts'
import type { TriedUpstream } from '#core/catalog/offer.ts'
import { DEPLOYMENT_STATES } from '#core/schedule/scheduler.ts'
import type { DeploymentStanding } from '#core/traffic/node-summary.ts'
import { HOST_SETTINGS, type HostSetting } from '#core/catalog/upstream-address.ts'
import { isRecord } from '#core/text/record.ts'
import type { StoredEntry } from '#ports/stored-configuration.ts'
import { invalidField } from '../shared/faults.ts'
import { storable, time } from '../shared/fields.ts'
import { upstreamName } from '../shared/model-fields.ts'
import { isoOf, timeOf } from '../shared/times.ts'

const MAX_URL = 2000
const MAX_SECRET = 100_000

export const givenUrl = storable(MAX_URL)

/** The same pattern as in torana.yaml: the value becomes part of the host that receives the secret. */
function hostSetting({ pattern, expected }: HostSetting) {
  return z.string().max(100).regex(pattern, `expected ${expected}`)
}

export const bedrockRegion = hostSetting(HOST_SETTINGS['amazon-bedrock'].region)

/** Fields that say where an upstream is. */
export const addressFields = {
  provider: upstreamName
    .optional()
    .describe('A provider that Torana knows. Absent: an OpenAI-compatible server.'),
  base_url: givenUrl.optional().describe("Default: the provider's published address."),
  api_version: storable(40).optional().describe('Azure. Default `v1`.'),
  region: bedrockRegion.optional().describe('Amazon Bedrock.'),
  project: storable(200).optional().describe('Google Vertex AI.'),
  location: hostSetting(HOST_SETTINGS['google-vertex'].location).optional().describe('Google Vertex AI.'),
}

export const newSecret = z
  .string()
  .min(1)
  .max(MAX_SECRET)
  .describe('Kept sealed, sent to the upstream alone, never shown again.')

type Address = z.output<z.ZodObject<typeof addressFields>>

export function entryOf(given: Address): StoredEntry {
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

/** The part of an upstream that a check needs. */
export function declaredEntry(upstream: Upstream): StoredEntry {
  const { provider, dialect, baseUrl, apiVersion, headers, settings } = upstream
  return present({
    provider,
    dialect,
    baseUrl,
    apiVersion: dialect === 'azure' ? apiVersion : undefined,
    headers: Object.keys(headers).length > 0 ? headers : undefined,
    settings: Object.keys(settings).length > 0 ? settings : undefined,
  })
}

/** Problems are those that torana.yaml would have with the same entry. */
export function usable(tried: TriedUpstream): Extract<TriedUpstream, { upstream: Upstream }> {
  if ('upstream' in tried) return tried
  throw invalidField(tried.problems.join('; '), 'base_url')
}

export const upstreamState = z
  .object({
    kind: z
      .enum(['healthy', 'limited', 'space_failed', 'rejected', 'unreachable', 'unused'])
      .describe('The worst of its deployments on any node. `unused`: no model runs on it.'),
    since: time.nullable(),
    retry_at: time.nullable().describe('When it is probed or called again.'),
    status: z.int().nullable().describe('Of its last failed answer.'),
  })
  .meta({ id: 'UpstreamState' })

type UpstreamState = z.output<typeof upstreamState>

/** The deployments of one upstream. */
export function stateOf(
  standings: readonly (DeploymentStanding | undefined)[],
  isUsed: boolean,
): UpstreamState {
  const known = standings.filter((one) => one !== undefined)
  const worst = known.toSorted(
    (one, other) => DEPLOYMENT_STATES.indexOf(other.state) - DEPLOYMENT_STATES.indexOf(one.state),
  )[0]
  if (worst === undefined)
    return { kind: isUsed ? 'healthy' : 'unused', since: null, retry_at: null, status: null }
  const kind = kindOf(worst)
  const isFailing = kind !== 'healthy'
  return {
    kind,
    since: isoOf(worst.sinceMs),
    retry_at: isFailing ? timeOf(worst.untilMs ?? undefined) : null,
    status: isFailing ? (statusIn(worst.reason) ?? null) : null,
  }
}

function kindOf({ state, failures, reason }: DeploymentStanding): UpstreamState['kind'] {
  switch (state) {
    case 'quarantined':
      return 'space_failed'
    case 'limited':
      return 'limited'
    case 'ejected':
    case 'probing': {
      const status = statusIn(reason)
      const isRejected =
        status === 401 || status === 403 || (status === undefined && 'rejectedUs' in failures)
      return isRejected ? 'rejected' : 'unreachable'
    }
    case 'drained':
    case 'held-back':
    case 'healthy':
      return 'healthy'
  }
}

/** Reasons are in our own words, with the status of the answer if there was one. */
function statusIn(reason: string | null): number | undefined {
  const status = /\b[45]\d\d\b/.exec(reason ?? '')?.[0]
  return status === undefined ? undefined : Number(status)
}

/** `openai`, or the first part of the host, with a number where it is taken. */
export function freeName({ provider, base_url: baseUrl }: Address, { upstreams }: Catalog): string {
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

function present(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** Records as JSON, and requests as changes. */
import type { z } from 'zod'
import type { ConfiguredBudget, ConfiguredKey, ConfiguredLimits, Project } from '#core/catalog.ts'
import { windowOf } from '#core/budget.ts'
import { keyTail } from '#core/key.ts'
import type { ConfiguredBounds } from '#core/key-bounds.ts'
import { notesOf, type KeyNote } from '#core/key-hygiene.ts'
import { decimalOf, nanoUsdOf } from '#core/price.ts'
import type { Activity } from '#ports/key-reports.ts'
import type {
  KeyChange,
  KeyRecord,
  Peppers,
  ProjectRecord,
  SecretRecord,
  TermsChange,
} from '#ports/key-store.ts'
import { isoOf, timeOf } from '../wire/times.ts'
import type * as schemas from './schemas.ts'

type ProjectBody = z.output<typeof schemas.project>
type KeyBody = z.output<typeof schemas.key>
type ChangedProjectBody = z.output<typeof schemas.changedProject>
type ChangedKeyBody = z.output<typeof schemas.changedKey>

/** What is known of a key or a project beside its terms. */
interface More {
  /** Undefined: the node keeps no books, or it was never used. */
  readonly activity: Activity | undefined
}

interface DeclaredKeyMore extends More {
  readonly notes: readonly KeyNote[]
  readonly uses: { readonly firstAtMs: number | undefined; readonly lastAtMs: number | undefined }
}

export interface ProjectMore extends More {
  readonly keys: number
  readonly members: number
  readonly webhooks: ProjectBody['webhooks']
}

export function projectBody(record: ProjectRecord, more: ProjectMore, nowMs: number): ProjectBody {
  return { ...changedProjectBody(record), ...projectMoreBody(record, more, nowMs) }
}

export function changedProjectBody(record: ProjectRecord): ChangedProjectBody {
  return {
    name: record.name,
    managed_by: 'store',
    managed_at: null,
    ...termsBody(record),
    capture_inputs: false,
    created_at: isoOf(record.createdAtMs),
  }
}

export function declaredProjectBody(project: Project, more: ProjectMore, nowMs: number): ProjectBody {
  return {
    name: project.name,
    managed_by: 'configuration',
    managed_at: placeOf(project.managedAt),
    ...termsBody(project),
    ...projectMoreBody(project, more, nowMs),
    capture_inputs: false,
    created_at: null,
  }
}

function projectMoreBody(terms: Terms, { keys, members, webhooks, activity }: ProjectMore, nowMs: number) {
  return { spent: spentBody(terms, activity, nowMs), keys, members, webhooks }
}

export function keyBody(record: KeyRecord, more: More, peppers: Peppers, nowMs: number): KeyBody {
  return { ...changedKeyBody(record, peppers, nowMs), ...activityBody(record, more, nowMs) }
}

export function changedKeyBody(record: KeyRecord, peppers: Peppers, nowMs: number): ChangedKeyBody {
  return {
    id: record.id,
    project: record.project,
    name: record.name,
    managed_by: 'store',
    managed_at: null,
    models: record.models ? [...record.models] : null,
    ...boundsBody(record),
    ...termsBody(record),
    expires_at: timeOf(record.expiresAtMs),
    revoked_at: timeOf(record.revokedAtMs),
    leaked: record.isLeaked ?? false,
    created_at: isoOf(record.createdAtMs),
    secrets: record.secrets.map((secret) => ({
      tail: secret.tail,
      valid_until: timeOf(secret.validUntilMs),
      created_at: isoOf(secret.createdAtMs),
      pepper: pepperOf(secret, peppers),
    })),
    ...usesBody({ firstAtMs: record.firstUsedAtMs, lastAtMs: record.lastUsedAtMs }),
    notes: [...notesOf(record, nowMs, peppers.current.id)],
  }
}

export function declaredKeyBody(
  project: string,
  key: ConfiguredKey,
  more: DeclaredKeyMore,
  nowMs: number,
): KeyBody {
  return {
    id: `${project}/${key.name}`,
    project,
    name: key.name,
    managed_by: 'configuration',
    managed_at: placeOf(key.managedAt),
    models: key.models ? [...key.models] : null,
    ...boundsBody(key),
    ...termsBody(key),
    expires_at: timeOf(key.expiresAtMs),
    revoked_at: null,
    leaked: false,
    created_at: null,
    secrets: [{ tail: keyTail(key.secret), valid_until: null, created_at: null, pepper: 'current' }],
    ...usesBody(more.uses),
    ...activityBody(key, more, nowMs),
    notes: [...more.notes],
  }
}

function usesBody({ firstAtMs, lastAtMs }: DeclaredKeyMore['uses']) {
  return { last_used_at: timeOf(lastAtMs), first_used_at: timeOf(firstAtMs) }
}

function activityBody(terms: Terms, { activity }: More, nowMs: number) {
  return {
    requests_30d: [...(activity?.requests30d ?? [])],
    requests_24h: activity?.requests24h ?? 0,
    spent: spentBody(terms, activity, nowMs),
  }
}

function spentBody({ budget }: Terms, activity: Activity | undefined, nowMs: number): KeyBody['spent'] {
  if (budget === undefined) return null
  const { startMs } = windowOf(budget.per, nowMs)
  return { usd: decimalOf(activity?.spentNanoUsd ?? 0n), window_start: isoOf(startMs) }
}

export function termsChange({ limits, budget }: z.output<typeof schemas.projectChange>): TermsChange {
  return {
    limits: limits && {
      requestsPerMinute: limits.requests_per_minute,
      tokensPerMinute: limits.tokens_per_minute,
      imagesPerMinute: limits.images_per_minute,
    },
    budget: budget && { limitNanoUsd: nanoUsdOf(budget.usd), per: budget.per, hard: budget.hard },
  }
}

export function keyChange(change: z.output<typeof schemas.keyChange>): KeyChange {
  const { models, expires_at: expiresAt, scopes, max_calls_at_once: maxCallsAtOnce, addresses } = change
  const expiresAtMs = typeof expiresAt === 'string' ? Date.parse(expiresAt) : expiresAt
  return { ...termsChange(change), models, expiresAtMs, scopes, maxCallsAtOnce, addresses }
}

/** The file's name and line. In which folder it stands is nobody's business here. */
function placeOf(managedAt: string | undefined): string | null {
  return managedAt?.split(/[\\/]/).at(-1) ?? null
}

function boundsBody({
  scopes,
  maxCallsAtOnce,
  addresses,
}: ConfiguredBounds): Pick<KeyBody, 'scopes' | 'max_calls_at_once' | 'addresses'> {
  return {
    scopes: scopes ? [...scopes] : null,
    max_calls_at_once: maxCallsAtOnce ?? null,
    addresses: addresses ? [...addresses] : null,
  }
}

interface Terms {
  readonly limits?: ConfiguredLimits | undefined
  readonly budget?: ConfiguredBudget | undefined
}

function termsBody({ limits = {}, budget }: Terms): Pick<ProjectBody, 'limits' | 'budget'> {
  return {
    limits: {
      requests_per_minute: limits.requestsPerMinute,
      tokens_per_minute: limits.tokensPerMinute,
      images_per_minute: limits.imagesPerMinute,
    },
    budget: budget ? { usd: decimalOf(budget.limitNanoUsd), per: budget.per, hard: budget.hard } : null,
  }
}

function pepperOf({ pepper }: SecretRecord, { current, previous }: Peppers) {
  if (pepper === current.id) return 'current'
  return pepper === previous?.id ? 'previous' : 'unknown'
}

/** How a change becomes new terms, why one is refused, and how terms are stored as JSON: the same in every store of keys. */
import type { ConfiguredBudget } from '#core/catalog/catalog.ts'
import type { ConfiguredBounds } from '#core/catalog/key-bounds.ts'
import {
  ChangeRefused,
  type KeyChange,
  type KeyRecord,
  type Terms,
  type TermsChange,
} from '#ports/key-store.ts'

/** Amounts are text: JSON numbers would round them. */
export interface BudgetJson {
  readonly limitNanoUsd: string
  readonly per: ConfiguredBudget['per']
  readonly hard: boolean
}

export function budgetJson(budget: ConfiguredBudget | undefined): BudgetJson | null {
  return budget === undefined ? null : { ...budget, limitNanoUsd: String(budget.limitNanoUsd) }
}

export function budgetFrom(json: BudgetJson | null): ConfiguredBudget | undefined {
  return json === null ? undefined : { ...json, limitNanoUsd: BigInt(json.limitNanoUsd) }
}

const NO_TERMS: Terms = { limits: {}, budget: undefined }

export function changedTerms({ limits, budget }: TermsChange, before = NO_TERMS): Terms {
  const changed = Object.entries(limits ?? {}).filter(([, value]) => value !== undefined)
  const merged = { ...before.limits, ...Object.fromEntries(changed) }
  const left = Object.entries(merged).filter(([, value]) => value !== null)
  return {
    limits: Object.fromEntries(left),
    budget: budget === undefined ? before.budget : (budget ?? undefined),
  }
}

type KeyTerms = Terms & ConfiguredBounds & Pick<KeyRecord, 'models' | 'expiresAtMs'>

export function changedKey(
  change: KeyChange,
  before: KeyTerms = { ...NO_TERMS, models: undefined, expiresAtMs: undefined },
): KeyTerms {
  const { models = before.models, expiresAtMs = before.expiresAtMs } = change
  const {
    scopes = before.scopes,
    maxCallsAtOnce = before.maxCallsAtOnce,
    addresses = before.addresses,
  } = change
  return {
    ...changedTerms(change, before),
    models: models ?? undefined,
    expiresAtMs: expiresAtMs ?? undefined,
    scopes: scopes ?? undefined,
    maxCallsAtOnce: maxCallsAtOnce ?? undefined,
    addresses: addresses ?? undefined,
  }
}

/** For the audit. */
export function termsDetail({ limits, budget }: Terms): Record<string, unknown> {
  return { limits, budget: budgetJson(budget) }
}

export function keyDetail(terms: KeyTerms): Record<string, unknown> {
  const { models, expiresAtMs, scopes, maxCallsAtOnce, addresses } = terms
  return {
    ...termsDetail(terms),
    models: models ?? null,
    expiresAt: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
    scopes: scopes ?? null,
    maxCallsAtOnce: maxCallsAtOnce ?? null,
    addresses: addresses ?? null,
  }
}

export const refusal = {
  noKey: (id: string) => new ChangeRefused('missing', `There is no key ${id}.`),
  noProject: (name: string) =>
    new ChangeRefused('missing', `There is no project ${name}. An admin can create it.`),
  keyExists: (id: string) =>
    new ChangeRefused(
      'exists',
      `Key ${id} already exists. Key ids are not used again, not even after a key was revoked.`,
    ),
  projectExists: (name: string) => new ChangeRefused('exists', `Project ${name} already exists.`),
  revoked: (id: string) =>
    new ChangeRefused('revoked', `Key ${id} is revoked. Create a new one with another id.`),
  deleted: (name: string) => new ChangeRefused('deleted', `The project ${name} is being deleted.`),
  secretTaken: () =>
    new ChangeRefused('secret-taken', 'Another key already has this secret. Each key needs its own.'),
}

/** Rules for a change of keys, checked before the store is asked. */
import type { Catalog } from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { keyForm, MIN_KEY_LENGTH, isMonotonous, MIN_DIFFERENT_CHARACTERS } from '#core/keys/key.ts'
import { loosenedTerm, type BindingTerm } from '#core/keys/loosening.ts'
import { nearest } from '#core/text/nearest.ts'
import { rolesWith } from '#core/access/permission.ts'
import { dollars } from '#core/money/price.ts'
import type { KeyChange, KeyRecord } from '#ports/key-store.ts'
import type { Caller } from '../shared/caller.ts'
import { invalidField } from '../shared/faults.ts'
import type { ControlNode } from '../shared/node.ts'
import { declaredKeys, projectTerms } from '../shared/project-terms.ts'

/** For a secret that the caller brings from elsewhere. */
export async function checkSecret(
  secret: string,
  { keyStore, declaredProjects, peppers }: Pick<ControlNode, 'keyStore' | 'declaredProjects' | 'peppers'>,
): Promise<void> {
  const form = keyForm(secret)
  if (form === 'too-short')
    throw invalidField(
      `secret: a key needs at least ${MIN_KEY_LENGTH} characters, because short ones can be guessed.`,
      'secret',
    )
  if (form === 'foreign' && isMonotonous(secret))
    throw invalidField(
      `secret: a key needs at least ${MIN_DIFFERENT_CHARACTERS} different characters, because repeated ones can be guessed.`,
      'secret',
    )
  if (form === 'bad-checksum')
    throw invalidField(
      'secret: starts like a Torana key, but its checksum is wrong. Was it cut off or mistyped?',
      'secret',
    )
  const previous = peppers.previous?.digestOf(secret)
  const isTaken =
    declaredKeys(declaredProjects()).some(({ key }) => key.secret === secret) ||
    (previous !== undefined && (await keyStore.findKey([previous])) !== undefined)
  if (isTaken)
    throw invalidField('secret: another key already has this secret. Each key needs its own.', 'secret')
}

export function checkModels(models: readonly string[] | null | undefined, catalog: Catalog): void {
  for (const id of models ?? []) {
    if (catalog.models.has(id)) continue
    const near = nearest(id, [...catalog.models.keys()])
    throw invalidField(
      `models: there is no model ${id}.${near === undefined ? '' : ` Did you mean ${near}?`}`,
      'models',
    )
  }
}

const TERM_FIELDS = {
  models: 'models',
  scopes: 'scopes',
  addresses: 'addresses',
  maxCallsAtOnce: 'max_calls_at_once',
  expiresAtMs: 'expires_at',
  budget: 'budget',
  requestsPerMinute: 'limits.requests_per_minute',
  tokensPerMinute: 'limits.tokens_per_minute',
  imagesPerMinute: 'limits.images_per_minute',
} as const satisfies Record<BindingTerm, string>

const LIMITS = ['requestsPerMinute', 'tokensPerMinute', 'imagesPerMinute'] as const

/**
 * A caller who sees only some projects gives a key no more than its project has. More would not take effect, because the
 * smaller one counts, but it would remain if an admin ever lifted the project's own.
 */
export async function checkWithinProject(
  { projects }: Caller,
  project: string,
  { limits = {}, budget }: KeyChange,
  node: Pick<ControlNode, 'keyStore' | 'declaredProjects'>,
): Promise<void> {
  if (projects === null) return
  const bounds = await projectTerms(project, node)
  if (bounds === undefined) return
  for (const limit of LIMITS) {
    const [asked, most, field] = [limits[limit], bounds.limits?.[limit], TERM_FIELDS[limit]]
    if (typeof asked !== 'number' || most === undefined || asked <= most) continue
    throw invalidField(`${field}: ${asked} is more than the project ${project} has, ${most} a minute.`, field)
  }
  if (budget && bounds.budget && budget.limitNanoUsd > bounds.budget.limitNanoUsd)
    throw invalidField(
      `budget.usd: ${dollars(budget.limitNanoUsd)} is more than the budget of the project ${project}, ${dollars(bounds.budget.limitNanoUsd)}.`,
      'budget.usd',
    )
}

/** The store does not keep who set a term, so a caller without `keys.loosen` may loosen none: an admin may have set it. */
export function checkTighter({ actor, role }: Caller, before: KeyRecord, change: KeyChange): void {
  const term = loosenedTerm(before, change)
  if (term === undefined) return
  const field = TERM_FIELDS[term]
  throw new Fault(
    'forbidden',
    `${field}: this would let key ${before.id} do more than now, which needs the permission keys.loosen (${rolesWith('keys.loosen').join(', ')}). ${actor} is ${role}. Ask an admin, or create another key.`,
    { param: field },
  )
}

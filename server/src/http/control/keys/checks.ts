/** What a change of keys is held against before the store is asked. */
import type { Catalog, ConfiguredKey, Project } from '#core/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { keyForm, MIN_KEY_LENGTH, isMonotonous, MIN_DIFFERENT_CHARACTERS } from '#core/key.ts'
import { loosenedTerm, type BindingTerm } from '#core/loosening.ts'
import { nearest } from '#core/nearest.ts'
import { rolesWith } from '#core/permission.ts'
import { dollars } from '#core/price.ts'
import type { KeyChange, KeyRecord } from '#ports/key-store.ts'
import type { Caller } from '../access/caller.ts'
import { declared, invalidField } from '../wire/faults.ts'
import type { KeyDependencies } from './dependencies.ts'

export interface DeclaredKey {
  readonly project: string
  readonly key: ConfiguredKey
}

export function declaredKeys({ declared: projects }: Pick<KeyDependencies, 'declared'>): DeclaredKey[] {
  return projects().flatMap((project) => project.keys.map((one) => ({ project: project.name, key: one })))
}

/** The id of a key of the store. A declared key can't be changed here. */
export function storedId(
  { project, name }: { readonly project: string; readonly name: string },
  dependencies: KeyDependencies,
): string {
  const id = `${project}/${name}`
  if (declaredKeys(dependencies).some((one) => one.project === project && one.key.name === name))
    throw declared(`Key ${id}`)
  return id
}

/** For a secret that the caller brings from elsewhere. */
export async function checkSecret(secret: string, dependencies: KeyDependencies): Promise<void> {
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
  const taken = invalidField('secret: another key already has this secret. Each key needs its own.', 'secret')
  if (declaredKeys(dependencies).some((one) => one.key.secret === secret)) throw taken
  const { keyStore, peppers } = dependencies
  const previous = peppers.previous?.digestOf(secret)
  if (previous !== undefined && (await keyStore.findKey([previous]))) throw taken
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

const LIMIT_FIELDS = {
  requestsPerMinute: 'requests_per_minute',
  tokensPerMinute: 'tokens_per_minute',
  imagesPerMinute: 'images_per_minute',
} as const

/**
 * A caller who sees only some projects gives a key no more than its project has. More would not take effect, because the
 * smaller one counts, but it would remain if an admin ever lifted the project's own.
 */
export async function checkWithinProject(
  { projects }: Caller,
  project: string,
  { limits = {}, budget }: KeyChange,
  dependencies: Pick<KeyDependencies, 'keyStore' | 'declared'>,
): Promise<void> {
  if (projects === null) return
  const bounds = await projectTerms(project, dependencies)
  if (bounds === undefined) return
  for (const field of Object.keys(LIMIT_FIELDS) as (keyof typeof LIMIT_FIELDS)[]) {
    const [asked, most] = [limits[field], bounds.limits?.[field]]
    if (typeof asked !== 'number' || most === undefined || asked <= most) continue
    throw invalidField(
      `limits.${LIMIT_FIELDS[field]}: ${asked} is more than the project ${project} has, ${most} a minute.`,
      `limits.${LIMIT_FIELDS[field]}`,
    )
  }
  if (budget && bounds.budget && budget.limitNanoUsd > bounds.budget.limitNanoUsd)
    throw invalidField(
      `budget.usd: ${dollars(budget.limitNanoUsd)} is more than the budget of the project ${project}, ${dollars(bounds.budget.limitNanoUsd)}.`,
      'budget.usd',
    )
}

const TERM_FIELDS: Readonly<Record<BindingTerm, string>> = {
  models: 'models',
  scopes: 'scopes',
  addresses: 'addresses',
  maxCallsAtOnce: 'max_calls_at_once',
  expiresAtMs: 'expires_at',
  budget: 'budget',
  requestsPerMinute: 'limits.requests_per_minute',
  tokensPerMinute: 'limits.tokens_per_minute',
  imagesPerMinute: 'limits.images_per_minute',
}

/** Who set a term is not stored, so a caller without `keys.loosen` may loosen none: an admin may have set it. */
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

/** What a project is bound by, wherever it is managed. Undefined: there is no such project. */
export async function projectTerms(
  project: string,
  { keyStore, declared: declaredProjects }: Pick<KeyDependencies, 'keyStore' | 'declared'>,
): Promise<Pick<Project, 'limits' | 'budget'> | undefined> {
  const inFile = declaredProjects().find(({ name }) => name === project)
  if (inFile !== undefined) return inFile
  const [stored] = await keyStore.listProjects({ projects: [project], limit: 1 })
  return stored
}

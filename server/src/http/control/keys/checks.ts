/** What a change of keys is held against before the store is asked. */
import type { Catalog, ConfiguredKey, Project } from '#core/catalog.ts'
import { keyForm, MIN_KEY_LENGTH, isMonotonous, MIN_DIFFERENT_CHARACTERS } from '#core/key.ts'
import { nearest } from '#core/nearest.ts'
import { dollars } from '#core/price.ts'
import type { KeyChange } from '#ports/key-store.ts'
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
 * Who sees only some projects gives a key no more than its project has. More would not take effect, because the smaller one
 * counts, but it would stand there should an admin ever take the project's own away.
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

/** Keys as people see them: with their use, their spending and what is worth a look, asked for a page at once. */
import { z } from 'zod'
import { KEY_SCOPES } from '#core/catalog/key-bounds.ts'
import { KEY_NOTES, notesOf, statesOf, type KeyState } from '#core/keys/key-hygiene.ts'
import { keyTail } from '#core/keys/key.ts'
import type { KeyFilter, KeyRecord, SecretRecord } from '#ports/key-store.ts'
import { activityFields, readActivity } from '../shared/activity-queries.ts'
import { time } from '../shared/fields.ts'
import type { ControlNode } from '../shared/node.ts'
import { declaredKeys, placeOf, type DeclaredKey } from '../shared/project-terms.ts'
import { managed, terms, termsBody } from '../shared/terms.ts'
import { timeOf } from '../shared/times.ts'

const secretState = z
  .object({
    tail: z.string().describe('Its last characters.'),
    valid_until: time.nullable().describe('The end of the overlap after a rotation.'),
    created_at: time.nullable(),
    pepper: z
      .enum(['current', 'previous', 'unknown'])
      .describe(
        '`previous`: created with TORANA_SECRET_PREVIOUS and not used since; `unknown`: this node cannot recognise it.',
      ),
  })
  .meta({ id: 'KeySecret' })

export const key = z
  .object({
    id: z.string().describe('`<project>/<name>`.'),
    project: z.string(),
    name: z.string(),
    ...managed,
    models: z.array(z.string()).nullable().describe('null: all.'),
    scopes: z.array(z.enum(KEY_SCOPES)).nullable().describe('null: everything.'),
    max_calls_at_once: z.int().nullable(),
    addresses: z.array(z.string()).nullable().describe('null: everywhere.'),
    ...terms,
    expires_at: time.nullable(),
    revoked_at: time.nullable(),
    leaked: z.boolean().describe('It was revoked because a stranger may have its secret.'),
    first_used_at: time.nullable(),
    last_used_at: time.nullable().describe('Accurate to a minute.'),
    created_at: time.nullable(),
    secrets: z.array(secretState).describe('Newest first.'),
    ...activityFields,
    notes: z.array(z.enum(KEY_NOTES)).describe('What is worth a look.'),
  })
  .meta({ id: 'Key' })

/** The answer to a change of a key is built from the committed record alone: figures come from reports, which may be busy. */
export const changedKey = key
  .omit({ spent: true, requests_30d: true, requests_24h: true })
  .meta({ id: 'ChangedKey' })

/** A key of the store or of the configuration. */
export interface ShownKey extends Omit<KeyRecord, 'projectTerms' | 'version' | 'createdAtMs' | 'secrets'> {
  readonly managed_by: 'store' | 'configuration'
  readonly managedAt: string | undefined
  readonly createdAtMs: number | undefined
  readonly secrets: readonly (Pick<SecretRecord, 'tail' | 'pepper' | 'validUntilMs'> & {
    readonly createdAtMs: number | undefined
  })[]
}

export function storedKey(record: KeyRecord): ShownKey {
  return { ...record, managed_by: 'store', managedAt: undefined }
}

export type KeysNode = Pick<ControlNode, 'keyStore' | 'declaredProjects' | 'reports' | 'peppers' | 'clock'>

/** Keys of the configuration that the filter lets through. */
export async function listDeclaredKeys(
  { projects, text = '' }: KeyFilter,
  { keyStore, declaredProjects, peppers }: KeysNode,
): Promise<ShownKey[]> {
  const matching = declaredKeys(declaredProjects()).filter(
    ({ id, project, key: { secret } }) =>
      (projects?.includes(project) ?? true) &&
      (id.toLowerCase().includes(text.toLowerCase()) || keyTail(secret).endsWith(text)),
  )
  return shownDeclared(matching, { keyStore, peppers })
}

/** Undefined: there is no such key. */
export async function findKey(
  { project, name }: { readonly project: string; readonly name: string },
  { keyStore, declaredProjects, peppers }: KeysNode,
): Promise<ShownKey | undefined> {
  const matching = declaredKeys(declaredProjects()).filter(
    (one) => one.project === project && one.key.name === name,
  )
  const [declared] = await shownDeclared(matching, { keyStore, peppers })
  if (declared !== undefined) return declared
  const ids = [`${project}/${name}`]
  const [record] = await keyStore.listKeys({ projects: [project], ids, limit: 1 })
  return record && storedKey(record)
}

async function shownDeclared(
  keys: readonly DeclaredKey[],
  { keyStore, peppers }: Pick<KeysNode, 'keyStore' | 'peppers'>,
): Promise<ShownKey[]> {
  const uses = await keyStore.declaredUses(keys.map(({ id }) => id))
  return keys.map(({ id, project, key: { secret, ...declared } }) => ({
    ...declared,
    id,
    project,
    managed_by: 'configuration',
    managedAt: declared.managedAt,
    models: declared.models,
    limits: declared.limits ?? {},
    budget: declared.budget,
    expiresAtMs: declared.expiresAtMs,
    revokedAtMs: undefined,
    createdAtMs: undefined,
    firstUsedAtMs: uses.get(id)?.firstAtMs,
    lastUsedAtMs: uses.get(id)?.lastAtMs,
    secrets: [
      { tail: keyTail(secret), pepper: peppers.current.id, validUntilMs: undefined, createdAtMs: undefined },
    ],
  }))
}

export async function keyBodies(
  keys: readonly ShownKey[],
  node: Pick<KeysNode, 'reports' | 'peppers' | 'clock'>,
): Promise<z.output<typeof key>[]> {
  const activityOf = await readActivity(node.reports, 'key', keys, node.clock.nowMs())
  return keys.map((shown) => ({ ...changedKeyBody(shown, node), ...activityOf(shown) }))
}

export function changedKeyBody(
  shown: ShownKey,
  { peppers: { current, previous }, clock }: Pick<KeysNode, 'peppers' | 'clock'>,
): z.output<typeof changedKey> {
  const pepperOf = (id: string) =>
    id === current.id ? 'current' : id === previous?.id ? 'previous' : 'unknown'
  return {
    id: shown.id,
    project: shown.project,
    name: shown.name,
    managed_by: shown.managed_by,
    managed_at: placeOf(shown.managedAt),
    models: shown.models ? [...shown.models] : null,
    scopes: shown.scopes ? [...shown.scopes] : null,
    max_calls_at_once: shown.maxCallsAtOnce ?? null,
    addresses: shown.addresses ? [...shown.addresses] : null,
    ...termsBody(shown),
    expires_at: timeOf(shown.expiresAtMs),
    revoked_at: timeOf(shown.revokedAtMs),
    leaked: shown.isLeaked ?? false,
    first_used_at: timeOf(shown.firstUsedAtMs),
    last_used_at: timeOf(shown.lastUsedAtMs),
    created_at: timeOf(shown.createdAtMs),
    secrets: shown.secrets.map(({ tail, validUntilMs, createdAtMs, pepper }) => ({
      tail,
      valid_until: timeOf(validUntilMs),
      created_at: timeOf(createdAtMs),
      pepper: pepperOf(pepper),
    })),
    notes: isOfFirstStart(shown) ? [] : notesOf(shown, clock.nowMs(), current.id),
  }
}

export function statesOfKey(shown: ShownKey, nowMs: number, pepper: string): readonly KeyState[] {
  return isOfFirstStart(shown) ? ['active'] : statesOf(shown, nowMs, pepper)
}

/** The key of a first start can have no limit and no end, so neither is worth a note. */
function isOfFirstStart({ managedAt }: ShownKey): boolean {
  return managedAt === 'environment'
}

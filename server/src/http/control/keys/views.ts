/** Keys and projects as people see them: with their use, their spending and what is worth a look, asked for a page at once. */
import { windowOf } from '#core/budget.ts'
import type { ConfiguredBudget, Project } from '#core/catalog.ts'
import { notesOf, statesOf, type KeyFacts } from '#core/key-hygiene.ts'
import type { ActivityQuestion, WebhookRecord } from '#ports/key-reports.ts'
import type { KeyFilter, KeyPage, KeyRecord, KeyUses, ProjectRecord } from '#ports/key-store.ts'
import { isoOf } from '../wire/times.ts'
import { declaredKeys, type DeclaredKey } from './checks.ts'
import type { KeyDependencies } from './dependencies.ts'
import { declaredKeyBody, declaredProjectBody, keyBody, projectBody, type ProjectMore } from './shapes.ts'

/** A key of the store or of the configuration. */
export type ShownKey =
  | { readonly managed_by: 'store'; readonly id: string; readonly record: KeyRecord }
  | { readonly managed_by: 'configuration'; readonly id: string; readonly declared: DeclaredKey }

export type ShownProject =
  | { readonly managed_by: 'store'; readonly name: string; readonly record: ProjectRecord }
  | { readonly managed_by: 'configuration'; readonly name: string; readonly declared: Project }

export function storedKey(record: KeyRecord): ShownKey {
  return { managed_by: 'store', id: record.id, record }
}

export function storedProject(record: ProjectRecord): ShownProject {
  return { managed_by: 'store', name: record.name, record }
}

export function declaredProject(declared: Project): ShownProject {
  return { managed_by: 'configuration', name: declared.name, declared }
}

/** What the orders of a list go by. */
export function momentsOf(key: ShownKey, uses: ReadonlyMap<string, KeyUses>) {
  if (key.managed_by === 'store') return key.record
  return { lastUsedAtMs: uses.get(key.id)?.lastAtMs, expiresAtMs: key.declared.key.expiresAtMs }
}

export type KeyBody = ReturnType<typeof keyBody>

export async function keyBodies(
  keys: readonly ShownKey[],
  dependencies: KeyDependencies,
): Promise<KeyBody[]> {
  const { keyStore, keyReports, peppers, nowMs } = dependencies
  const now = nowMs()
  const asked = keys.map((key) => ({
    id: key.id,
    spentSinceMs: windowStartMs(key.managed_by === 'store' ? key.record : key.declared.key, now),
  }))
  const activities = await keyReports?.ofKeys(asked, now)
  const uses = await keyStore.declaredUses(
    keys.filter((key) => key.managed_by === 'configuration').map(({ id }) => id),
  )
  return keys.map((key) => {
    const activity = activities?.get(key.id)
    if (key.managed_by === 'configuration') {
      const own = uses.get(key.id)
      const notes = declaredNotes(key.declared, own, now)
      const more = { activity, notes, uses: { firstAtMs: own?.firstAtMs, lastAtMs: own?.lastAtMs } }
      return declaredKeyBody(key.declared.project, key.declared.key, more, now)
    }
    return keyBody(key.record, { activity }, peppers, now)
  })
}

/** The key of a first start can have no limit and no end: nothing is to be noted of it. */
function declaredNotes(declared: DeclaredKey, uses: KeyUses | undefined, nowMs: number) {
  return declared.key.managedAt === 'environment' ? [] : notesOf(factsOf(declared, uses), nowMs, '')
}

function factsOf({ key }: DeclaredKey, uses: KeyUses | undefined): KeyFacts {
  return {
    limits: key.limits ?? {},
    budget: key.budget,
    expiresAtMs: key.expiresAtMs,
    revokedAtMs: undefined,
    createdAtMs: undefined,
    lastUsedAtMs: uses?.lastAtMs,
    secrets: [],
  }
}

/** Those of the configuration that a page of keys is about, and how many of them each list has. */
export async function shownDeclared(
  { projects, text = '' }: KeyFilter,
  state: KeyPage['state'],
  dependencies: KeyDependencies,
) {
  const nowMs = dependencies.nowMs()
  const all = declaredKeys(dependencies)
    .map((declared) => ({ id: `${declared.project}/${declared.key.name}`, declared }))
    .filter(
      ({ id, declared }) =>
        (projects?.includes(declared.project) ?? true) &&
        (id.toLowerCase().includes(text.toLowerCase()) || declared.key.secret.endsWith(text)),
    )
  const uses = await dependencies.keyStore.declaredUses(all.map(({ id }) => id))
  const withStates = all.map((one) => ({ ...one, states: statesIn(one, uses.get(one.id), nowMs) }))
  return {
    keys: withStates
      .filter(({ states }) => state === undefined || states.includes(state.is))
      .map(({ id, declared }): ShownKey => ({ managed_by: 'configuration', id, declared })),
    states: withStates.flatMap(({ states }) => states),
    uses,
  }
}

function statesIn(
  { declared }: { readonly declared: DeclaredKey },
  uses: KeyUses | undefined,
  nowMs: number,
) {
  if (declared.key.managedAt === 'environment') return ['active'] as const
  return statesOf(factsOf(declared, uses), nowMs, '')
}

export type ProjectBody = ReturnType<typeof projectBody>

export async function projectBodies(
  projects: readonly ShownProject[],
  dependencies: KeyDependencies,
): Promise<ProjectBody[]> {
  const { keyReports } = dependencies
  const now = dependencies.nowMs()
  const names = projects.map(({ name }) => name)
  const asked: ActivityQuestion[] = projects.map((project) => ({
    id: project.name,
    spentSinceMs: windowStartMs(project.managed_by === 'store' ? project.record : project.declared, now),
  }))
  const activities = await keyReports?.ofProjects(asked, now)
  const members = await keyReports?.membersOf(names)
  const last = (await keyReports?.lastWebhookEvents(names)) ?? []
  const counts = await keyCounts(names, dependencies)
  return projects.map((project) => {
    const { name } = project
    const declared = dependencies.declared().find((one) => one.name === name)
    const more = {
      activity: activities?.get(name),
      members: members?.get(name) ?? 0,
      keys: counts.get(name) ?? 0,
      webhooks: webhooksOf(declared, last),
    }
    return project.managed_by === 'store'
      ? projectBody(project.record, more, now)
      : declaredProjectBody(project.declared, more, now)
  })
}

/** Working keys of the store and of the configuration, by project. */
async function keyCounts(names: readonly string[], dependencies: KeyDependencies) {
  const counts = new Map(await dependencies.keyStore.countByProject(names, dependencies.nowMs()))
  for (const { project } of declaredKeys(dependencies)) counts.set(project, (counts.get(project) ?? 0) + 1)
  return counts
}

function webhooksOf(project: Project | undefined, last: readonly WebhookRecord[]): ProjectMore['webhooks'] {
  return (project?.webhooks ?? []).map(({ url, events }) => {
    const event = last.find((one) => one.project === project?.name && one.url === url)
    return {
      url: shownUrl(url),
      events: events ? [...events] : null,
      last:
        event === undefined
          ? null
          : { at: isoOf(event.endedAtMs ?? event.createdAtMs), outcome: event.outcome },
    }
  })
}

/** The path of an address is a secret at many receivers: whoever knows it can post there. */
export function shownUrl(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return ''
  return parsed.pathname === '/' && parsed.search === '' ? parsed.origin : `${parsed.origin}/…`
}

function windowStartMs(
  { budget }: { readonly budget?: ConfiguredBudget | undefined },
  nowMs: number,
): number | undefined {
  return budget && windowOf(budget.per, nowMs).startMs
}

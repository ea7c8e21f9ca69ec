import type { ConfiguredBudget, ConfiguredKey, Model, Project } from '#core/catalog/catalog.ts'
import { keyForm, MIN_KEY_LENGTH, isMonotonous, MIN_DIFFERENT_CHARACTERS } from '#core/keys/key.ts'
import { nanoUsdOf } from '#core/money/price.ts'
import { didYouMean } from '../file/problem.ts'
import type { Path, Report } from '../file/problem.ts'
import type { ConfigFile } from '../schema/schema.ts'
import { buildWebhooks } from './webhooks.ts'

type KeyEntry = NonNullable<ConfigFile['projects']>[string]['keys'][number]

export interface KnownModels {
  readonly served: ReadonlyMap<string, Model>
  /** Ids and aliases, also of models that turned out faulty: a reference to one of those is no second fault. */
  readonly declared: ReadonlySet<string>
}

/** What the keys of the file are checked against. */
export interface KeySurroundings {
  readonly report: Report
  readonly bootstrapKey: string | undefined
  readonly nowMs: number
}

export function buildProjects(
  entries: ConfigFile['projects'],
  models: KnownModels,
  { bootstrapKey, nowMs, report }: KeySurroundings,
): Project[] {
  /** The owner of each secret. */
  const owners = new Map(bootstrapKey === undefined ? [] : [[bootstrapKey, 'TORANA_BOOTSTRAP_KEY']])
  return Object.entries(entries ?? {}).map(([name, project]) => {
    // Space probes are accounted under it.
    if (name === 'system')
      report.problem(['projects', name], 'is the name of a built-in project: choose another name', 'key')
    const names = new Set<string>()
    const keys = project.keys.map((key, index) => {
      const path = ['projects', name, 'keys', index]
      if (names.has(key.name))
        report.problem([...path, 'name'], `${key.name} is already a key of this project`)
      names.add(key.name)
      checkSecret(key.secret, `key ${key.name} of project ${name}`, [...path, 'secret'], owners, report)
      return buildKey(key, path, models, nowMs, report)
    })
    return {
      name,
      managedAt: report.place(['projects', name]),
      keys,
      limits: project.limits,
      budget: buildBudget(project.budget),
      webhooks: buildWebhooks(project.webhooks, ['projects', name, 'webhooks'], report),
    }
  })
}

function checkSecret(
  secret: string,
  holder: string,
  path: Path,
  owners: Map<string, string>,
  report: Report,
): void {
  const form = keyForm(secret)
  if (form === 'too-short') {
    report.problem(
      path,
      `a key needs at least ${MIN_KEY_LENGTH} characters, because short ones can be guessed; this one has ${secret.length}`,
    )
  } else if (form === 'foreign' && isMonotonous(secret)) {
    report.problem(
      path,
      `a key needs at least ${MIN_DIFFERENT_CHARACTERS} different characters, because repeated ones can be guessed`,
    )
  } else if (form === 'bad-checksum') {
    report.problem(path, 'starts like a Torana key, but its checksum is wrong. Was it cut off or mistyped?')
  }
  const owner = owners.get(secret)
  if (owner) report.problem(path, `is the same secret as ${owner}: each key needs its own`)
  else owners.set(secret, holder)
}

function buildKey(
  key: KeyEntry,
  path: Path,
  models: KnownModels,
  nowMs: number,
  report: Report,
): ConfiguredKey {
  key.models?.forEach((id, index) => {
    if (models.declared.has(id)) return
    report.problem([...path, 'models', index], `there is no model ${id}.${didYouMean(id, models.declared)}`)
  })
  const expiresAtMs = key.expires === undefined ? undefined : Date.parse(key.expires)
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) {
    report.warning([...path, 'expires'], `the key ${key.name} has expired and is refused`)
  }
  return {
    name: key.name,
    managedAt: report.place(path),
    secret: key.secret,
    // A key that names an alias may use the model, under each of its names.
    models: key.models && [...new Set(key.models.map((id) => models.served.get(id)?.id ?? id))],
    expiresAtMs,
    limits: key.limits,
    budget: buildBudget(key.budget),
    scopes: key.scopes,
    maxCallsAtOnce: key.maxCallsAtOnce,
    addresses: key.addresses,
  }
}

function buildBudget(entry: KeyEntry['budget']): ConfiguredBudget | undefined {
  return entry && { limitNanoUsd: nanoUsdOf(entry.usd), per: entry.per, hard: entry.hard }
}

/** What the database says after the storm, beside what the admins were answered. */
import type { Client } from 'pg'
import { modelsOf, type Attempt } from './admins.ts'

interface ChangedModel {
  readonly object: string
  readonly name: string
  readonly before: Entry | null
  readonly after: Entry | null
}

interface Entry {
  readonly deployments: readonly { readonly weight?: number }[]
}

interface Verdict {
  readonly problems: readonly string[]
  /** Changes of pairs in the history. */
  readonly committed: number
  /** Of these, changes whose answer was lost. */
  readonly recovered: number
}

const stampOf = (entry: Entry | null): number => entry?.deployments[0]?.weight ?? 1

export async function judge(client: Client, attempts: readonly Attempt[], pairs: number): Promise<Verdict> {
  const problems: string[] = []
  const { rows } = await client.query<{ id: string; objects: ChangedModel[] }>(
    'SELECT change_id::text AS id, objects FROM configuration_changes ORDER BY change_id',
  )
  const changes = rows.slice(1)
  const saved = new Map(attempts.map((attempt) => [attempt.stamp, attempt]))
  const last = new Map<string, number>()
  const seen = new Set<number>()
  let recovered = 0
  for (const { id, objects } of changes) {
    const stamps = new Set(objects.map(({ after }) => stampOf(after)))
    const [stamp = 0] = stamps
    const attempt = saved.get(stamp)
    const names = objects.map(({ name }) => name).toSorted()
    if (attempt === undefined || stamps.size !== 1 || names.join() !== modelsOf(attempt.pair).join())
      problems.push(`change ${id} is partial: ${names.join()} with ${[...stamps].join()}`)
    if (seen.has(stamp)) problems.push(`change ${id}: ${stamp} was saved twice`)
    seen.add(stamp)
    if (attempt?.outcome === 'stale' || attempt?.outcome === 'refused')
      problems.push(`change ${id} was saved, and its admin was answered ${attempt.outcome}`)
    if (attempt?.outcome === 'unknown') recovered += 1
    for (const { name, before } of objects) {
      if (stampOf(before) !== (last.get(name) ?? 1))
        problems.push(
          `change ${id} of ${name} replaced ${last.get(name)}, and was made from ${stampOf(before)}`,
        )
      last.set(name, stamp)
    }
  }
  for (const { stamp, outcome, id } of attempts)
    if (outcome === 'saved' && !seen.has(stamp))
      problems.push(`change ${id} was answered, and is not in the history`)
  await judgeObjects(client, last, pairs, problems)
  await judgeAudit(client, changes.length, problems)
  return { problems, committed: changes.length, recovered }
}

async function judgeObjects(
  client: Client,
  last: ReadonlyMap<string, number>,
  pairs: number,
  problems: string[],
): Promise<void> {
  const { rows } = await client.query<{ name: string; entry: Entry }>(
    `SELECT name, entry FROM configuration_objects WHERE object = 'model'`,
  )
  if (rows.length !== 2 * pairs) problems.push(`there are ${rows.length} models`)
  for (const { name, entry } of rows)
    if (stampOf(entry) !== (last.get(name) ?? 1))
      problems.push(`${name} has ${stampOf(entry)}, and its history ends with ${last.get(name)}`)
}

async function judgeAudit(client: Client, changes: number, problems: string[]): Promise<void> {
  const { rows } = await client.query<{ count: string }>(
    `SELECT count(*) FROM audit WHERE action = 'model.change'`,
  )
  if (Number(rows[0]?.count) !== 2 * changes)
    problems.push(`the audit has ${rows[0]?.count} entries for ${2 * changes} changed models`)
}

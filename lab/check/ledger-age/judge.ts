/** What hot rows, cold files and sums of days say, against the formula. */
import type { Client } from 'pg'
import { DAY_MS, daySums, modelOf, projectOf, settled, Totals, type Age, type Sum } from './formula.ts'

/** Sums that entries themselves have; open unknowns are a matter of two entries. */
export const JUDGED = [
  'posts',
  'tokens',
  'images',
  'amount_nano',
  'unpriced',
  'requests',
  'hits',
  'saved_nano',
  'unknown_nano',
] as const satisfies readonly Sum[]

/** One project and model, as text: sums exceed what a number holds. */
export type SumsRow = Readonly<Record<'project' | 'model' | 'entries' | (typeof JUDGED)[number], string>>

/** What a day must say. `isSettled`: the worker has posted its open unknowns. */
export function expectedOf(age: Age, day: number, isSettled: boolean): { entries: number; totals: Totals } {
  const sums = daySums(age, day)
  const { entries, ...after } = isSettled ? settled(sums) : sums
  const totals = new Totals()
  totals.add({ entries, ...after }, ({ key, model }) => nameOf(projectOf(key), modelOf(model)))
  return { entries, totals }
}

/** The differences, in words. `sums`: those that the rows have. */
export function differencesOf(
  what: string,
  { entries, totals }: ReturnType<typeof expectedOf>,
  rows: readonly Partial<SumsRow>[],
  sums: readonly Sum[] = JUDGED,
): readonly string[] {
  const wrong: string[] = []
  const count = rows.reduce((sum, row) => sum + Number(row.entries), 0)
  if (count !== entries) wrong.push(`${what}: ${count} entries, expected ${entries}`)
  const byName = new Map<string, Partial<Record<Sum, string>>>(
    rows.map((row) => [nameOf(row.project, row.model), row]),
  )
  for (const name of new Set([...totals.names(), ...byName.keys()]))
    for (const sum of sums) {
      const [found, expected] = [BigInt(byName.get(name)?.[sum] ?? 0), totals.of(name, sum)]
      if (found !== expected) wrong.push(`${what}, ${name}: ${sum} is ${found}, expected ${expected}`)
    }
  return wrong
}

function nameOf(project = '', model = ''): string {
  return `${project} ${model}`
}

const ENTRIES = `
SELECT project, model, count(*)::text AS entries, count(*) FILTER (WHERE kind = 'post')::text AS posts,
  coalesce(sum(tokens), 0)::text AS tokens, sum(images)::text AS images, coalesce(sum(amount_nano), 0)::text AS amount_nano,
  count(*) FILTER (WHERE amount_nano IS NULL)::text AS unpriced, coalesce(sum(requests), 0)::text AS requests,
  coalesce(sum(hits), 0)::text AS hits, coalesce(sum(saved_nano), 0)::text AS saved_nano,
  coalesce(sum(unknown_nano), 0)::text AS unknown_nano
FROM usage_events WHERE request_id >= $1 AND request_id < $2 GROUP BY project, model`

export async function hotRows(client: Client, fromMs: number): Promise<readonly SumsRow[]> {
  const bound = (ms: number): string => ms.toString(16).padStart(12, '0').padEnd(32, '0')
  const { rows } = await client.query<SumsRow>(ENTRIES, [bound(fromMs), bound(fromMs + DAY_MS)])
  return rows
}

/** Sums of days have no count of entries of their own: that of the formula is taken. */
export async function dayRows(client: Client, day: string, entries: number): Promise<readonly SumsRow[]> {
  const { rows } = await client.query<SumsRow>(
    `SELECT project, model, '0' AS entries, ${JUDGED.map((sum) => `sum(${sum})::text AS ${sum}`).join(', ')}
     FROM usage_days WHERE day = $1 GROUP BY project, model`,
    [day],
  )
  return rows.map((row, index) => (index === 0 ? { ...row, entries: String(entries) } : row))
}

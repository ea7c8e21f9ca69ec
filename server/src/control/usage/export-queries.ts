/** Entries of the ledger, as they are exported. */
import type { Tags } from '#core/money/labels.ts'
import type { ColdEntries } from '#ports/lake.ts'
import { OTHER_TAGS } from '#stores/postgres/ledger/label-registry.ts'
import { lowestIdAt } from '#core/money/id-range.ts'
import type { Sql } from '#stores/postgres/database.ts'
import { answerOf, answersOf } from '../shared/rows.ts'
import {
  FILTER,
  filterValues,
  USAGE_GROUPS,
  type UsageFilter,
  type UsageGroup,
  type UsageSpan,
} from './rollup-queries.ts'

/**
 * $1, $2: ids, which are times. $3, $4, $9: the last entry of the page before; $10: page size. $11 to $13: users, or the key and the
 * values of a tag.
 */
const ENTRIES = `
SELECT request_id, attempt, kind, call_id, project, key_id AS key, model, deployment, usage AS counted_by, tokens, images,
  amount_nano AS nano, written_at, end_user AS "user", tags
FROM usage_events
WHERE request_id >= $1 AND request_id < $2 AND ${FILTER}
  AND ($3::uuid IS NULL OR (request_id, attempt, kind) > ($3, $4::smallint, $9))
  AND ($11::text[] IS NULL OR end_user = ANY($11)) AND ($12::text IS NULL OR tags ->> $12 = ANY($13::text[]))
ORDER BY request_id, attempt, kind LIMIT $10`

/** The fields that code names. All others are cells of the file as they are. */
export interface ExportedEntry {
  readonly request_id: string
  readonly attempt: number
  readonly kind: string
  readonly user: string | null
  readonly tags: Tags | null
}

/** In the order of their requests. `after`: the last entry of the page before. */
export function listEntries(sql: Sql, span: UsageSpan, limit: number, after?: ExportedEntry) {
  return answersOf<ExportedEntry>(sql, ENTRIES, [
    lowestIdAt(span.fromMs),
    lowestIdAt(span.endMs),
    after?.request_id ?? null,
    after?.attempt ?? null,
    ...filterValues(span),
    after?.kind ?? null,
    limit,
    ...labelValues(span.labelled),
  ])
}

/** Entries of days that are in files only, in the same order. */
export async function* coldEntries(cold: ColdEntries, span: UsageSpan): AsyncGenerator<ExportedEntry> {
  for await (const page of cold.entries(span.fromMs, span.endMs))
    for (const entry of page) {
      const shown = {
        request_id: entry.request_id,
        attempt: entry.attempt,
        kind: entry.kind,
        call_id: entry.call_id,
        project: entry.project,
        key: entry.key_id,
        model: entry.model,
        deployment: entry.deployment,
        counted_by: entry.usage,
        tokens: entry.tokens,
        images: entry.images,
        nano: entry.amount_nano,
        written_at: new Date(Number(entry.written_at / 1000n)),
        user: entry.end_user,
        tags: entry.tags === null ? null : (JSON.parse(entry.tags) as Tags),
      }
      if (isWithin(shown, span)) yield answerOf<ExportedEntry>(shown)
    }
}

type Named = Readonly<Record<UsageGroup, string>> & Pick<ExportedEntry, 'user' | 'tags'>

/** The rule of `FILTER` and of $11 to $13. */
function isWithin(entry: Named, { projects, only, labelled }: UsageFilter): boolean {
  if (projects !== undefined && !projects.includes(entry.project)) return false
  for (const group of USAGE_GROUPS) if (only[group]?.includes(entry[group]) === false) return false
  if (labelled === undefined) return true
  const { label, values } = labelled
  const value = label === 'user' ? entry.user : entry.tags?.[label.slice(OTHER_TAGS.length)]
  return value !== null && value !== undefined && values.includes(value)
}

/** The values of $11 to $13. */
function labelValues(labelled: UsageFilter['labelled']): unknown[] {
  if (labelled === undefined) return [null, null, null]
  const { label, values } = labelled
  return label === 'user' ? [values, null, null] : [null, label.slice(OTHER_TAGS.length), values]
}

/** `torana usage`: usage and cost by group. */
import { command, type Options } from '../command/command.ts'
import { FROM_TO, queryOf } from './query.ts'
import { MAX_TAG_KEYS, MAX_LABEL_VALUES } from '#core/money/labels.ts'
import { shownUsd, tableOf, type Columns } from './columns.ts'

interface Sum {
  readonly posts: number
  readonly usd: string
}

interface Group {
  readonly group: string
  readonly total: Sum
}

interface UsageBody {
  readonly from: string
  readonly to: string
  readonly data: readonly Group[]
  readonly others: { readonly groups: number; readonly total: Sum } | null
  readonly overflow: { readonly total: Sum } | null
  readonly none: { readonly total: Sum } | null
  readonly left_out_tags: Sum | null
  readonly total: Sum
  readonly forecast: { readonly until: string; readonly usd: string } | null
}

/** Timeout of an export: a year of a large ledger. */
const EXPORT_MS = 10 * 60_000

const OPTIONS = {
  by: {
    takes: '<group>',
    says: 'how to group: project, key, model, deployment, user, or tag:<key> such as tag:team (project)',
  },
  ...FROM_TO,
  project: { takes: '<project>', says: 'of one project only' },
  only: {
    takes: '<group>:<name>',
    says: 'of one group only, such as model:small, user:alice or tag:team:red',
  },
  csv: { says: 'print CSV: a row for each group and day, and a last line with the SHA-256 of all others' },
  ledger: { says: 'with --csv: every entry of the ledger' },
} as const satisfies Options

export const usage = command({
  name: 'usage',
  summary: 'show what was used and spent, by project, key, model, deployment, user or tag',
  options: OPTIONS,
  reach: 'node',
  more: 'Without --from: the last 30 days. Days are in UTC. The project `system` has what Torana itself spends on probes and tests.',
  examples: [
    'torana usage',
    'torana usage --by model --from 7d',
    'torana usage --by tag:team --project search',
    'torana usage --by key --from 2026-11-01 --to 2026-12-01 --csv > november.csv',
  ],
  async run({ control, text, flag, out }) {
    const query = queryOf(OPTIONS, text)
    if (!query.has('by')) query.set('by', 'project')
    if (flag('csv')) {
      query.set('format', 'csv')
      query.set('rows', flag('ledger') ? 'ledger' : 'groups')
      const answer = await control.open('GET', `/usage/export?${query.toString()}`, undefined, EXPORT_MS)
      for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) out.stdout.write(text)
      return 0
    }
    const found = await control.ask<UsageBody>('GET', `/usage?${query.toString()}`)
    return { data: found, text: listing(found, query.get('by') ?? '') }
  },
})

function listing(
  { from, to, data, others, overflow, none, left_out_tags: leftOut, total, forecast }: UsageBody,
  by: string,
): string {
  const columns: Columns<Group> = {
    [by]: 'group',
    requests: 'total.requests',
    tokens: 'total.tokens',
    images: 'total.images',
    spent: ({ total: { usd } }) => shownUsd(usd),
    'of it unknown': 'total.unknown_usd',
    'unpriced calls': 'total.unpriced',
    'saved by cache': 'total.saved_usd',
  }
  const rows: readonly Group[] = [
    ...data,
    ...(others === null ? [] : [{ group: `${others.groups} others`, total: others.total }]),
    ...(overflow === null ? [] : [{ group: '(other)', total: overflow.total }]),
    ...(none === null ? [] : [{ group: '(none)', total: none.total }]),
    { group: 'total', total },
  ]
  const ahead = forecast === null ? '' : ` This month will cost about ${shownUsd(forecast.usd)}.`
  const notes = [
    ...(overflow === null
      ? []
      : [
          `(other): calls with a value of ${by} beyond the first ${MAX_LABEL_VALUES} of their project and day. They are in the total, but are not told apart.`,
        ]),
    ...(leftOut === null
      ? []
      : [
          `${leftOut.posts} calls (${shownUsd(leftOut.usd)}) have a tag whose key is beyond the first ${MAX_TAG_KEYS} of their project and day. Where that is ${by}, they are in (none).`,
        ]),
  ]
  return `${tableOf(columns, rows)}\n${notes.map((note) => `${note}\n`).join('')}From ${from.slice(0, 16)}Z to ${to.slice(0, 16)}Z.${ahead}\n`
}

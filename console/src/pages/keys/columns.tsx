/** The columns of the list of keys. */
import { Sparkline } from '../../charts/sparkline.tsx'
import type { Schema } from '../../api/client.ts'
import { age, ageOf, count, dayWithYear } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { Budget, limitsText } from '../../parts/terms/shown.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { LockTag, Tag, type TagTone } from '../../ui/tag.tsx'
import { Tip } from '../../ui/tooltip.tsx'
import { words } from '../../words/words.ts'

export type Key = Schema<'Key'>

/** Names of keys that were made while this page was open. */
export const madeHere = new Set<string>()

const NOTE_TONE: Partial<Record<Key['notes'][number], TagTone>> = {
  idle: 'warn',
  ends_soon: 'warn',
  rotating: 'accent',
}

export const columns: readonly Column<Key>[] = [
  {
    id: 'key',
    head: words.keys.columns.key,
    sort: 'id',
    least: 250,
    cell: (key) => (
      <span className="flex min-w-0 items-center gap-2">
        <KeyName id={key.id} />
        {key.managed_at !== null && <LockTag at={key.managed_at} />}
        {madeHere.has(key.id) && <Tag tone="accent">{words.keys.isNew}</Tag>}
      </span>
    ),
  },
  {
    id: 'secret',
    drop: 1,
    head: words.keys.columns.secret,
    width: 66,
    cell: ({ secrets }) => (
      <span className="mono-12 flex flex-col leading-4 text-ink-2">
        {secrets.map(({ tail }) => (
          <span key={tail}>{tail}</span>
        ))}
      </span>
    ),
  },
  {
    id: 'used',
    head: words.keys.columns.used,
    sort: 'used',
    width: 98,
    align: 'right',
    cell: (key) => <LastUsed keyRow={key} />,
  },
  {
    id: 'days',
    drop: 2,
    head: words.keys.columns.days,
    width: 86,
    cell: ({ requests_30d: days }) => (
      <Sparkline
        values={days.length === 0 ? NO_DAYS : days}
        label={words.keys.sparkline(count(days.reduce((sum, one) => sum + one, 0)))}
      />
    ),
  },
  {
    id: 'models',
    drop: 3,
    width: 130,
    head: words.keys.columns.models,
    cell: ({ models }) => <Models models={models} />,
  },
  {
    id: 'limits',
    drop: 4,
    head: words.keys.columns.limits,
    width: 108,
    align: 'right',
    cell: ({ limits }) => <span className="tabular-nums text-ink-2">{limitsText(limits)}</span>,
  },
  { id: 'budget', head: words.keys.columns.budget, width: 248, cell: (key) => <Budget of={key} /> },
  {
    id: 'ends',
    drop: 5,
    head: words.keys.columns.ends,
    width: 106,
    sort: 'ends',
    cell: (key) => <Ends keyRow={key} />,
  },
  { id: 'notes', head: words.keys.columns.notes, width: 150, cell: (key) => <Notes keyRow={key} /> },
]

/** The name is never cut for the project's sake: it tells keys of one project apart. */
export function KeyName({ id }: { readonly id: string }) {
  const at = id.indexOf('/') + 1
  return (
    <span title={id} className="flex min-w-0 font-strong">
      <bdi className="truncate">{id.slice(0, at - 1)}</bdi>
      <bdi className="max-w-4/5 shrink-0 truncate">/{id.slice(at)}</bdi>
    </span>
  )
}

const NO_DAYS = [0, 0]

function LastUsed({ keyRow }: { readonly keyRow: Key }) {
  const nowMs = useNow()
  const { last_used_at: at, notes } = keyRow
  if (at === null) return <span className="text-ink-3">{words.keys.never}</span>
  return (
    <span className={notes.includes('idle') ? 'tabular-nums text-warn' : 'tabular-nums text-ink-2'}>
      {ageOf(at, nowMs)}
    </span>
  )
}

function Models({ models }: { readonly models: Key['models'] }) {
  if (models === null) return <span className="text-ink-2">{words.keys.all}</span>
  const [first, ...rest] = models
  return (
    <span className="block truncate text-ink-2" title={models.join(', ')}>
      {rest.length === 0 ? first : `${first}, ${words.keys.more(rest.length)}`}
    </span>
  )
}

function Ends({ keyRow }: { readonly keyRow: Key }) {
  const { expires_at: at, revoked_at: revoked } = keyRow
  if (revoked !== null)
    return <span className="text-ink-2">{words.keys.revokedAt(dayWithYear(revoked, 'UTC'))}</span>
  return <span className="text-ink-2">{at === null ? words.keys.never : dayWithYear(at, 'UTC')}</span>
}

export function Notes({ keyRow }: { readonly keyRow: Pick<Key, 'notes' | 'expires_at'> }) {
  const nowMs = useNow()
  const { notes, expires_at: ends } = keyRow
  return (
    <span className="flex gap-1.5">
      {notes.map((note) => (
        <Tip key={note} text={words.keys.noteHints[note]}>
          <span>
            <Tag tone={NOTE_TONE[note] ?? 'plain'}>
              {note === 'ends_soon'
                ? words.keys.notes.ends_soon(age(Date.parse(ends ?? '') - nowMs))
                : words.keys.notes[note]}
            </Tag>
          </span>
        </Tip>
      ))}
    </span>
  )
}

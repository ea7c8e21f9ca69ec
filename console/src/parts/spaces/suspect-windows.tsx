/** Times in which a deployment may have returned vectors of another space: how many, and to how many keys. */
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { spaceQueries, type SuspectWindow } from '../../api/queries/spaces.ts'
import { count, moment } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { useNow } from '../../time/now.ts'
import { IconButton } from '../../ui/button.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Section } from '../../ui/page.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { State } from '../../ui/state-mark.tsx'
import { TwoLines } from '../../ui/two-lines.tsx'
import { words } from '../../words/words.ts'
import { upstreamOf } from '../deployments/short-names.ts'
import { useDownload } from './suspect-list.ts'

/** What the list knows and a window does not. */
interface Row extends SuspectWindow {
  readonly times: readonly [from: string, until: string]
}

const { heads } = words.suspects

const COLUMNS: readonly Column<Row>[] = [
  { id: 'time', head: heads.time, least: 112, cell: ({ times }) => <TwoLines lines={times} /> },
  {
    id: 'deployment',
    head: heads.deployment,
    width: 120,
    cell: ({ deployment, model }) => (
      <TextLink to={paths.deployment(deployment, { tab: 'drift' })}>{upstreamOf(deployment, model)}</TextLink>
    ),
  },
  { id: 'vectors', head: heads.vectors, width: 76, align: 'right', cell: ({ vectors }) => count(vectors) },
  {
    id: 'requests',
    head: heads.requests,
    drop: 2,
    width: 84,
    align: 'right',
    cell: (one) => <Requests one={one} />,
  },
  { id: 'keys', head: heads.keys, drop: 3, width: 56, align: 'right', cell: ({ keys }) => count(keys) },
  {
    id: 'lines',
    head: heads.lines,
    drop: 1,
    width: 96,
    align: 'right',
    cell: ({ batch_lines: lines }) => count(lines),
  },
  { id: 'state', head: heads.state, width: 156, cell: (one) => <StateOf one={one} /> },
  {
    id: 'actions',
    head: <span className="sr-only">{heads.actions}</span>,
    width: 56,
    align: 'right',
    cell: (one) => <DownloadList one={one} />,
  },
]

interface SuspectWindowsProps {
  readonly model: string
  /** Only of this one. */
  readonly deployment?: string
  readonly className?: string
}

export function SuspectWindows({ model, deployment, className }: SuspectWindowsProps) {
  const windows = useQuery(spaceQueries.suspects())
  const now = Math.floor(useNow() / 60_000) * 60_000
  const say = words.suspects
  const rows = windows.data?.data
    .filter((one) => one.model === model && (deployment === undefined || one.deployment === deployment))
    .map((one) => ({ ...one, times: timesOf(one, now) }))
  if (rows === undefined || rows.length === 0) return null
  return (
    <Section
      title={say.title}
      note={<span className="tight:hidden phone:hidden">{say.note}</span>}
      {...(className && { className })}
    >
      <DataTable
        label={say.title}
        columns={COLUMNS}
        rows={rows}
        rowKey={({ id }) => id}
        hiddenColumns={deployment === undefined ? [] : ['deployment']}
        rowHeight={40}
        phoneRow={phoneRow}
        empty={null}
        fill={false}
        className="-mx-6 phone:-mx-4"
      />
      {rows.map(
        ({ id, deployment: name, unlisted_before: before }) =>
          before !== null && (
            <p key={id} className="mt-2 text-12 text-ink-2">
              {say.unlisted(upstreamOf(name, model), moment(before, now))}
            </p>
          ),
      )}
    </Section>
  )
}

/** As the banner says: vectors leave a deployment until its check fails, not until a later one passes. */
function timesOf({ from, found_at: found }: SuspectWindow, nowMs: number): Row['times'] {
  return [moment(from, nowMs), words.suspects.last(moment(found, nowMs))]
}

function Requests({ one: { requests, deployment, from, until } }: { readonly one: SuspectWindow }) {
  if (requests === 0) return <span className="text-ink-3">0</span>
  return (
    <TextLink to={paths.requests({ deployment, from, ...(until !== null && { to: until }) })}>
      {count(requests)}
    </TextLink>
  )
}

function StateOf({ one: { until, vectors } }: { readonly one: SuspectWindow }) {
  const { open, nothing, ended } = words.suspects
  if (until === null) return <State mark="odd">{open}</State>
  return vectors === 0 ? <State mark="good">{nothing}</State> : <State mark="warn">{ended}</State>
}

function DownloadList({ one }: { readonly one: SuspectWindow }) {
  const { download, busy } = useDownload()
  if (one.vectors === 0) return null
  return (
    <IconButton label={words.suspects.download} disabled={busy} onClick={() => download(one)}>
      <Download size={15} aria-hidden />
    </IconButton>
  )
}

const phoneRow = (one: Row) => (
  <PhoneRow
    title={one.times.join(' ')}
    note={
      <>
        <StateOf one={one} /> · {words.suspects.counts(one.vectors, one.keys)}
      </>
    }
    action={<DownloadList one={one} />}
  />
)

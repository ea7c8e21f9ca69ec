/** Times in which a deployment may have returned vectors of another space: how many, to how many keys, and their repair. */
import { useQuery } from '@tanstack/react-query'
import { Download, Wrench } from 'lucide-react'
import { useState } from 'react'
import { spaceQueries, type SuspectWindow } from '../../api/queries/spaces.ts'
import { count, moment } from '../../app/format.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { Meter } from '../../charts/meter.tsx'
import { useNow } from '../../time/now.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Section } from '../../ui/page.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { State, type Mark } from '../../ui/state-mark.tsx'
import { TwoLines } from '../../ui/two-lines.tsx'
import { words } from '../../words/words.ts'
import { upstreamOf } from '../deployments/short-names.ts'
import { useDownload } from './suspect-list.ts'

const RepairDialog = lazyPart(async () => (await import('./repair-dialog.tsx')).RepairDialog)

const MARKS: Record<SuspectWindow['state'], Mark> = {
  open: 'odd',
  waiting: 'warn',
  repairing: 'wait',
  repaired: 'good',
}

/** What the list knows and a window does not. */
interface Row extends SuspectWindow {
  readonly times: readonly [from: string, until: string]
  readonly onRepair: () => void
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
  { id: 'state', head: heads.state, width: 156, cell: (one) => <Progress one={one} /> },
  {
    id: 'actions',
    head: <span className="sr-only">{heads.actions}</span>,
    width: 158,
    align: 'right',
    cell: (one) => <Actions one={one} />,
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
  const [repaired, setRepaired] = useState<SuspectWindow>()
  const say = words.suspects
  const rows = windows.data?.data
    .filter((one) => one.model === model && (deployment === undefined || one.deployment === deployment))
    .map((one) => ({ ...one, times: timesOf(one, now), onRepair: () => setRepaired(one) }))
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
      {repaired && <RepairDialog window={repaired} onClose={() => setRepaired(undefined)} />}
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

function StateOf({ one: { state, vectors, repaired_vectors: done } }: { readonly one: SuspectWindow }) {
  const { states, nothing, byHand } = words.suspects
  if (vectors === 0 && state !== 'open') return <State mark="good">{nothing}</State>
  // What Torana had was made again; the rest is for those who have the texts.
  if (state === 'repaired' && vectors > done) return <State mark="warn">{byHand}</State>
  return <State mark={MARKS[state]}>{states[state]}</State>
}

function Progress({ one }: { readonly one: SuspectWindow }) {
  const { state, repairable_vectors: all, repaired_vectors: done, repaired_by: batches } = one
  const [batch] = batches
  return (
    <span className="flex min-w-0 flex-col">
      <StateOf one={one} />
      {batch !== undefined && (
        <span className="flex items-center gap-2 text-11 text-ink-2">
          {state === 'repairing' && <Meter share={done / Math.max(1, all)} width={48} />}
          <TextLink
            to={batches.length === 1 ? paths.batch(batch) : paths.batches()}
            title={words.suspects.progressHint}
          >
            {words.suspects.progress(done, all)}
          </TextLink>
        </span>
      )}
    </span>
  )
}

function Actions({ one }: { readonly one: Row }) {
  const may = useMay()
  const { download, busy } = useDownload()
  const say = words.suspects
  if (one.vectors === 0) return null
  return (
    <span className="inline-flex items-center gap-1.5">
      {(one.state === 'open' || one.state === 'waiting') && (
        <Button
          size="small"
          icon={<Wrench size={13} aria-hidden />}
          why={may('spaces.accept') ? undefined : say.onlyAdmins}
          onClick={one.onRepair}
        >
          {say.repair}
        </Button>
      )}
      <IconButton label={say.download} disabled={busy} onClick={() => download(one)}>
        <Download size={15} aria-hidden />
      </IconButton>
    </span>
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
    action={<Actions one={one} />}
  />
)

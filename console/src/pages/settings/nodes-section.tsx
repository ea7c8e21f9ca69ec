/** Who serves and writes: nodes with their load, how far the ledger has come, and what the doctor says. */
import { useQuery } from '@tanstack/react-query'
import { Fragment, useMemo, useState } from 'react'
import { ageOf, clockSeconds, count, moment, money, NONE, share, whole } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { useMay } from '../../app/session.ts'
import { Meter } from '../../charts/meter.tsx'
import { api, type Schema } from '../../api/client.ts'
import { shellQueries } from '../../api/queries/shell.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { Problem } from '../../ui/problem.tsx'
import { State, StateMark, type Mark } from '../../ui/state-mark.tsx'
import { toast } from '../../ui/toast.tsx'
import { TwoLines } from '../../ui/two-lines.tsx'
import { words } from '../../words/words.ts'
import { LedgerStatus } from './ledger-status.tsx'
import { SectionHead } from './section-head.tsx'

type Node = Schema<'Node'>

const say = words.nodes

/** More often than the shell asks. */
const nodesQuery = { ...shellQueries.nodes(), refetchInterval: 5000 }

const doctorQuery = api.queryOptions('get', '/api/v1/doctor', { params: { query: { hours: 2 } } })

const MARKS: Record<Node['state'], Mark> = { alive: 'good', silent: 'bad', ended: 'off' }
/** From here on requests begin to wait for this process. */
const BUSY = 0.8

export function NodesSection() {
  const query = useQuery(nodesQuery)
  const [ending, setEnding] = useState<Node>()
  const may = useMay()
  const mayEnd = may('nodes.end')
  const columns = useMemo(() => columnsFor(setEnding, mayEnd), [mayEnd])
  return (
    <>
      <SectionHead title={say.title} text={say.text} />
      <DataTable
        label={say.title}
        columns={columns}
        rows={query.data?.data}
        rowKey={({ id }) => id}
        query={query}
        fill={false}
        rowHeight={46}
        phoneRow={phoneRow}
        empty={<Empty title={say.empty} />}
      />
      <LedgerStatus />
      {may('doctor.read') && <Doctor />}
      {ending && <EndDialog node={ending} onClose={() => setEnding(undefined)} />}
    </>
  )
}

const phoneRow = ({ host, id, state, version, seen_at: at }: Node) => (
  <PhoneRow
    mark={<StateMark mark={MARKS[state]} word={say.states[state]} size={9} />}
    title={host}
    end={version}
    note={`${say.states[state]} · ${id.slice(-8)}`}
    endNote={<Ago at={at} />}
  />
)

function columnsFor(end: (node: Node) => void, mayEnd: boolean): readonly Column<Node>[] {
  const { columns } = say
  return [
    {
      id: 'host',
      head: columns.host,
      least: 220,
      cell: ({ host, id, version, role, started_at: at }) => (
        <TwoLines
          lines={[
            <Fragment key="host">
              <span className="font-strong">{host}</span>{' '}
              <span className="mono-12 text-ink-3">{id.slice(-8)}</span>
            </Fragment>,
            <Fragment key="process">
              {version} · {role} · <Started at={at} />
            </Fragment>,
          ]}
        />
      ),
    },
    {
      id: 'state',
      head: columns.state,
      width: 130,
      cell: ({ state, seen_at: at }) => (
        <TwoLines
          lines={[
            <State key="state" mark={MARKS[state]}>
              {say.states[state]}
            </State>,
            <Ago key="seen" at={at} />,
          ]}
        />
      ),
    },
    { id: 'loop', head: columns.loop, width: 116, cell: ({ now }) => <Loop now={now} /> },
    {
      id: 'calls',
      head: columns.calls,
      width: 70,
      align: 'right',
      cell: ({ now }) => (now === null ? NONE : whole(now.calls_under_way)),
    },
    {
      id: 'spool',
      head: columns.spool,
      width: 80,
      align: 'right',
      cell: ({ now }) =>
        now === null ? (
          NONE
        ) : (
          <span className={now.spool_waiting > 0 ? 'text-warn' : 'text-ink-2'}>
            {count(now.spool_waiting)}
          </span>
        ),
    },
    {
      id: 'leased',
      head: columns.leased,
      width: 100,
      align: 'right',
      cell: ({ leased_usd: usd }) => money(usd),
    },
    {
      id: 'end',
      head: '',
      width: 106,
      align: 'right',
      cell: (node) =>
        node.state === 'ended' ? null : (
          <span className="relative">
            <Button
              size="small"
              look="danger"
              why={!mayEnd ? say.onlyAdmins : node.state === 'alive' ? say.isAlive : undefined}
              onClick={() => end(node)}
            >
              {say.end}
            </Button>
          </span>
        ),
    },
  ]
}

function Started({ at }: { readonly at: string }) {
  return say.started(moment(at, useNow()))
}

function Ago({ at }: { readonly at: string }) {
  return say.ago(ageOf(at, useNow()))
}

function Loop({ now }: Pick<Node, 'now'>) {
  if (now === null) return NONE
  return (
    <span className="flex items-center gap-2 text-12 text-ink-2">
      <Meter share={now.loop_busy} colour={now.loop_busy >= BUSY ? 'warn' : 'ink-2'} width={48} />
      <span className="tabular-nums">{share(now.loop_busy)}</span>
    </span>
  )
}

function EndDialog({ node, onClose }: { readonly node: Node; readonly onClose: () => void }) {
  const { send } = useWrite('post', '/api/v1/nodes/{id}/end')
  return (
    <ConfirmDialog
      title={say.endTitle(node.host)}
      description={say.endText}
      facts={[
        [say.comesHome, say.leasedBack(money(node.leased_usd))],
        [say.records, say.unknownRecords],
      ]}
      go={say.end}
      onGo={async () => {
        const ended = await send({ params: { path: { id: node.id } }, body: { force: false } })
        toast(say.ended(node.host, money(ended.returned_usd)))
      }}
      onClose={onClose}
    />
  )
}

const VERDICT_MARKS: Record<string, Mark> = { ok: 'good', warn: 'warn', fail: 'bad' }

function Doctor() {
  const { data, error, refetch, isFetching } = useQuery(doctorQuery)
  return (
    <section className="px-6 py-5 phone:px-4">
      <header className="flex items-center gap-3 pb-2">
        <h2 className="text-13 font-semibold">{say.doctor}</h2>
        {data && <span className="text-12 text-ink-3">{say.doctorText(clockSeconds(data.at))}</span>}
        <span className="ml-auto">
          <Button size="small" busy={isFetching} onClick={() => void refetch()}>
            {say.again}
          </Button>
        </span>
      </header>
      {error !== null && <Problem error={error} retry={() => void refetch()} className="px-0" />}
      <ul className="border-t border-line">
        {data?.checks.map(({ name, verdict, says }) => (
          <li key={name} className="flex gap-3 border-b border-line py-2">
            <StateMark
              mark={VERDICT_MARKS[verdict] ?? 'off'}
              word={say.verdicts[verdict] ?? verdict}
              className="mt-1"
            />
            <span className="w-44 shrink-0 font-strong phone:w-28">{name}</span>
            <span className="min-w-0 flex-1 break-words text-ink-2">{says}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Projects with their limits, budget, keys, members and webhooks, and what webhooks were told last. */
import { useQuery } from '@tanstack/react-query'
import { MoreHorizontal, Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { keyQueries } from '../../api/queries/keys.ts'
import { useOpened } from '../../app/change-search.ts'
import { moment, whole } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { Budget, limitsText } from '../../parts/terms/shown.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { State, StateMark, type Mark } from '../../ui/state-mark.tsx'
import { LockTag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import { settings as place } from './place.ts'
import { SectionHead } from './section-head.tsx'
import { DeleteDialog, ProjectSheet, type Project } from './project-sheets.tsx'

type WebhookEvent = Schema<'WebhookEvent'>
type Open = { readonly kind: 'change' | 'delete'; readonly project: Project } | undefined

const say = words.projects

const OUTCOME_MARKS: Record<WebhookEvent['outcome'], Mark> = {
  sent: 'good',
  'given-up': 'bad',
  waiting: 'wait',
}

export function ProjectsSection() {
  const query = useQuery(keyQueries.projects())
  const [open, setOpen] = useState<Open>()
  const [isNew, setNew] = useOpened('new', place.useSearch().new)
  const may = useMay()
  const mayWrite = may('projects.write')
  const columns = useMemo(() => columnsFor(setOpen, mayWrite), [mayWrite])
  const close = (): void => setOpen(undefined)
  const newProject = mayWrite && (
    <Button look="primary" icon={<Plus size={15} aria-hidden />} onClick={() => setNew(true)}>
      {say.new}
    </Button>
  )
  return (
    <>
      <SectionHead title={say.title} text={say.text} action={newProject} />
      <DataTable
        label={say.title}
        columns={columns}
        rows={query.data?.data}
        rowKey={({ name }) => name}
        query={query}
        fill={false}
        rowHeight={36}
        phoneRow={phoneRowFor(setOpen, mayWrite)}
        empty={
          <Empty title={say.empty} actions={newProject}>
            {say.emptyText}
          </Empty>
        }
      />
      <Deliveries />
      {isNew && mayWrite && <ProjectSheet of={undefined} onClose={() => setNew(false)} />}
      {open?.kind === 'change' && <ProjectSheet of={open.project} onClose={close} />}
      {open?.kind === 'delete' && <DeleteDialog of={open.project} onClose={close} />}
    </>
  )
}

function columnsFor(open: (next: Open) => void, mayWrite: boolean): readonly Column<Project>[] {
  const { columns } = say
  return [
    {
      id: 'project',
      least: 230,
      head: columns.project,
      cell: ({ name, managed_at: at }) => (
        <span className="flex min-w-0 items-center gap-2">
          <span className="min-w-0 truncate font-strong">{name}</span>
          {at !== null && <LockTag at={at} />}
        </span>
      ),
    },
    {
      id: 'limits',
      drop: 2,
      head: columns.limits,
      width: 112,
      align: 'right',
      cell: ({ limits }) => <span className="tabular-nums text-ink-2">{limitsText(limits)}</span>,
    },
    { id: 'budget', head: columns.budget, width: 250, cell: (project) => <Budget of={project} /> },
    {
      id: 'keys',
      head: columns.keys,
      width: 72,
      align: 'right',
      cell: ({ name, keys }) => <TextLink to={paths.keys({ project: name })}>{whole(keys)}</TextLink>,
    },
    {
      id: 'members',
      drop: 1,
      head: columns.members,
      width: 90,
      align: 'right',
      cell: ({ members }) => <span className="text-ink-2">{whole(members)}</span>,
    },
    { id: 'webhooks', head: columns.webhooks, cell: (project) => <Webhooks of={project} /> },
    {
      id: 'more',
      head: '',
      width: 72,
      align: 'right',
      cell: (project) => <More of={project} open={open} mayWrite={mayWrite} />,
    },
  ]
}

function phoneRowFor(open: (next: Open) => void, mayWrite: boolean) {
  return (project: Project) => (
    <PhoneRow
      title={project.name}
      end={limitsText(project.limits)}
      note={<Budget of={project} />}
      action={<More of={project} open={open} mayWrite={mayWrite} />}
    />
  )
}

/** The first that needs a look, or the first. */
function Webhooks({ of: { webhooks } }: { readonly of: Project }) {
  const shown = webhooks.find(({ last }) => last?.outcome === 'given-up') ?? webhooks[0]
  if (shown === undefined) return <span className="text-ink-3">{say.noWebhooks}</span>
  const { url, last } = shown
  return (
    <span
      className="flex min-w-0 items-center gap-2 text-ink-2"
      title={webhooks.map((one) => one.url).join('\n')}
    >
      {last !== null && (
        <StateMark mark={OUTCOME_MARKS[last.outcome]} word={say.deliveries.outcomes[last.outcome]} />
      )}
      <span className="mono-12 min-w-0 truncate">{url}</span>
      {webhooks.length > 1 && (
        <span className="text-12 text-ink-3">{say.moreWebhooks(webhooks.length - 1)}</span>
      )}
    </span>
  )
}

interface MoreProps {
  readonly of: Project
  readonly open: (next: Open) => void
  readonly mayWrite: boolean
}

function More({ of, open, mayWrite }: MoreProps) {
  const why =
    of.managed_by === 'configuration'
      ? say.inFile(of.managed_at ?? 'torana.yaml')
      : mayWrite
        ? undefined
        : say.onlyAdmins
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label={say.more(of.name)} size="small">
          <MoreHorizontal size={15} aria-hidden />
        </IconButton>
      }
    >
      <MenuItem why={why} onSelect={() => open({ kind: 'change', project: of })}>
        {say.change}
      </MenuItem>
      <MenuItem danger why={why} onSelect={() => open({ kind: 'delete', project: of })}>
        {say.delete.action}
      </MenuItem>
    </Menu>
  )
}

function Deliveries() {
  const query = useQuery(keyQueries.webhookEvents())
  const { title, text, empty } = say.deliveries
  return (
    <section className="pt-5">
      <SectionHead title={title} text={text} />
      <DataTable
        label={title}
        columns={DELIVERY_COLUMNS}
        rows={query.data?.data}
        rowKey={({ id, url }) => `${id} ${url}`}
        query={query}
        fill={false}
        rowHeight={36}
        phoneRow={deliveryRow}
        empty={<Empty title={empty} />}
      />
    </section>
  )
}

function deliveryRow(event: WebhookEvent) {
  const { columns, outcomes } = say.deliveries
  return (
    <PhoneRow
      mark={<StateMark mark={OUTCOME_MARKS[event.outcome]} word={outcomes[event.outcome]} />}
      title={<span className="mono-12">{event.type}</span>}
      end={<Moment of={event} />}
      note={event.url}
      endNote={`${columns.tries} ${whole(event.tries)}`}
    />
  )
}

const DELIVERY_COLUMNS: readonly Column<WebhookEvent>[] = [
  {
    id: 'type',
    head: say.deliveries.columns.type,
    cell: ({ type }) => <span className="mono-12">{type}</span>,
  },
  { id: 'project', head: say.deliveries.columns.project, width: 160, cell: ({ project }) => project },
  {
    id: 'url',
    head: say.deliveries.columns.url,
    cell: ({ url }) => <span className="mono-12 block truncate text-ink-2">{url}</span>,
  },
  { id: 'at', head: say.deliveries.columns.at, width: 140, cell: (event) => <Moment of={event} /> },
  {
    id: 'tries',
    head: say.deliveries.columns.tries,
    width: 80,
    align: 'right',
    cell: ({ tries }) => whole(tries),
  },
  {
    id: 'outcome',
    head: say.deliveries.columns.outcome,
    width: 120,
    cell: ({ outcome }) => <State mark={OUTCOME_MARKS[outcome]}>{say.deliveries.outcomes[outcome]}</State>,
  },
]

function Moment({ of }: { readonly of: WebhookEvent }) {
  return <span className="tabular-nums text-ink-2">{moment(of.created_at, useNow())}</span>
}

/** All upstreams with their state, the age of their key, and what can be done with each. */
import { Ellipsis } from 'lucide-react'
import { createContext, use, type ReactNode } from 'react'
import { ageOf, NONE, whole } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { useNow } from '../../time/now.ts'
import { IconButton } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { DataTable, type Column, type Query } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { SourceTag } from './source-tag.tsx'
import { shownState, UpstreamState } from './upstream-state.tsx'
import { addressOf, declaredAt, keyAge, lockedBy, shortAddress, type UpstreamRow } from './upstream-row.ts'

export interface UpstreamActions {
  readonly onRename: (row: UpstreamRow) => void
  readonly onAddress: (row: UpstreamRow) => void
  readonly onReplaceKey: (row: UpstreamRow) => void
  readonly onForgetKey: (row: UpstreamRow) => void
  readonly onCheck: (row: UpstreamRow) => void
  readonly onDelete: (row: UpstreamRow) => void
  readonly onUndo: (row: UpstreamRow) => void
  /** Models that run on it, also by the pending changes. */
  readonly usersOf: (row: UpstreamRow) => readonly string[]
}

/** Rows are memoised on their data, so that the actions reach their cells beside it. */
const Actions = createContext<UpstreamActions | undefined>(undefined)

const say = words.routing.upstreams

const COLUMNS: readonly Column<UpstreamRow>[] = [
  { id: 'name', head: say.heads.name, width: 146, cell: (row) => <NameCell row={row} /> },
  {
    id: 'address',
    head: say.heads.address,
    least: 150,
    drop: 2,
    className: 'text-12',
    cell: (row) => <AddressCell row={row} />,
  },
  {
    id: 'state',
    head: say.heads.state,
    width: 214,
    className: 'text-12',
    cell: (row) => <StateCell row={row} />,
  },
  {
    id: 'keyAge',
    head: say.heads.keyAge,
    width: 78,
    align: 'right',
    className: 'text-12',
    cell: (row) => <KeyAge row={row} />,
  },
  {
    id: 'models',
    head: say.heads.models,
    width: 66,
    align: 'right',
    className: 'text-12',
    cell: (row) => <Models row={row} />,
  },
  {
    id: 'checked',
    head: say.heads.checked,
    width: 84,
    drop: 1,
    align: 'right',
    className: 'text-12',
    cell: (row) => <LastCheck row={row} />,
  },
  {
    id: 'menu',
    head: <span className="sr-only">{say.heads.menu}</span>,
    width: 52,
    align: 'right',
    cell: (row) => <RowMenu row={row} />,
  },
]

interface UpstreamListProps {
  readonly rows: readonly UpstreamRow[] | undefined
  readonly query: Query
  readonly actions: UpstreamActions
  readonly add: ReactNode
}

export function UpstreamList({ rows, query, actions, add }: UpstreamListProps) {
  return (
    <Actions value={actions}>
      <DataTable
        label={words.places.upstreams}
        columns={COLUMNS}
        rows={rows}
        rowKey={({ upstream }) => upstream.name}
        query={query}
        fill={false}
        phoneRow={phoneRow}
        // The title bar has a line already.
        className="[&_th]:border-t-0"
        empty={
          <Empty title={say.none} actions={add}>
            {say.noneText}
          </Empty>
        }
      />
    </Actions>
  )
}

function useActions(): UpstreamActions {
  const actions = use(Actions)
  if (actions === undefined) throw new Error('a cell outside of its list')
  return actions
}

function Was({ children }: { readonly children: string }) {
  return <span className="text-11 text-accent">{say.was(children)}</span>
}

function NameCell({ row: { upstream, change } }: { readonly row: UpstreamRow }) {
  const isDeleted = change?.entry === null
  return (
    <span className="inline-flex max-w-full items-baseline gap-2">
      <span className={classes('truncate font-semibold', isDeleted && 'text-ink-3 line-through')}>
        {change?.renameTo ?? upstream.name}
      </span>
      {change?.renameTo !== undefined && <Was>{upstream.name}</Was>}
    </span>
  )
}

function AddressCell({ row }: { readonly row: UpstreamRow }) {
  const { upstream } = row
  const [shown, before] = [addressOf(row), shortAddress(upstream.base_url)]
  return (
    <span className="inline-flex max-w-full items-center gap-2 text-ink-2" title={upstream.base_url}>
      <span className="truncate">{shown}</span>
      {shown !== before && <Was>{before}</Was>}
      <SourceTag source={upstream.source} path={['upstreams', upstream.name]} />
    </span>
  )
}

function StateCell({ row }: { readonly row: UpstreamRow }) {
  const { onReplaceKey, onUndo } = useActions()
  const may = useMay()
  const nowMs = useNow()
  const { name } = row.upstream
  if (row.change?.entry === null)
    return (
      <span className="inline-flex items-center gap-2 text-accent">
        {say.deleted}
        <button type="button" className="link" onClick={() => onUndo(row)}>
          {say.undo}
        </button>
      </span>
    )
  return (
    <span className="inline-flex max-w-full items-center gap-2.5">
      <UpstreamState row={row} />
      {shownState(row, nowMs).isRejected && may('upstreams.write') && (
        <button type="button" className="link" aria-label={say.keyOf(name)} onClick={() => onReplaceKey(row)}>
          {say.replaceKey}
        </button>
      )}
    </span>
  )
}

function KeyAge({ row: { upstream } }: { readonly row: UpstreamRow }) {
  const found = keyAge(upstream, useNow())
  if (found !== undefined)
    return <span className={found.tone}>{found.days === 0 ? say.today : say.days(found.days)}</span>
  return <span className="text-ink-3">{upstream.credential.source === 'none' ? say.noKey : say.inFile}</span>
}

function Models({ row: { upstream } }: { readonly row: UpstreamRow }) {
  const { models, name } = upstream
  if (models === 0) return <span className="text-ink-3">0</span>
  return (
    <TextLink
      to={paths.deployments({ upstream: name })}
      className="text-ink!"
      aria-label={say.models(models, name)}
    >
      {whole(models)}
    </TextLink>
  )
}

function LastCheck({ row: { upstream, check } }: { readonly row: UpstreamRow }) {
  const nowMs = useNow()
  const byHand = check === undefined || check === 'busy' ? 0 : check.atMs
  const lastMs = Math.max(byHand, upstream.last_check_at === null ? 0 : Date.parse(upstream.last_check_at))
  return (
    <span className="text-ink-2">
      {lastMs === 0 ? NONE : say.ago(ageOf(new Date(lastMs).toISOString(), nowMs))}
    </span>
  )
}

/** Names before the rest is only counted. */
const MAX_NAMES = 2

function RowMenu({ row }: { readonly row: UpstreamRow }) {
  const actions = useActions()
  const may = useMay()
  const { upstream } = row
  const at = declaredAt(upstream.source)
  const forbidden = may('upstreams.write') ? undefined : words.routing.onlyAdmins
  const locked = forbidden ?? lockedBy(upstream.source)
  const inFile =
    upstream.credential.source === 'configuration' ? say.keyInFile(at ?? 'torana.yaml') : undefined
  const users = actions.usersOf(row)
  const named = [
    ...users.slice(0, MAX_NAMES),
    ...(users.length > MAX_NAMES ? [say.more(users.length - MAX_NAMES)] : []),
  ]
  return (
    <Menu
      align="end"
      className="max-w-70"
      trigger={
        <IconButton label={say.menu(upstream.name)} size="small">
          <Ellipsis size={15} aria-hidden />
        </IconButton>
      }
    >
      <MenuItem why={locked} onSelect={() => actions.onRename(row)}>
        {say.rename}
      </MenuItem>
      <MenuItem why={locked} onSelect={() => actions.onAddress(row)}>
        {say.changeAddress}
      </MenuItem>
      <MenuItem why={forbidden ?? inFile} onSelect={() => actions.onReplaceKey(row)}>
        {say.replaceKeyItem}
      </MenuItem>
      {upstream.credential.source === 'store' && (
        <MenuItem why={forbidden} onSelect={() => actions.onForgetKey(row)}>
          {say.forgetKeyItem}
        </MenuItem>
      )}
      <MenuItem why={forbidden} onSelect={() => actions.onCheck(row)}>
        {say.checkNow}
      </MenuItem>
      <MenuLine />
      {row.change !== undefined && <MenuItem onSelect={() => actions.onUndo(row)}>{say.undo}</MenuItem>}
      <MenuItem
        danger
        why={locked ?? (users.length > 0 ? say.inUse(named.join(', ')) : undefined)}
        onSelect={() => actions.onDelete(row)}
      >
        {say.delete}
      </MenuItem>
    </Menu>
  )
}

const phoneRow = (row: UpstreamRow) => <PhoneUpstream row={row} />

function PhoneUpstream({ row }: { readonly row: UpstreamRow }) {
  const nowMs = useNow()
  const { mark, text } = shownState(row, nowMs)
  return (
    <PhoneRow
      mark={<StateMark mark={mark} word="" size={10} />}
      title={<NameCell row={row} />}
      end={<KeyAge row={row} />}
      note={mark === 'good' ? addressOf(row) : text}
      endNote={<LastCheck row={row} />}
      action={<RowMenu row={row} />}
    />
  )
}

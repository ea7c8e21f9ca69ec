/** One deployment in its tier: a row of fields on a wide screen, a card on a narrow one. */
import { Ellipsis, GripVertical, Lock } from 'lucide-react'
import type { ReactNode } from 'react'
import { duration } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { Meter } from '../../charts/meter.tsx'
import { IconButton } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Link } from '../../ui/link.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { Tag } from '../../ui/tag.tsx'
import { words } from '../../words/words.ts'
import {
  DeploymentLimit,
  DeploymentPrice,
  limitHead,
  limitIsChanged,
  limitText,
  LIMITS,
  priceWas,
  shownPrice,
  SkippedFor,
  tierWas,
  WeightField,
  weightWas,
} from './deployment-fields.tsx'
import { deploymentsIn, shareIn, type DeploymentRow, type Tier } from './deployments.ts'
import { identityOf } from './entry.ts'
import type { ModelEdit } from './model-edit.ts'
import { GRIP, ROW, type Moving } from './moving.ts'
import type { Kind } from './price.ts'
import { SourceTag } from './source-tag.tsx'

export interface DeploymentRowProps {
  readonly row: DeploymentRow
  readonly tier: Tier
  readonly kind: Kind
  readonly edit: ModelEdit
  readonly moving: Moving
  /** Of the tiers as they are stored. */
  readonly priorities: readonly number[]
  readonly onEdit: (row: DeploymentRow) => void
}

/** Grip, name, weight, three limits, price, menu. */
export const GRID =
  'grid grid-cols-[28px_minmax(104px,1fr)_136px_repeat(3,minmax(76px,92px))_minmax(96px,108px)_32px] gap-x-2.5'

/** Where the lifted row would go. */
function isDropBefore({ lifted }: Moving, tier: Tier, row: DeploymentRow): boolean {
  return lifted?.slot.priority === tier.priority && lifted.slot.before === row.key && lifted.key !== row.key
}

function boxOf(props: DeploymentRowProps) {
  const { row, tier, moving } = props
  const isLifted = moving.lifted?.key === row.key
  return {
    className: classes(
      'relative',
      isLifted && 'z-1 bg-selected shadow-menu',
      row.entry === null && 'bg-sunken',
      isDropBefore(moving, tier, row) &&
        'before:absolute before:inset-x-0 before:-top-px before:h-0.5 before:bg-accent',
    ),
    ...(row.entry !== null && { [ROW]: row.key }),
    ...(isLifted && { style: { transform: `translateY(${moving.lifted?.byPx ?? 0}px)` } }),
  }
}

export function DeploymentLine(props: DeploymentRowProps) {
  const { row, kind, edit } = props
  const { className, ...box } = boxOf(props)
  const isOwn = row.entry !== null
  return (
    <li {...box} data-compact="" className={classes(GRID, 'items-start py-2.5 pr-2', className)}>
      <span className="flex h-7 items-center justify-center">
        <Grip {...props} />
      </span>
      <Name {...props} />
      {isOwn ? <Weight {...props} /> : <ReadOnly {...props} />}
      {LIMITS[kind].map((limit) =>
        isOwn ? (
          <DeploymentLimit key={limit} row={row} edit={edit} limit={limit} />
        ) : (
          <Value key={limit}>{limitText(row, limit)}</Value>
        ),
      )}
      {isOwn ? (
        <DeploymentPrice row={row} edit={edit} kind={kind} />
      ) : (
        <Value>{shownPrice(row, edit, kind)}</Value>
      )}
      <RowMenu {...props} />
    </li>
  )
}

function Value({ children }: { readonly children: ReactNode }) {
  return <span className="flex min-h-7 items-center truncate tabular-nums">{children}</span>
}

function Grip({ row, edit, moving }: DeploymentRowProps) {
  const say = words.routing.move
  if (row.entry === null) return <Lock size={14} aria-hidden className="text-ink-2" />
  if (edit.forbidden !== undefined) return null
  return (
    <button
      type="button"
      {...{ [GRIP]: row.key }}
      aria-label={say.grip(row.upstream)}
      aria-pressed={moving.lifted?.key === row.key}
      title={say.help}
      className="flex h-7 w-5 cursor-grab touch-none items-center justify-center rounded-chip text-ink-3 hover:text-ink active:cursor-grabbing phone:h-9 phone:w-6"
      {...moving.gripProps(row)}
    >
      <GripVertical size={15} aria-hidden />
    </button>
  )
}

function nameNote({ row: { was, entry, live, upstreamModel } }: DeploymentRowProps): string {
  const say = words.routing.model
  if (entry !== null && was === undefined) return upstreamModel ?? say.noCalls
  const took = live?.p95_ms == null ? say.noCalls : say.p95(duration(live.p95_ms))
  return upstreamModel === undefined ? took : `${upstreamModel}, ${took}`
}

function Name(props: DeploymentRowProps) {
  const { row, priorities } = props
  const say = words.routing.model
  const from = tierWas(row, priorities)
  return (
    <span className="min-w-0">
      <span className="flex h-5 items-center gap-2">
        <DeploymentMark row={row} />
        <DeploymentName row={row} />
        {row.entry !== null && row.was === undefined && (
          <Tag tone="accent">{row.priority > 0 ? say.isFallback : say.isNew}</Tag>
        )}
      </span>
      <span className="block truncate pl-5 text-11 text-ink-3" title={nameNote(props)}>
        {nameNote(props)}
      </span>
      {from !== undefined && (
        <span className="block truncate pl-5 text-11 text-accent">{say.wasTier(from)}</span>
      )}
      <SkippedFor {...props} className="pl-5" />
    </span>
  )
}

function DeploymentMark({ row }: { readonly row: DeploymentRow }) {
  const state = row.live?.state
  if (state === undefined) return <StateMark mark="off" word={words.routing.model.isNew} />
  return <StateMark mark={STATE_MARKS[state]} word={words.deployments.states[state]} />
}

function DeploymentName({ row }: { readonly row: DeploymentRow }) {
  if (row.live === undefined) return <span className="truncate font-semibold">{row.upstream}</span>
  return (
    <Link
      to={paths.deployment(row.live.id)}
      title={row.live.id}
      className="truncate font-semibold hover:text-accent"
    >
      {row.upstream}
    </Link>
  )
}

function Weight({ row, tier, edit }: DeploymentRowProps) {
  const was = weightWas(row)
  return (
    <span className="flex items-start gap-2" {...(was !== undefined && { 'data-changed': '' })}>
      <span className="w-12 shrink-0">
        <WeightField row={row} edit={edit} />
      </span>
      <span className="min-w-0 flex-1 pt-1">
        <Meter share={shareIn(tier, row)} />
        {was !== undefined && (
          <span className="mt-1 block truncate text-11 text-accent">{words.routing.model.was(was)}</span>
        )}
      </span>
    </span>
  )
}

function ReadOnly({ row, edit: { model } }: DeploymentRowProps) {
  const say = words.routing.model
  if (row.live === undefined) return <span />
  return (
    <span className="min-w-0">
      <SourceTag source={row.live.source} path={['models', model, `upstream: ${row.upstream}`]} />
      <span className="block truncate pl-0.5 text-11 text-ink-3">
        {row.live.source.kind === 'file' ? say.readOnly : say.builtIn}
      </span>
    </span>
  )
}

function RowMenu({ row, edit, onEdit }: DeploymentRowProps) {
  const say = words.routing.model
  const own = deploymentsIn(edit.entry)
  const isLast = own.length === 1 && edit.locked === undefined
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label={say.menu(row.upstream)} size="small">
          <Ellipsis size={15} aria-hidden />
        </IconButton>
      }
    >
      {row.live !== undefined && <MenuItem to={paths.deployment(row.live.id)}>{say.view}</MenuItem>}
      {row.entry !== null && (
        <>
          <MenuItem why={edit.forbidden} onSelect={() => onEdit(row)}>
            {say.edit}
          </MenuItem>
          <MenuItem
            danger
            why={edit.forbidden}
            onSelect={() => edit.setDeployments(own.filter((one) => identityOf(one) !== row.key))}
          >
            {isLast ? say.removeModel : say.remove}
          </MenuItem>
        </>
      )}
    </Menu>
  )
}

/** A narrow screen: the weight can be typed, the rest is shown and edited in a sheet. */
export function DeploymentCard(props: DeploymentRowProps) {
  const { row, kind, edit, priorities, onEdit } = props
  const say = words.routing.model
  const { className, ...box } = boxOf(props)
  const was = weightWas(row)
  const from = tierWas(row, priorities)
  const took = row.live?.p95_ms == null ? undefined : say.p95(duration(row.live.p95_ms))
  const before = priceWas(row, edit, kind)
  const limits = LIMITS[kind].filter((limit) => limit !== 'tokensPerMinute' || row.entry === null)
  const shown = [
    ...limits.map(
      (limit) => [limitHead(limit, true), limitText(row, limit), limitIsChanged(row, limit)] as const,
    ),
    [say.heads.price, shownPrice(row, edit, kind), before !== undefined] as const,
  ]
  const values = (
    <span className="flex flex-wrap gap-x-4 gap-y-1 text-12">
      {shown.map(([head, text, isChanged]) => (
        <span key={head} className="flex flex-col">
          <span className="text-ink-3">{head}</span>
          <span className={isChanged ? 'font-semibold text-accent' : ''}>{text}</span>
        </span>
      ))}
      {before !== undefined && <span className="self-end text-11 text-accent">{say.was(before)}</span>}
    </span>
  )
  return (
    <li {...box} className={classes('rounded-panel border border-line px-3 py-2', className)}>
      <div className="flex min-h-10 items-center gap-2.5">
        <Grip {...props} />
        <DeploymentMark row={row} />
        <DeploymentName row={row} />
        {took !== undefined && <span className="shrink-0 text-12 text-ink-3">{took}</span>}
        <span className="ml-auto flex shrink-0 items-center gap-2">
          {row.entry === null && row.live !== undefined ? (
            <SourceTag source={row.live.source} path={['models', edit.model, `upstream: ${row.upstream}`]} />
          ) : (
            <>
              <span className="text-12 text-ink-3">{say.heads.weight}</span>
              <span className="w-14" {...(was !== undefined && { 'data-changed': '' })}>
                <WeightField row={row} edit={edit} />
              </span>
            </>
          )}
        </span>
      </div>
      <SkippedFor {...props} />
      <div className="flex items-start gap-2 pt-1">
        {row.entry === null || edit.forbidden !== undefined ? (
          <div className="min-w-0 flex-1">{values}</div>
        ) : (
          <button type="button" className="min-w-0 flex-1 text-left" onClick={() => onEdit(row)}>
            <span className="sr-only">{say.editOf(row.upstream)}</span>
            {values}
          </button>
        )}
        <span className="shrink-0 text-right text-11 text-accent">
          {was !== undefined && <span className="block">{say.was(was)}</span>}
          {from !== undefined && <span className="block">{say.wasTier(from)}</span>}
        </span>
        {row.entry !== null && <RowMenu {...props} />}
      </div>
    </li>
  )
}

/** The rules: on or off, what each alerts on, and which channels it notifies. */
import { MoreHorizontal, Moon } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { AlertKind, Channel, Rule } from '../../api/queries/alerts.ts'
import { useWrite } from '../../api/write.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { useMay } from '../../app/session.ts'
import { useNow } from '../../time/now.ts'
import { IconButton } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { DataTable, type Column, type Query } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { Section } from '../../ui/page.tsx'
import { Switch } from '../../ui/switch.tsx'
import { LockTag } from '../../ui/tag.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { ChannelIcon } from './channel-icon.tsx'
import { missingKinds, ruleOfKind, type RuleList } from './rule-form.ts'
import { conditionText, lastText, quietText, ruleName, scopeText } from './texts.ts'

const RuleSheet = lazyPart(async () => (await import('./rule-sheet.tsx')).RuleSheet)

/** A rule with the channels that it names; or a kind without a rule, which can be set up. */
interface Row {
  readonly rule: Rule
  readonly channels: readonly Pick<Channel, 'id' | 'name' | 'kind'>[]
  readonly open: (what: 'edit' | 'delete', rule: Rule) => void
  /** Of a kind without a rule. */
  readonly setUp: (() => void) | undefined
}

interface RulesProps {
  readonly list: RuleList | undefined
  readonly channels: readonly Channel[] | undefined
  readonly query: Query
  readonly onNew: (kind: AlertKind) => void
}

export function Rules({ list, channels, query, onNew }: RulesProps) {
  const [opened, setOpened] = useState<{ readonly what: 'edit' | 'delete'; readonly rule: Rule }>()
  const mayWrite = useMay()('alerts.write')
  const say = words.alerts.rules
  const rows = useMemo(() => {
    if (list === undefined) return undefined
    const open: Row['open'] = (what, rule) => setOpened({ what, rule })
    return [
      ...list.data.map((rule): Row => ({
        rule,
        channels: (channels ?? []).filter(({ id }) => rule.channels.includes(id)),
        open,
        setUp: undefined,
      })),
      ...(mayWrite ? missingKinds(list) : []).map((of): Row => ({
        rule: ruleOfKind(of),
        channels: [],
        open,
        setUp: () => onNew(of.kind),
      })),
    ]
  }, [list, channels, mayWrite, onNew])
  const close = (): void => setOpened(undefined)
  return (
    <Section
      title={say.title}
      className="[&>header]:px-6 phone:[&>header]:px-4"
      actions={<span className="text-12 text-ink-3 tight:hidden phone:hidden">{say.note}</span>}
    >
      <DataTable
        label={say.title}
        columns={COLUMNS}
        rows={rows}
        rowKey={({ rule }) => rule.id}
        query={query}
        rowHeight={34}
        phoneRow={phoneRow}
        fill={false}
        className="mt-1"
        empty={
          <Empty title={say.none} className="py-4">
            {say.noneText}
          </Empty>
        }
      />
      {opened?.what === 'edit' && <RuleSheet rule={opened.rule} onClose={close} />}
      {opened?.what === 'delete' && <DeleteRule rule={opened.rule} onClose={close} />}
    </Section>
  )
}

const { heads } = words.alerts.rules

const COLUMNS: readonly Column<Row>[] = [
  { id: 'on', head: heads.on, width: 58, cell: (row) => <Toggle row={row} /> },
  { id: 'rule', head: heads.rule, width: 146, cell: (row) => <Name row={row} /> },
  {
    id: 'condition',
    drop: 3,
    head: heads.condition,
    width: 170,
    cell: ({ rule }) => (
      <span title={conditionText(rule)} className="text-12 text-ink-2">
        {conditionText(rule)}
      </span>
    ),
  },
  {
    id: 'scope',
    drop: 2,
    head: heads.scope,
    width: 101,
    cell: ({ rule }) => (
      <span title={scopeText(rule.scope)} className={classes('text-12', !rule.on && 'text-ink-2')}>
        {scopeText(rule.scope)}
      </span>
    ),
  },
  { id: 'channels', head: heads.channels, least: 178, cell: (row) => <Channels row={row} /> },
  { id: 'quiet', drop: 1, head: heads.quiet, width: 110, cell: ({ rule }) => <QuietHours rule={rule} /> },
  {
    id: 'last',
    drop: 4,
    head: heads.last,
    width: 78,
    align: 'right',
    cell: ({ rule }) => <LastTriggered rule={rule} />,
  },
  { id: 'more', head: '', width: 46, align: 'right', cell: (row) => <More row={row} /> },
]

function Toggle({ row: { rule, setUp } }: { readonly row: Row }) {
  const may = useMay()
  const change = useWrite('patch', '/api/v1/alerts/rules/{id}')
  const say = words.alerts.rules
  const name = ruleName(rule)
  return (
    <span className="flex items-center">
      <Switch
        label={say.toggle(name)}
        checked={rule.on}
        disabled={!may('alerts.write') || rule.managed_by === 'configuration' || change.busy}
        onChange={(on) => {
          if (setUp !== undefined) setUp()
          else
            change.now({ params: { path: { id: rule.id } }, body: { on } }, () =>
              toast(on ? say.turnedOn(name) : say.turnedOff(name)),
            )
        }}
      >
        {null}
      </Switch>
    </span>
  )
}

function Name({ row: { rule, open, setUp } }: { readonly row: Row }) {
  const may = useMay()
  const name = ruleName(rule)
  const canEdit = may('alerts.write') && rule.managed_by === 'store'
  return (
    <span className="flex min-w-0 items-center gap-2">
      {canEdit ? (
        <button
          type="button"
          className={classes('truncate font-strong hover:text-accent', !rule.on && 'text-ink-2')}
          onClick={setUp ?? (() => open('edit', rule))}
        >
          {name}
        </button>
      ) : (
        <span className={classes('truncate font-strong', !rule.on && 'text-ink-2')}>{name}</span>
      )}
      {rule.managed_at !== null && <LockTag at={rule.managed_at} />}
    </span>
  )
}

function Channels({ row: { channels, setUp } }: { readonly row: Row }) {
  if (setUp !== undefined)
    return (
      <button type="button" className="link text-12" onClick={setUp}>
        {words.alerts.rules.setUp}
      </button>
    )
  if (channels.length === 0) return <span className="text-12 text-ink-3">{words.alerts.rules.noChannel}</span>
  return (
    <span
      title={channels.map(({ name }) => name).join(', ')}
      className="flex min-w-0 items-center gap-2.5 overflow-hidden text-12 text-ink-2"
    >
      {channels.map(({ id, name, kind }) => (
        <span key={id} className="inline-flex min-w-0 items-center gap-1">
          <ChannelIcon kind={kind} />
          <span className="truncate">{name}</span>
        </span>
      ))}
    </span>
  )
}

function QuietHours({ rule: { quiet } }: { readonly rule: Rule }) {
  if (quiet === null) return <span className="text-ink-3">–</span>
  return (
    <span title={quietText(quiet)} className="flex min-w-0 items-center gap-1 text-12">
      <Moon size={13} aria-hidden className="shrink-0 text-ink-3" />
      <span className="truncate">{quietText(quiet)}</span>
    </span>
  )
}

function LastTriggered({ rule: { last_at: at } }: { readonly rule: Rule }) {
  const nowMs = useNow()
  return <span className="text-ink-2">{at === null ? words.alerts.rules.never : lastText(at, nowMs)}</span>
}

function More({ row: { rule, open, setUp } }: { readonly row: Row }) {
  const may = useMay()
  if (setUp !== undefined) return null
  const say = words.alerts.rules
  const why = !may('alerts.write')
    ? words.alerts.forbidden
    : rule.managed_at === null
      ? undefined
      : words.alerts.declared(rule.managed_at)
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label={say.more(ruleName(rule))} size="small" className="-mr-1.5">
          <MoreHorizontal size={15} aria-hidden />
        </IconButton>
      }
    >
      <MenuItem why={why} onSelect={() => open('edit', rule)}>
        {say.edit}
      </MenuItem>
      <MenuLine />
      <MenuItem danger why={why} onSelect={() => open('delete', rule)}>
        {say.delete}
      </MenuItem>
    </Menu>
  )
}

const phoneRow = (row: Row) => (
  <span className="flex items-center gap-3 py-1.5">
    <Toggle row={row} />
    <span className="min-w-0 flex-1">
      <Name row={row} />
      <span className="block truncate text-12 text-ink-2">
        {conditionText(row.rule)}, {scopeText(row.rule.scope)}
      </span>
      <Channels row={row} />
    </span>
    <More row={row} />
  </span>
)

function DeleteRule({ rule, onClose }: { readonly rule: Rule; readonly onClose: () => void }) {
  const remove = useWrite('delete', '/api/v1/alerts/rules/{id}')
  const say = words.alerts.rules
  const name = ruleName(rule)
  return (
    <ConfirmDialog
      title={say.deleteTitle(name)}
      description={say.deleteText}
      facts={[
        [words.alerts.rule.condition, conditionText(rule)],
        [words.alerts.rule.scope, scopeText(rule.scope)],
      ]}
      go={say.deleteGo}
      onGo={async () => {
        await remove.send({ params: { path: { id: rule.id } } })
        toast(say.deleted(name))
      }}
      onClose={onClose}
    />
  )
}

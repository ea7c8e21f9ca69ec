/** One deployment: what ails it, since when, what happens by itself, and what a person can do. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { FlaskConical, KeyRound, MoreHorizontal, Pause, Play, Trash2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useChangeSearch } from '../../app/change-search.ts'
import { duration, NONE, rate, share, whole } from '../../app/format.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { paths } from '../../app/paths.ts'
import type { SearchOf } from '../../app/place.ts'
import { useMay } from '../../app/session.ts'
import { useStream } from '../../app/stream.ts'
import { deploymentQueries, putDeployment, type Deployment } from '../../api/queries/deployments.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Figures } from '../../ui/figures.tsx'
import { TextLink } from '../../ui/link.tsx'
import { usePhone } from '../../ui/media.ts'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Tag, type TagTone } from '../../ui/tag.tsx'
import type { Mark } from '../../ui/state-mark.tsx'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { words } from '../../words/words.ts'
import { DeploymentBanner } from './deployment-banner.tsx'
import { HealthTab } from './health-tab.tsx'
import { SidePanel } from './side-panel.tsx'
import { nameOf } from './state.tsx'
import { deployment as place } from './place.ts'

const DriftTab = lazyPart(async () => (await import('./drift-tab.tsx')).DriftTab)
const AcceptDialog = lazyPart(async () => (await import('./accept-dialog.tsx')).AcceptDialog)
const LimitsTab = lazyPart(async () => (await import('./limits-tab.tsx')).LimitsTab)
const CapabilitiesTab = lazyPart(async () => (await import('./capabilities-tab.tsx')).CapabilitiesTab)
const RequestsOf = lazyPart(async () => (await import('../../parts/requests/requests-of.tsx')).RequestsOf)
const UsageOf = lazyPart(async () => (await import('../../parts/usage/usage-of.tsx')).UsageOf)
const TestDialog = lazyPart(async () => (await import('./test-dialog.tsx')).TestDialog)
const DrainDialog = lazyPart(async () => (await import('./drain-dialog.tsx')).DrainDialog)

const TABS = ['health', 'drift', 'limits', 'capabilities', 'requests', 'usage'] as const
type TabName = (typeof TABS)[number]

/** What every row would say, and what the width has no room for. */
const OF_ITS_DEPLOYMENT = ['deployment', 'model', 'cache', 'where']

const TONES: Record<Mark, TagTone> = {
  good: 'good',
  warn: 'warn',
  bad: 'bad',
  odd: 'odd',
  off: 'plain',
  wait: 'accent',
}

type Open = 'test' | 'drain' | 'accept' | undefined

export function DeploymentPage() {
  const { id } = place.useParams()
  const search = place.useSearch()
  const queries = useQueryClient()
  const list = useQuery(deploymentQueries.all())
  useStream<Deployment>('deployment', (one) => putDeployment(queries, one))
  const [opened, setOpened] = useState<Open>()
  const change = useChangeSearch<SearchOf<typeof place>>()
  const open = opened ?? search.do
  const setOpen = (next: Open): void => {
    setOpened(next)
    if (search.do !== undefined) change({ do: undefined }, { replace: true })
  }
  const all = list.data?.data
  const one = all?.find((row) => row.id === id)
  const siblings = useMemo(
    () => all?.filter((row) => row.model === one?.model && row !== one) ?? [],
    [all, one],
  )
  const crumbs = [{ label: words.places.deployments, to: paths.deployments() }]
  if (one === undefined)
    return (
      <Page title={id} crumbs={crumbs}>
        {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
        {list.data !== undefined && (
          <Empty
            title={words.deployments.gone}
            actions={<TextLink to={paths.deployments()}>{words.deployments.backToList}</TextLink>}
          />
        )}
      </Page>
    )
  const name = nameOf(one)
  // Pictures have no vectors.
  const tabs = TABS.filter((value) => value !== 'drift' || one.space !== null)
  const tab = tabs.find((value) => value === search.tab) ?? 'health'
  const close = (): void => setOpen(undefined)
  return (
    <Page
      title={name}
      crumbs={[...crumbs, { label: one.model, to: paths.model(one.model) }]}
      actions={<Actions one={one} onOpen={setOpen} />}
      side={<SidePanel one={one} siblings={siblings} onAccept={() => setOpen('accept')} />}
      sideWidth={336}
    >
      <div className="flex flex-col gap-4 px-6 py-5 phone:px-4">
        <header className="flex flex-wrap items-center gap-3">
          <h2 className="text-18 font-semibold phone:hidden">{name}</h2>
          <span className="text-ink-2">
            {words.deployments.ofModel} <TextLink to={paths.model(one.model)}>{one.model}</TextLink>
          </span>
          <Tag tone={TONES[STATE_MARKS[one.state]]} mark={STATE_MARKS[one.state]}>
            {words.deployments.states[one.state]}
          </Tag>
        </header>
        <DeploymentBanner one={one} siblings={siblings} />
        <DeploymentFigures one={one} />
        <Tabs<TabName>
          label={words.deployments.tabs.label}
          value={tab}
          tabs={tabs.map((value) => ({
            value,
            label: words.deployments.tabs[value],
            to: paths.deployment(id, { ...search, tab: value === 'health' ? undefined : value }),
          }))}
        />
        {tab === 'health' && <HealthTab one={one} siblings={siblings} search={search} />}
        {tab === 'drift' && <DriftTab one={one} siblings={siblings} search={search} />}
        {tab === 'limits' && <LimitsTab one={one} search={search} />}
        {tab === 'capabilities' && <CapabilitiesTab one={one} />}
      </div>
      {tab === 'requests' && (
        <RequestsOf of={{ deployment: one.id }} search={search} hiddenColumns={OF_ITS_DEPLOYMENT} />
      )}
      {tab === 'usage' && <UsageOf of={{ deployment: one.id }} by="key" search={search} />}
      {open === 'accept' && <AcceptDialog one={one} siblings={siblings} onClose={close} />}
      {open === 'test' && <TestDialog one={one} onClose={close} />}
      {open === 'drain' && <DrainDialog one={one} siblings={siblings} onClose={close} />}
    </Page>
  )
}

function Actions({ one, onOpen }: { readonly one: Deployment; readonly onOpen: (open: Open) => void }) {
  const may = useMay()
  const isPhone = usePhone()
  const isDrained = one.drained !== null
  const Icon = isDrained ? Play : Pause
  const test = {
    icon: <FlaskConical size={15} aria-hidden />,
    why: may('deployments.test') ? undefined : words.deployments.onlyOperators,
    children: words.deployments.testNow,
  }
  const drain = {
    icon: <Icon size={15} aria-hidden />,
    why: may('deployments.drain') ? undefined : words.deployments.onlyOperators,
    children: isDrained ? words.deployments.takeBack : words.deployments.drain,
  }
  return (
    <>
      {!isPhone && <Button {...test} onClick={() => onOpen('test')} />}
      {!isPhone && <Button {...drain} onClick={() => onOpen('drain')} />}
      <Menu
        align="end"
        trigger={
          <IconButton label={words.deployments.more}>
            <MoreHorizontal size={16} aria-hidden />
          </IconButton>
        }
      >
        {isPhone && <MenuItem {...test} onSelect={() => onOpen('test')} />}
        {isPhone && <MenuItem {...drain} onSelect={() => onOpen('drain')} />}
        <MenuItem to={paths.model(one.model)}>{words.deployments.openModel}</MenuItem>
        <MenuItem
          icon={<KeyRound size={14} aria-hidden />}
          why={may('upstreams.write') ? undefined : words.deployments.onlyAdmins}
          to={paths.upstreams({ replace: one.upstream })}
        >
          {words.deployments.replaceCredential}
        </MenuItem>
        <MenuItem
          danger
          icon={<Trash2 size={14} aria-hidden />}
          why={may('upstreams.write') ? undefined : words.deployments.onlyAdmins}
          to={paths.upstreams({ forget: one.upstream })}
        >
          {words.deployments.forgetCredential}
        </MenuItem>
      </Menu>
    </>
  )
}

function DeploymentFigures({ one }: { readonly one: Deployment }) {
  const { figures } = words.deployments
  return (
    <Figures
      figures={[
        { name: figures.rate, value: rate(one.rate.requests) },
        { name: figures.p50, value: duration(one.p50_ms) },
        { name: figures.p95, value: duration(one.p95_ms) },
        { name: figures.failed, value: one.calls === 0 ? NONE : share(one.failed_share, 2) },
        { name: figures.calls, value: whole(one.calls) },
        {
          name: figures.atOnce,
          value:
            one.limit === null
              ? whole(one.in_flight)
              : words.deployments.of(whole(one.in_flight), whole(one.limit)),
        },
      ]}
    />
  )
}

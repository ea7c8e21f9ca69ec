/** What is ill, and why: all deployments, model by model, as they are now. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Image, ScanSearch, ScatterChart, Stethoscope } from 'lucide-react'
import { useMemo } from 'react'
import { paths } from '../../app/paths.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { useMay } from '../../app/session.ts'
import { useStream, useStreamState } from '../../app/stream.ts'
import { deploymentQueries, putDeployment, type Deployment } from '../../api/queries/deployments.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { DataTable, type Group } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { FilterChip } from '../../ui/filter-chip.tsx'
import { LiveMark } from '../../ui/live-mark.tsx'
import { Page } from '../../ui/page.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { State } from '../../ui/state-mark.tsx'
import { toast } from '../../ui/toast.tsx'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { words } from '../../words/words.ts'
import { columns, PhoneRow, type DeploymentRow } from './columns.tsx'
import { useCompare } from './compare.ts'
import { isUnwell, spaceTail, turnText } from './state.tsx'
import { deployments as place } from './place.ts'

type DeploymentSearch = SearchOf<typeof place>

export function DeploymentsPage() {
  const search = place.useSearch()
  const change = useChangeSearch<DeploymentSearch>()
  const may = useMay()
  const list = useQuery(deploymentQueries.all())
  const queries = useQueryClient()
  useStream<Deployment>('deployment', (one) => putDeployment(queries, one))
  const stream = useStreamState()
  const { compare, busy } = useCompare()
  const all = list.data?.data
  const rows = useMemo(() => all && rowsOf(all, search), [all, search])
  const models = [...new Set((all ?? []).filter(isGuarded).map(({ model }) => model))]
  const { nodes } = list.data ?? {}
  const groupOf = (row: DeploymentRow): Group => ({
    key: row.model,
    head: (
      <GroupHead
        one={row}
        {...(may('spaces.probe') &&
          isGuarded(row) && {
            onCompare: () => compare(row.model, () => toast(words.deployments.compared(row.model))),
          })}
      />
    ),
  })
  const chosen = search.health ?? search.kind ?? 'all'
  return (
    <Page
      title={words.places.deployments}
      actions={
        <>
          <LiveMark state={stream} />
          <span className="flex gap-3 phone:hidden">
            <ButtonLink to={paths.settings('nodes')} icon={<Stethoscope size={15} aria-hidden />}>
              {words.deployments.doctor}
            </ButtonLink>
            {models.length > 0 && (
              <Button
                icon={<ScanSearch size={15} aria-hidden />}
                busy={busy}
                why={may('spaces.probe') ? undefined : words.deployments.onlyOperators}
                onClick={() => models.forEach((model) => compare(model))}
              >
                {words.deployments.compareAll}
              </Button>
            )}
          </span>
        </>
      }
      bar={
        <>
          <Segmented
            label={words.deployments.show}
            value={chosen}
            segments={[
              { value: 'all', label: words.deployments.all, count: all?.length },
              { value: 'unwell', label: words.deployments.unwell, count: all?.filter(isUnwell).length },
              { value: 'embedding', label: words.deployments.embeddings },
              { value: 'image', label: words.deployments.images },
            ]}
            onChange={(value) =>
              change({
                health: value === 'unwell' ? value : undefined,
                kind: value === 'embedding' || value === 'image' ? value : undefined,
              })
            }
          />
          <FilterChip
            label={words.deployments.upstream}
            value={search.upstream}
            options={[...new Set((all ?? []).map(({ upstream }) => upstream))].map((name) => ({
              value: name,
              label: name,
            }))}
            onChange={(upstream) => change({ upstream })}
          />
          <span className="ml-auto flex items-center gap-4 text-12 phone:hidden">
            {LEGEND.map((state) => (
              <State
                key={state}
                mark={STATE_MARKS[state]}
                className={state === 'healthy' ? 'text-ink-2' : ''}
              >
                {words.deployments.states[state]}
              </State>
            ))}
          </span>
        </>
      }
    >
      <DataTable
        label={words.places.deployments}
        columns={columns}
        rows={rows}
        rowKey={(row) => row.id}
        query={list}
        rowHeight={36}
        href={(row) => paths.deployment(row.id)}
        groupOf={groupOf}
        phoneRow={phoneRow}
        fill={false}
        empty={
          <Empty
            title={words.deployments.none}
            actions={
              <Button onClick={() => change({ health: undefined, kind: undefined, upstream: undefined })}>
                {words.ui.clearFilters}
              </Button>
            }
          />
        }
      />
      {nodes !== undefined && rows !== undefined && rows.length > 0 && (
        <p className="px-6 py-3 text-12 text-ink-2 phone:px-4">
          {words.deployments.foot(nodes.reporting)}
          {nodes.reporting < nodes.alive && ` ${words.deployments.missing(nodes.reporting, nodes.alive)}`}
        </p>
      )}
    </Page>
  )
}

const phoneRow = (row: DeploymentRow) => <PhoneRow one={row} />

const LEGEND = ['healthy', 'limited', 'ejected', 'quarantined', 'held-back'] as const

function isGuarded({ space }: Deployment): boolean {
  return space !== null && space.state !== 'unguarded'
}

function rowsOf(
  all: readonly Deployment[],
  { health, kind, upstream }: DeploymentSearch,
): readonly DeploymentRow[] {
  const siblings = Map.groupBy(all, ({ model }) => model)
  return all
    .filter(
      (one) =>
        (health === undefined || isUnwell(one)) &&
        (kind === undefined || one.kind === kind) &&
        (upstream === undefined || one.upstream === upstream),
    )
    .map((one) => ({ ...one, turn: turnText(one, siblings.get(one.model) ?? []) }))
}

interface GroupHeadProps {
  readonly one: Deployment
  readonly onCompare?: () => void
}

function GroupHead({ one, onCompare }: GroupHeadProps) {
  const Icon = one.kind === 'image' ? Image : ScatterChart
  const space = spaceTail(one)
  return (
    <span className="flex items-center gap-2">
      <Icon size={14} aria-hidden className="text-ink-2" />
      <span className="font-strong">{one.model}</span>
      {space !== undefined && <span className="mono-12 text-ink-3 phone:hidden">{space}</span>}
      {onCompare && (
        <button type="button" className="link ml-auto text-12 phone:hidden" onClick={onCompare}>
          {words.deployments.compareNow}
        </button>
      )}
    </span>
  )
}

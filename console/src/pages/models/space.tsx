/** The vector space of a model: its id, the models that share it, and how each deployment compares. */
import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import type { Schema } from '../../api/client.ts'
import { spaceQueries } from '../../api/queries/spaces.ts'
import { ageOf, cosine, moment } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { PinningKeys } from '../../parts/spaces/pinning-keys.tsx'
import { SuspectWindows } from '../../parts/spaces/suspect-windows.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Facts } from '../../ui/page.tsx'
import { State, type Mark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'

type Model = Schema<'ModelDetail'>
type Row = Schema<'SpaceDeployment'> & { readonly probed: string }

const MARKS: Record<Row['state'], Mark> = {
  trusted: 'good',
  warned: 'warn',
  'held-back': 'off',
  quarantined: 'odd',
  unguarded: 'off',
}

const { spaceColumns: heads } = words.models.detail

const COLUMNS: readonly Column<Row>[] = [
  { id: 'deployment', head: heads.deployment, cell: ({ deployment }) => deployment },
  {
    id: 'state',
    head: heads.state,
    width: 130,
    cell: ({ state }) => <State mark={MARKS[state]}>{words.models.detail.spaceStates[state]}</State>,
  },
  {
    id: 'cosine',
    head: heads.cosine,
    width: 120,
    align: 'right',
    className: 'tabular-nums',
    cell: ({ last_probe: probe }) => cosine(probe?.least_cosine),
  },
  { id: 'probed', head: heads.probed, width: 96, align: 'right', cell: ({ probed }) => probed },
  {
    id: 'reason',
    drop: 1,
    head: heads.reason,
    cell: ({ reason }) => <span className="text-ink-3">{reason ?? ''}</span>,
  },
]

export function Space({ model }: { readonly model: Model }) {
  const may = useMay()
  const { detail } = words.models
  if (model.kind === 'image') return <Empty title={detail.noSpace} />
  if (!may('spaces.read')) return <Empty title={detail.onlyOperators} />
  return <SpaceOf model={model} />
}

function Pins({ pins }: { readonly pins: readonly Schema<'SpacePin'>[] }) {
  if (pins.length === 0) return words.deployments.pinnedBy(0)
  return (
    <span>
      {words.deployments.pinnedBy(pins.length)}: <PinningKeys pins={pins} />
    </span>
  )
}

function Models({ ids }: { readonly ids: readonly string[] }) {
  return (
    <span>
      {ids.map((id, index) => (
        <Fragment key={id}>
          {index > 0 && ', '}
          <TextLink to={paths.model(id, { tab: 'space' })}>{id}</TextLink>
        </Fragment>
      ))}
    </span>
  )
}

function SpaceId({ id }: { readonly id: string | undefined }) {
  return (
    <span className="mono-12 flex items-center gap-1">
      {id ?? '–'}
      {id !== undefined && <CopyIconButton text={id} />}
    </span>
  )
}

function SpaceOf({ model }: { readonly model: Model }) {
  const spaces = useQuery(spaceQueries.all())
  const nowMs = useNow()
  const { detail } = words.models
  const space = spaces.data?.data.find((one) => one.model === model.id)
  const rows = space?.deployments.map((one) => ({ ...one, probed: ageOf(one.last_probe?.at, nowMs) }))
  return (
    <>
      <div className="px-6 py-5 phone:px-4">
        <Facts
          labelWidth={110}
          facts={[
            [detail.spaceFacts.id, <SpaceId key="id" id={space?.space} />],
            ...(space && space.own_space !== space.space
              ? ([
                  [detail.spaceFacts.shared, <Models key="shared" ids={space.shared_with} />],
                  [detail.spaceFacts.own, <SpaceId key="own" id={space.own_space} />],
                ] as const)
              : []),
            [detail.spaceFacts.generation, space?.generation ?? '–'],
            [detail.spaceFacts.width, space?.width ?? '–'],
            [
              detail.spaceFacts.reference,
              space?.reference
                ? `${space.reference.deployment}, ${detail.acceptedAt(moment(space.reference.accepted_at, nowMs), space.reference.accepted_by)}`
                : detail.noReference,
            ],
            ...(space?.pinned_by
              ? ([[detail.spaceFacts.pinned, <Pins key="pins" pins={space.pinned_by} />]] as const)
              : []),
            [detail.spaceFacts.guard, model.guarded ? detail.guarded : detail.unguarded],
          ]}
        />
      </div>
      <DataTable
        label={detail.tabs.space}
        columns={COLUMNS}
        rows={rows}
        rowKey={({ deployment }) => deployment}
        href={({ deployment }) => paths.deployment(deployment)}
        query={spaces}
        empty={null}
        fill={false}
      />
      <SuspectWindows model={model.id} className="px-6 py-5 phone:px-4" />
    </>
  )
}

/** Who gets a call, as a picture and as a table, and what to do where there is nobody else. */
import type { Schema } from '../../api/client.ts'
import { ageOf, share } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { State } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { limitTexts, turnText, type Turn } from './turns.ts'
import { WhoGetsACall, withinHours } from './who-gets-a-call.tsx'

type Model = Schema<'ModelDetail'>
type Row = Turn & {
  readonly state: Schema<'DeploymentBrief'>['state']
  readonly turn: string
  readonly used: string
}

const { routingColumns: heads } = words.models.detail

const COLUMNS: readonly Column<Row>[] = [
  { id: 'deployment', head: heads.deployment, cell: ({ deployment }) => deployment },
  {
    id: 'state',
    head: heads.state,
    width: 120,
    cell: ({ state }) => <State mark={STATE_MARKS[state]}>{words.models.states[state]}</State>,
  },
  { id: 'turn', head: heads.turn, width: 130, cell: ({ turn }) => turn },
  {
    id: 'share',
    head: heads.share,
    width: 96,
    align: 'right',
    className: 'tabular-nums',
    cell: (row) => share(row.share),
  },
  { id: 'limits', drop: 2, head: heads.limits, cell: (row) => limitTexts(row).join(', ') || '–' },
  { id: 'used', drop: 1, head: heads.used, width: 110, cell: ({ used }) => used },
]

export function Routing({ model }: { readonly model: Model }) {
  const nowMs = useNow()
  const may = useMay()
  const { detail } = words.models
  const rows = model.tiers.flat().map((turn) => ({
    ...turn,
    state: model.deployments.find(({ id }) => id === turn.deployment)?.state ?? 'healthy',
    turn: turnText(model, turn.deployment),
    used:
      turn.last_used_at === null
        ? '–'
        : (withinHours(turn.last_used_at, nowMs) ?? ageOf(turn.last_used_at, nowMs)),
  }))
  return (
    <>
      <div className="pt-4">
        <WhoGetsACall model={model} />
      </div>
      <DataTable
        label={detail.tabs.routing}
        columns={COLUMNS}
        rows={rows}
        rowKey={({ deployment }) => deployment}
        href={({ deployment }) => paths.deployment(deployment)}
        empty={null}
        fill={false}
      />
      <div className="flex max-w-140 flex-col items-start gap-2 px-6 py-5 phone:px-4">
        {model.deployments.length === 1 && <p>{detail.noFailover}</p>}
        {may('upstreams.read') && (
          <ButtonLink to={paths.upstreams({ model: model.id, tab: 'routing' })}>
            {model.deployments.length === 1 ? detail.addFallback : detail.changeRouting}
          </ButtonLink>
        )}
      </div>
    </>
  )
}

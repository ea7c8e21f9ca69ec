/** The family of a model: which models share its space, and how well their vectors agree. */
import type { Schema } from '../../api/client.ts'
import { ageOf, cosine, share } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { FAMILY_MARKS } from '../../parts/spaces/family-marks.ts'
import { useNow } from '../../time/now.ts'
import { DataTable, type Column } from '../../ui/data-table.tsx'
import { Section } from '../../ui/page.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { State } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'

type Space = Schema<'Space'>
type Row = Schema<'SpaceFamily'> & { readonly model: string; readonly compared: string }

const { family: say } = words.models.detail

const COLUMNS: readonly Column<Row>[] = [
  { id: 'model', head: say.heads.model, cell: ({ model }) => <span className="font-strong">{model}</span> },
  { id: 'state', head: say.heads.state, width: 172, cell: (row) => <StateOf row={row} /> },
  {
    id: 'agreement',
    head: <span title={say.agreementHint}>{say.heads.agreement}</span>,
    width: 96,
    align: 'right',
    className: 'tabular-nums',
    cell: ({ agreement }) => cosine(agreement, 4),
  },
  {
    id: 'found',
    head: <span title={say.foundHint}>{say.heads.found}</span>,
    drop: 2,
    width: 110,
    align: 'right',
    className: 'tabular-nums',
    cell: ({ found }) => share(found, 0),
  },
  {
    id: 'compared',
    head: say.heads.compared,
    drop: 3,
    width: 96,
    align: 'right',
    cell: ({ compared }) => compared,
  },
  {
    id: 'reason',
    head: say.heads.reason,
    drop: 1,
    cell: ({ reason }) => <span className="text-ink-3">{reason ?? ''}</span>,
  },
]

function StateOf({ row: { state, is_reference: isReference } }: { readonly row: Row }) {
  return <State mark={FAMILY_MARKS[state]}>{isReference ? say.first : say.states[state]}</State>
}

/** Nothing, if torana.yaml declares no family for the model. */
export function Family({ space, spaces }: { readonly space: Space; readonly spaces: readonly Space[] }) {
  const nowMs = useNow()
  const name = space.family?.name
  if (name === undefined) return null
  const rows = spaces.flatMap(({ model, family }) =>
    family?.name === name ? [{ ...family, model, compared: ageOf(family.compared_at, nowMs) }] : [],
  )
  return (
    <Section title={say.title(name)} note={say.note} className="px-6 py-5 phone:px-4">
      <DataTable
        label={say.title(name)}
        columns={COLUMNS}
        rows={rows}
        rowKey={({ model }) => model}
        href={({ model }) => paths.model(model, { tab: 'space' })}
        selected={space.model}
        phoneRow={phoneRow}
        empty={null}
        fill={false}
        className="-mx-6 phone:-mx-4"
      />
    </Section>
  )
}

const phoneRow = (row: Row) => (
  <PhoneRow
    title={row.model}
    end={cosine(row.agreement, 4)}
    note={<StateOf row={row} />}
    endNote={row.compared}
  />
)

/** What can be asked for, and how. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plug, Terminal } from 'lucide-react'
import { useMemo } from 'react'
import { modelQueries } from '../../api/queries/models.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { duration } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { Empty } from '../../ui/empty.tsx'
import { AddFilter, FilterChip, ValueChip } from '../../ui/filter-chip.tsx'
import { usePhone } from '../../ui/media.ts'
import { MenuChoice } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { PhoneRow } from '../../ui/phone-row.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { ABILITIES, AbilityLegend } from './abilities.tsx'
import { MODEL_COLUMNS } from './columns.tsx'
import { filtered, sortedRows, type ModelSearch } from './filters.ts'
import { endsText, markOf, priceLines, type ModelRow } from './row-words.ts'
import { models as place } from './place.ts'

const NO_ROWS: readonly ModelRow[] = []

export function ModelsPage() {
  const search = place.useSearch()
  const set = useChangeSearch<ModelSearch>()
  const models = useQuery(modelQueries.all(search.project))
  const all = models.data?.data
  const rows = useMemo(() => all && sortedRows(filtered(all, search), search.sort), [all, search])
  const change = (next: Partial<ModelSearch>): void => set(next, { replace: true })
  const first = rows?.[0] ?? all?.[0]
  const isPhone = usePhone()
  return (
    <Page
      title={words.places.models}
      fill
      actions={
        <>
          {first && !isPhone && (
            <ButtonLink to={paths.model(first.id)} size="large" icon={<Terminal size={15} aria-hidden />}>
              {words.models.connectSdk}
            </ButtonLink>
          )}
          <ConnectButton />
        </>
      }
      bar={<Filters rows={all ?? NO_ROWS} search={search} onChange={change} />}
      foot={isPhone ? undefined : <AbilityLegend />}
    >
      {all !== undefined && all.every(({ owned_by: owner }) => owner === 'demo') && <OnlyDemo />}
      <DataTable
        label={words.places.models}
        columns={MODEL_COLUMNS}
        rows={rows}
        rowKey={rowKey}
        rowHeight={46}
        query={models}
        href={href}
        sort={search.sort ?? '-day'}
        onSort={(sort) => change({ sort })}
        phoneRow={phoneRow}
        empty={
          <Empty
            title={words.models.none}
            actions={<ButtonLink to={paths.models()}>{words.ui.clearFilters}</ButtonLink>}
          />
        }
      />
    </Page>
  )
}

const rowKey = ({ id }: ModelRow): string => id
const href = ({ id }: ModelRow) => paths.model(id)

const phoneRow = (row: ModelRow) => (
  <PhoneRow
    mark={<StateMark mark={markOf(row)} size={10} />}
    title={row.id}
    end={row.last_hour.p95_ms === null ? '' : duration(row.last_hour.p95_ms)}
    note={phoneNote(row)}
    endNote={row.retired ? '' : priceText(row)}
  />
)

function phoneNote(row: ModelRow): string {
  const say = words.models
  if (row.retired) return say.retired(row.retired.on, row.retired.successor)
  return endsText(row) ?? (row.aliases.length > 0 ? say.also(row.aliases.join(', ')) : say.kinds[row.kind])
}

/** The head of the column, which has the dollar sign, is not there on a narrow screen. */
function priceText(row: ModelRow): string {
  const [amount] = priceLines(row).lines
  return /^\d/.test(amount) ? `$${amount}` : amount
}

/** Where upstreams are, because a fallback is a pending change of that page. */
function ConnectButton() {
  const may = useMay()
  const navigate = useNavigate()
  return (
    <Button
      size="large"
      icon={<Plug size={15} aria-hidden />}
      why={may('upstreams.write') ? undefined : words.models.onlyAdmins}
      onClick={() => void navigate({ to: '/upstreams', search: { new: true } })}
    >
      {words.models.connectUpstream}
    </Button>
  )
}

function OnlyDemo() {
  return (
    <Banner className="mx-6 mb-3 phone:mx-4" title={words.models.onlyDemo} action={<ConnectButton />}>
      {words.models.onlyDemoNext}
    </Banner>
  )
}

interface FiltersProps {
  readonly rows: readonly ModelRow[]
  readonly search: ModelSearch
  readonly onChange: (next: Partial<ModelSearch>) => void
}

function Filters({ rows, search, onChange }: FiltersProps) {
  const say = words.models
  const kinds = (kind: ModelRow['kind']) => rows.filter((row) => row.kind === kind).length
  const can = search.can ?? []
  const upstreams = [
    ...new Set(rows.flatMap((row) => row.deployments.map(({ upstream }) => upstream))),
  ].sort()
  const managed = (by: ModelRow['managed_by']) =>
    rows.filter((row) => row.managed_by === by && !row.retired).length
  return (
    <>
      <SearchField
        label={say.search}
        value={search.q ?? ''}
        onChange={(q) => onChange({ q: q || undefined })}
      />
      <Segmented
        label={say.kind}
        value={search.kind ?? 'all'}
        segments={[
          { value: 'all', label: say.all, count: rows.length },
          { value: 'embedding', label: say.embeddings, count: kinds('embedding') },
          { value: 'image', label: say.images, count: kinds('image') },
        ]}
        onChange={(kind) => onChange({ kind: kind === 'all' ? undefined : kind })}
      />
      <FilterChip
        label={say.health}
        value={search.health}
        options={[
          { value: 'well', label: say.well },
          { value: 'ill', label: say.ill },
        ]}
        onChange={(health) => onChange({ health })}
      />
      {can.map((ability) => (
        <ValueChip
          key={ability}
          label={say.can}
          shown={say.abilities[ability] ?? ability}
          onRemove={() => onChange({ can: can.filter((one) => one !== ability) })}
        />
      ))}
      <AddFilter label={say.can}>
        {ABILITIES.filter(([name]) => !can.includes(name)).map(([name, Icon]) => (
          <MenuChoice
            key={name}
            chosen={false}
            icon={<Icon size={14} aria-hidden />}
            onSelect={() => onChange({ can: [...can, name] })}
          >
            {say.abilities[name]}
          </MenuChoice>
        ))}
      </AddFilter>
      {search.upstream === undefined ? (
        <AddFilter label={say.upstream}>
          {upstreams.map((upstream) => (
            <MenuChoice key={upstream} chosen={false} onSelect={() => onChange({ upstream })}>
              {upstream}
            </MenuChoice>
          ))}
        </AddFilter>
      ) : (
        <ValueChip
          label={say.upstream}
          shown={search.upstream}
          onRemove={() => onChange({ upstream: undefined })}
        />
      )}
      <span className="ml-auto text-12 text-ink-3 phone:hidden">
        {say.from(managed('configuration'), managed('store'), managed('built-in'))}
      </span>
    </>
  )
}

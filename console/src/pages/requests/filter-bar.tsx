/** Filters as chips that read like sentences. Three are always there, the others once they are in use. */
import type { Histogram } from '../../api/queries/requests.ts'
import { ListFilter } from 'lucide-react'
import { count } from '../../app/format.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { buttonClasses } from '../../ui/button.tsx'
import { AddFilter, FilterChip, ValueChip, type FilterOption } from '../../ui/filter-chip.tsx'
import { Menu, MenuChoice, MenuHead, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { words } from '../../words/words.ts'
import { FindField } from './find-field.tsx'
import { hasFilters, NO_FILTERS, type FilterName, type RequestSearch } from './filters.ts'

interface FilterBarProps {
  readonly search: RequestSearch
  readonly facets: Histogram['facets'] | undefined
}

/** Filters whose values are known. */
type FacetFilter = 'model' | 'key' | 'fault' | 'user' | 'tag'

const SLOWER_MS = [100, 500, 1000, 5000, 30_000] as const
const DEARER_USD = [0.001, 0.01, 0.1, 1] as const
const TRIES = [2, 3, 5] as const
const SOURCES = ['callers', 'batches'] as const
/** A menu with more can't be looked over. */
const MOST_OPTIONS = 12

export function FilterBar({ search, facets }: FilterBarProps) {
  const change = useChangeSearch<RequestSearch>()
  const text = words.requests.filters
  const set = (name: FilterName) => (value: string | undefined) => change({ [name]: value })
  const facet = (name: FacetFilter) =>
    search[name] === undefined ? null : (
      <FilterChip
        label={text[name]}
        options={optionsOf(facets?.[name], (value) => value)}
        value={search[name]}
        onChange={set(name)}
      />
    )
  const value = (name: FilterName, shown: string | undefined) =>
    shown === undefined ? null : (
      <ValueChip label={text[name]} shown={shown} onRemove={() => change({ [name]: undefined })} />
    )
  return (
    <>
      <FindField facets={facets} />
      <FilterChip
        label={text.outcome}
        options={optionsOf(facets?.outcome, (name) => nameIn(words.requests.outcomes, name))}
        value={search.outcome}
        shown={search.outcome && words.requests.outcomes[search.outcome]}
        onChange={set('outcome')}
      />
      <FilterChip
        label={text.kind}
        options={kindOptions(facets?.kind)}
        value={search.kind}
        shown={search.kind && words.requests.kinds[search.kind]}
        onChange={set('kind')}
      />
      <FilterChip
        label={text.source}
        options={SOURCES.map((source) => ({ value: source, label: words.requests.sources[source] }))}
        value={search.source}
        shown={search.source && words.requests.sources[search.source]}
        onChange={set('source')}
      />
      {facet('model')}
      {facet('key')}
      {facet('fault')}
      {facet('user')}
      {facet('tag')}
      {value('deployment', search.deployment)}
      {value('status', search.status?.toString())}
      {value('slower', search.slower === undefined ? undefined : `${search.slower} ms`)}
      {value('dearer', search.dearer === undefined ? undefined : `$${search.dearer}`)}
      {value('tries', search.tries === undefined ? undefined : `${search.tries}`)}
      {value('client', search.client)}
      {value('address', search.address)}
      <AddFilter>
        <MoreFilters search={search} facets={facets} />
      </AddFilter>
      {hasFilters(search) && (
        <button
          type="button"
          data-clear-filters
          className="text-12 text-ink-2 hover:text-ink"
          onClick={() => change(NO_FILTERS)}
        >
          {words.ui.clearFilters}
        </button>
      )}
    </>
  )
}

function MoreFilters({ search, facets }: FilterBarProps) {
  const change = useChangeSearch<RequestSearch>()
  const text = words.requests.filters
  const group = (name: FacetFilter) => {
    const options = optionsOf(facets?.[name], (value) => value)
    if (search[name] !== undefined || options.length === 0) return null
    return (
      <div key={name}>
        <MenuHead>{text[name]}</MenuHead>
        {options.slice(0, MOST_OPTIONS).map((option) => (
          <MenuItem key={option.value} note={option.count} onSelect={() => change({ [name]: option.value })}>
            {option.label}
          </MenuItem>
        ))}
        <MenuLine />
      </div>
    )
  }
  const values = (name: FilterName, list: readonly number[], label: (one: number) => string) =>
    list.map((one) => (
      <MenuItem key={`${name} ${one}`} onSelect={() => change({ [name]: one })}>
        {text[name]} {label(one)}
      </MenuItem>
    ))
  return (
    <>
      {group('model')}
      {group('key')}
      {group('fault')}
      {group('user')}
      {group('tag')}
      {values('slower', SLOWER_MS, (ms) => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`))}
      <MenuLine />
      {values('dearer', DEARER_USD, (usd) => `$${usd}`)}
      <MenuLine />
      {values('tries', TRIES, (calls) => `${calls}`)}
    </>
  )
}

/** On a narrow screen all filters stand behind one button. */
export function PhoneFilters({ search, facets }: FilterBarProps) {
  const change = useChangeSearch<RequestSearch>()
  const set = (name: FilterName, value: string | undefined) => change({ [name]: value })
  const outcomes = optionsOf(facets?.outcome, (name) => nameIn(words.requests.outcomes, name))
  return (
    <Menu
      align="end"
      className="max-h-[70vh] overflow-y-auto"
      trigger={
        <button
          type="button"
          aria-label={words.ui.filter}
          className={buttonClasses('plain', 'normal', 'w-9 px-0!')}
        >
          <ListFilter size={16} aria-hidden />
        </button>
      }
    >
      {hasFilters(search) && <MenuItem onSelect={() => change(NO_FILTERS)}>{words.ui.clearFilters}</MenuItem>}
      <MenuHead>{words.requests.filters.outcome}</MenuHead>
      {outcomes.map((option) => (
        <MenuChoice
          key={option.value}
          chosen={option.value === search.outcome}
          note={option.count}
          onSelect={() => set('outcome', option.value === search.outcome ? undefined : option.value)}
        >
          {option.label}
        </MenuChoice>
      ))}
      <MenuLine />
      <MoreFilters search={search} facets={facets} />
    </Menu>
  )
}

function optionsOf(
  counts: Readonly<Record<string, number>> | undefined,
  label: (value: string) => string,
): readonly FilterOption[] {
  return Object.entries(counts ?? {})
    .toSorted(([, a], [, b]) => b - a)
    .map(([value, requests]) => ({ value, label: label(value), count: count(requests) }))
}

function kindOptions(counts: Readonly<Record<string, number>> | undefined): readonly FilterOption[] {
  const all = { embedding: 0, generation: 0, edit: 0, ...counts }
  const { kinds } = words.requests
  return [
    { value: 'embedding', label: kinds.embedding, count: count(all.embedding) },
    { value: 'generation', label: kinds.generation, count: count(all.generation) },
    { value: 'edit', label: kinds.edit, count: count(all.edit) },
    { value: 'image', label: kinds.image, count: count(all.generation + all.edit) },
  ]
}

function nameIn(names: Readonly<Record<string, string>>, name: string): string {
  return names[name] ?? name
}

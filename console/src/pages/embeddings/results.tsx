/** What came of a call: a strip of facts, and one of several ways to look at the vectors. */
import {
  Code,
  Columns2,
  Download,
  Grid3x3,
  Map as MapIcon,
  Shrink,
  Search,
  Table,
  Binary,
} from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { Schema } from '../../api/client.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { paths } from '../../app/paths.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { Button } from '../../ui/button.tsx'
import { saveBlob } from '../../ui/object-url.ts'
import { Problem } from '../../ui/problem.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { useWidthView } from './width-view.ts'
import { summaryOf } from './inputs-field.tsx'
import { MapView } from './map-view.tsx'
import { useSearchQuery } from './queries.ts'
import type { Run } from './run.ts'
import { Strip } from './strip.tsx'
import { embeddings as place } from './place.ts'

const SimilarityView = lazyPart(async () => (await import('./similarity-view.tsx')).SimilarityView)
const SearchView = lazyPart(async () => (await import('./search-view.tsx')).SearchView)
const CompareView = lazyPart(async () => (await import('./compare-view.tsx')).CompareView)
const TypesView = lazyPart(async () => (await import('./types-view.tsx')).TypesView)
const RawView = lazyPart(async () => (await import('./raw-view.tsx')).RawView)
const CodeView = lazyPart(async () => (await import('./code-view.tsx')).CodeView)

const VIEWS = ['map', 'similarity', 'search', 'compare', 'types', 'raw', 'code'] as const
type ViewName = (typeof VIEWS)[number]

const ICONS: Record<ViewName, ReactNode> = {
  map: <MapIcon size={15} aria-hidden />,
  similarity: <Grid3x3 size={15} aria-hidden />,
  search: <Search size={15} aria-hidden />,
  compare: <Columns2 size={15} aria-hidden />,
  types: <Shrink size={15} aria-hidden />,
  raw: <Binary size={15} aria-hidden />,
  code: <Code size={15} aria-hidden />,
}

/** Views with a chart, which a table can replace. */
const CHARTS: ReadonlySet<ViewName> = new Set(['map', 'similarity', 'types'])

interface ResultsProps {
  readonly run: Run
  readonly models: readonly Schema<'ModelRow'>[]
  readonly isStale: boolean
}

export function Results({ run, models, isStale }: ResultsProps) {
  const search = place.useSearch()
  const change = useChangeSearch<SearchOf<typeof place>>()
  const { view: name = 'map', ...settings } = search
  const widthView = useWidthView(run, search.width)
  const query = useSearchQuery(run, widthView.refresh)
  const [isTable, setTable] = useState(false)
  const say = words.embeddings
  const props = {
    run,
    widthView,
    query,
    models,
    isTable,
    onTable: setTable,
    onWidth: (next: number | undefined) => change({ width: next }, { replace: true }),
  }
  return (
    <>
      <p className="hidden min-h-11 items-center gap-3 border-b border-line px-4 text-13 phone:flex">
        <span className="min-w-0 truncate font-strong">{run.request.model}</span>
        <span className="ml-auto shrink-0 text-ink-2">{summaryOf(run.typed)}</span>
      </p>
      <Strip run={run} isStale={isStale} />
      <div className="flex shrink-0 items-center border-b border-line pr-5 @max-3xl:flex-col @max-3xl:items-stretch @max-3xl:pr-0">
        <Tabs
          label={say.views.label}
          value={name}
          className="min-w-0 flex-1 border-b-0 px-5 phone:px-4"
          tabs={VIEWS.map((value) => ({
            value,
            to: paths.embeddings({ ...settings, view: value === 'map' ? undefined : value }),
            label: (
              <span className="flex h-7 items-center gap-1.5">
                {ICONS[value]}
                {say.views[value]}
              </span>
            ),
          }))}
        />
        <div className="flex items-center gap-1 @max-3xl:px-3 @max-3xl:pb-2">
          {CHARTS.has(name) && (
            <Button
              look="quiet"
              aria-pressed={isTable}
              icon={<Table size={15} aria-hidden />}
              onClick={() => setTable(!isTable)}
            >
              {say.table}
            </Button>
          )}
          <Button
            look="quiet"
            title={say.vectorsHint}
            icon={<Download size={15} aria-hidden />}
            onClick={() => void download(run)}
          >
            {say.vectors}
          </Button>
        </div>
      </div>
      {widthView.error !== undefined && <Problem error={widthView.error} className="px-5 py-4" />}
      {name === 'map' && <MapView {...props} />}
      {name === 'similarity' && <SimilarityView {...props} />}
      {name === 'search' && <SearchView {...props} />}
      {name === 'compare' && <CompareView {...props} />}
      {name === 'types' && <TypesView {...props} />}
      {name === 'raw' && <RawView {...props} />}
      {name === 'code' && <CodeView {...props} />}
    </>
  )
}

async function download({ vectors, typed, request }: Run): Promise<void> {
  try {
    const lines = await vectors.request('lines', typed.texts)
    saveBlob(lines, `${request.model.replaceAll('/', '-')}.jsonl`)
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), { mark: 'bad' })
  }
}

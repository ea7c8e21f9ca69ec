/** The map with its query, its side list, and the slider below. */
import { useMemo, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { cosine, share } from '../../app/format.ts'
import type { ChartTable } from '../../charts/frame.tsx'
import { Mark, ShapeMark } from '../../charts/vectors/mark.tsx'
import { VectorMap } from '../../charts/vectors/vector-map.tsx'
import type { MapImage } from '../../charts/vectors/map-images.ts'
import { usePhone } from '../../ui/media.ts'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import type { View } from '../../workers/vectors.ts'
import { words } from '../../words/words.ts'
import { Dimensions } from './dimensions.tsx'
import { Elsewhere } from './elsewhere.tsx'
import type { WidthView } from './width-view.ts'
import { kindOfInput } from './content-lines.ts'
import { NearestByKind } from './nearest-by-kind.tsx'
import { Parts } from './parts.tsx'
import { InputThumbnail } from './thumbnail.tsx'
import { ranked, type QueryState } from './queries.ts'
import { QueryField } from './query-field.tsx'
import type { Run } from './run.ts'
import type { TypedTexts } from './texts.ts'

const RAYS = 3
const SHOWN_NEAREST = 9
const MAP_HEIGHT = { desktop: 512, phone: 380 }

export interface ViewProps {
  readonly run: Run
  readonly widthView: WidthView
  readonly query: QueryState
  readonly models: readonly Schema<'ModelRow'>[]
  readonly isTable: boolean
  readonly onTable: (isTable: boolean) => void
  readonly onWidth: (width: number | undefined) => void
}

export function MapView({ run, widthView, query, models, isTable, onTable, onWidth }: ViewProps) {
  const [at, setAt] = useState<number>()
  const [hasLabels, setLabels] = useState(true)
  const { view } = widthView
  const { typed } = run
  const say = words.embeddings
  const model = models.find(({ id }) => id === run.request.model)
  const rows = useMemo(() => (view?.query ? ranked(view.query.cosines) : []), [view])
  const star = useMemo(
    () =>
      view?.query && query.text !== undefined ? { text: query.text, point: view.query.point } : undefined,
    [view, query.text],
  )
  const rays = useMemo(() => rows.slice(0, RAYS).map(({ index }) => index), [rows])
  const images = useMemo(() => imagesOf(run), [run])
  const isPhone = usePhone()
  const height = isPhone ? MAP_HEIGHT.phone : MAP_HEIGHT.desktop
  // The slider says its place at once, and the view follows: until then the map is the same.
  const map = useMemo(
    () =>
      view === undefined ? (
        <div className="appearing-late rounded-panel bg-sunken" style={{ height }} />
      ) : (
        <VectorMap
          caption={say.map.caption(run.count, share(view.shares[0]), share(view.shares[1]))}
          texts={typed.texts}
          groupOf={typed.groupOf}
          points={view.points}
          images={images}
          imageEdge={isPhone ? 30 : 36}
          shares={view.shares}
          query={star}
          nearest={rays}
          hasLabels={hasLabels}
          height={height}
          at={at}
          onAt={setAt}
          describe={(index) => describe(typed, view, index)}
          tip={at === undefined ? undefined : <Nearby run={run} view={view} index={at} />}
          table={() => tableOf(typed, view)}
          isTable={isTable}
          onTable={onTable}
        />
      ),
    [view, run, star, rays, hasLabels, at, isTable, say, typed, onTable, images, isPhone, height],
  )
  return (
    <div className="flex gap-5 px-5 py-3.5 @max-3xl:flex-col @max-3xl:gap-3 phone:px-4">
      <div className="flex min-w-0 flex-1 flex-col gap-2.5 @max-3xl:contents">
        <div className="flex flex-wrap items-center gap-2">
          <QueryField query={query} model={model} />
          <Segmented
            label={say.map.labels}
            value={hasLabels ? 'on' : 'off'}
            segments={[
              { value: 'on', label: say.map.withLabels },
              { value: 'off', label: say.map.withoutLabels },
            ]}
            onChange={(value) => setLabels(value === 'on')}
          />
        </div>
        {query.error !== undefined && <Problem error={query.error} className="px-0 py-1" />}
        {map}
        <Groups typed={typed} hasQuery={star !== undefined} />
        {/* Where all is in one column, the nearest come first. */}
        <div className="@max-3xl:order-last">
          <Dimensions widthView={widthView} model={model} count={run.count} onSettled={onWidth} />
        </div>
      </div>
      <aside className="flex w-60 shrink-0 flex-col gap-6 empty:hidden @max-3xl:w-full">
        {rows.length > 0 && (
          <section>
            <header className="flex min-h-[30px] items-center">
              <h2 className="flex-1 text-13 font-semibold">{say.query.nearest}</h2>
              <span className="text-12 text-ink-3">{say.query.cosine}</span>
            </header>
            <NearestByKind rows={rows} shown={SHOWN_NEAREST} run={run} onPoint={setAt} />
          </section>
        )}
        <Parts run={run} at={at} />
        <Elsewhere run={run} models={models} />
      </aside>
    </div>
  )
}

/** Undefined for inputs without an image that can be shown. */
function imagesOf({ typed, files }: Run): (MapImage | undefined)[] {
  if (files.size === 0) return []
  return typed.inputs.map((input) => {
    const thumbnail = files.get(input.media[0]?.id ?? '')?.thumbnail
    return thumbnail && { thumbnail, isJoined: kindOfInput(input) === 'joined' }
  })
}

function Groups({ typed, hasQuery }: { readonly typed: TypedTexts; readonly hasQuery: boolean }) {
  if (typed.groups.length === 0 && !hasQuery) return null
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-12 text-ink-2">
      {typed.groups.map(({ name, count }, group) => (
        <li key={name} className="flex items-center gap-1.5">
          <Mark group={group} />
          {name} <span className="text-ink-3 tabular-nums">{count}</span>
        </li>
      ))}
      {hasQuery && (
        <li className="flex items-center gap-1.5">
          <ShapeMark shape="star" fill="var(--ink)" size={12} />
          {words.embeddings.map.query}
        </li>
      )}
    </ul>
  )
}

/** The first few of the nearest of a text, with their cosines. */
function nearestIn({ nearest, cosines }: View, count: number, index: number, wanted: number) {
  const each = count === 0 ? 0 : nearest.length / count
  return Array.from(nearest.subarray(index * each, index * each + Math.min(each, wanted)), (other) => ({
    index: other,
    cosine: cosines[index * count + other] ?? 0,
  }))
}

function describe(typed: TypedTexts, view: View, index: number): string {
  const group = typed.groups[typed.groupOf[index] ?? -1]?.name ?? ''
  const nearest = nearestIn(view, typed.texts.length, index, 3)
    .map((one) => `${typed.texts[one.index]} ${cosine(one.cosine, 3)}`)
    .join('; ')
  return words.embeddings.map.describe(typed.texts[index] ?? '', group, nearest)
}

interface NearbyProps {
  readonly run: Run
  readonly view: View
  readonly index: number
}

function Nearby({ run: { typed, files }, view, index }: NearbyProps) {
  const input = typed.inputs[index]
  return (
    <>
      {input !== undefined && input.media.length > 0 && (
        <div className="pb-2">
          <InputThumbnail input={input} files={files} size={96} />
        </div>
      )}
      <p className="flex items-start gap-1.5 pb-1 font-strong">
        <span className="pt-0.5">
          <Mark group={typed.groupOf[index] ?? -1} size={8} />
        </span>
        <span className="min-w-0 break-words">{typed.texts[index]}</span>
      </p>
      {nearestIn(view, typed.texts.length, index, 5).map((one) => (
        <p key={one.index} className="flex gap-2 text-ink-2">
          <span className="min-w-0 flex-1 truncate">{typed.texts[one.index]}</span>
          <span className="tabular-nums">{cosine(one.cosine, 3)}</span>
        </p>
      ))}
    </>
  )
}

function tableOf(typed: TypedTexts, view: View): ChartTable {
  const { columns } = words.embeddings
  return {
    heads: [columns.text, columns.group, columns.nearest, columns.cosine, columns.kept],
    rows: typed.texts.map((text, index) => {
      const [nearest] = nearestIn(view, typed.texts.length, index, 1)
      return [
        short(text),
        typed.groups[typed.groupOf[index] ?? -1]?.name ?? '–',
        nearest === undefined ? '–' : short(typed.texts[nearest.index] ?? ''),
        nearest === undefined ? '–' : cosine(nearest.cosine, 3),
        share(view.kept[index], 0),
      ]
    }),
  }
}

function short(text: string): string {
  return text.length > 44 ? `${text.slice(0, 43)}…` : text
}

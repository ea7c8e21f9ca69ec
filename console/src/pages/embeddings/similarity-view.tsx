/** The cosines of all pairs, ordered so that alike texts stand together. */
import { useMemo, useState } from 'react'
import { cosine } from '../../app/format.ts'
import { useTheme } from '../../app/theme.ts'
import type { ChartTable } from '../../charts/frame.tsx'
import { heatColours, HeatMap, type Cell } from '../../charts/vectors/heat-map.tsx'
import { Mark } from '../../charts/vectors/mark.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import type { Order, View } from '../../workers/vectors.ts'
import { words } from '../../words/words.ts'
import { useVectorTask } from './vector-task.ts'
import { Dimensions } from './dimensions.tsx'
import type { ViewProps } from './map-view.tsx'
import type { TypedTexts } from './texts.ts'

export function SimilarityView({ run, widthView, models, isTable, onTable, onWidth }: ViewProps) {
  const { typed, vectors } = run
  const { view } = widthView
  const say = words.embeddings.similarity
  const [order, setOrder] = useState<Order>('likeness')
  const theme = useTheme()
  const request = useMemo(
    () => ({ at: widthView.at, by: order, groupOf: typed.groupOf, colours: heatColours(theme) }),
    [widthView.at, order, typed, theme],
  )
  const { response: heatMap, error } = useVectorTask(vectors, 'heatMap', request)
  const [at, setAt] = useState<Cell>()
  const [pinned, setPinned] = useState<Cell>()
  if (error !== undefined) return <Problem error={error} />
  if (view === undefined || heatMap === undefined || heatMap.order.length !== typed.texts.length) return null
  const pair = ({ row, column }: Cell): readonly [number, number] => [
    heatMap.order[row] ?? 0,
    heatMap.order[column] ?? 0,
  ]
  const shown = at ?? pinned
  const caption = say.caption(run.count, cosine(heatMap.low, 3), cosine(heatMap.high, 3))
  return (
    <div className="flex flex-col gap-3 px-5 py-3.5 phone:px-4">
      <div className="flex flex-wrap items-center gap-2.5 text-12">
        <span className="text-ink-2">{say.order}</span>
        <Segmented
          label={say.order}
          value={order}
          segments={[
            { value: 'likeness', label: say.byLikeness },
            { value: 'typed', label: say.asTyped },
            { value: 'group', label: say.byGroup },
          ]}
          onChange={setOrder}
        />
        <Scale low={heatMap.low} high={heatMap.high} />
      </div>
      <HeatMap
        caption={caption}
        texts={typed.texts}
        groupOf={typed.groupOf}
        cosines={view.cosines}
        image={heatMap.image}
        order={heatMap.order}
        low={heatMap.low}
        high={heatMap.high}
        at={shown}
        onAt={setAt}
        onPin={setPinned}
        describe={(cell) => {
          const [one, other] = pair(cell)
          return say.describe(
            typed.texts[one] ?? '',
            typed.texts[other] ?? '',
            cosine(view.cosines[one * run.count + other], 3),
          )
        }}
        table={() => tableOf(typed, view)}
        isTable={isTable}
        onTable={onTable}
      />
      <ReadOut typed={typed} view={view} pair={shown && pair(shown)} />
      <Dimensions
        widthView={widthView}
        model={models.find(({ id }) => id === run.request.model)}
        count={run.count}
        onSettled={onWidth}
      />
    </div>
  )
}

function Scale({ low, high }: { readonly low: number; readonly high: number }) {
  return (
    <span className="ml-auto flex items-center gap-2 text-ink-2 tabular-nums">
      {cosine(low, 2)}
      <span
        aria-hidden
        className="h-2 w-22 rounded-full"
        style={{ background: 'linear-gradient(to right, var(--sunken), var(--s1))' }}
      />
      {cosine(high, 2)}
    </span>
  )
}

interface ReadOutProps {
  readonly typed: TypedTexts
  readonly view: View
  readonly pair: readonly [number, number] | undefined
}

function ReadOut({ typed, view, pair }: ReadOutProps) {
  const say = words.embeddings.similarity
  const box = 'flex min-h-14 items-center gap-4 rounded-control border border-line px-4 py-2 text-12'
  if (pair === undefined) return <p className={`${box} text-ink-3`}>{say.pick}</p>
  const [one, other] = pair
  const count = typed.texts.length
  const value = view.cosines[one * count + other] ?? 0
  let rank = 1
  for (let third = 0; third < count; third++)
    if (third !== one && third !== other && (view.cosines[one * count + third] ?? 0) > value) rank++
  return (
    <div className={box}>
      <span className="text-20 font-strong tabular-nums">{cosine(value, 3)}</span>
      <div className="min-w-0 flex-1">
        {[one, other].map((text, line) => (
          <p key={line} className="flex items-center gap-2">
            <Mark group={typed.groupOf[text] ?? -1} size={8} />
            <span className="truncate">{typed.texts[text]}</span>
          </p>
        ))}
      </div>
      <div className="shrink-0 text-right text-ink-3 phone:hidden">
        <p>{one === other ? say.same : say.rank(rank, count - 1)}</p>
        <p>{say.keys}</p>
      </div>
    </div>
  )
}

/** A quarter of a million numbers are no table: each text with the one most alike and the one least. */
function tableOf(typed: TypedTexts, view: View): ChartTable {
  const { columns } = words.embeddings
  const count = typed.texts.length
  const short = (index: number): string => {
    const text = typed.texts[index] ?? '–'
    return text.length > 44 ? `${text.slice(0, 43)}…` : text
  }
  return {
    heads: [columns.text, columns.nearest, columns.cosine, columns.farthest, columns.cosine],
    rows: typed.texts.map((_, index) => {
      let [most, least] = [-1, -1]
      const like = (other: number): number => view.cosines[index * count + other] ?? 0
      for (let other = 0; other < count; other++) {
        if (other === index) continue
        if (most < 0 || like(other) > like(most)) most = other
        if (least < 0 || like(other) < like(least)) least = other
      }
      if (most < 0) return [short(index), '–', '–', '–', '–']
      return [short(index), short(most), cosine(like(most), 3), short(least), cosine(like(least), 3)]
    }),
  }
}

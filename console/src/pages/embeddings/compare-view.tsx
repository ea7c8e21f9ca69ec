/** The same texts in a second model: two spaces, two maps, and how many neighbours they share. */
import { useMemo, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { duration, moneyExact, share, whole } from '../../app/format.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { VectorMap } from '../../charts/vectors/vector-map.tsx'
import { Button } from '../../ui/button.tsx'
import { Figures } from '../../ui/figures.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Select } from '../../ui/select.tsx'
import { words } from '../../words/words.ts'
import type { View } from '../../workers/vectors.ts'
import { aligned } from '../../workers/vectors/align.ts'
import { keptOf, meanOf } from '../../workers/vectors/neighbours.ts'
import { costOf, maxTokens } from './cost.ts'
import { useWidthView } from './width-view.ts'
import type { ViewProps } from './map-view.tsx'
import { useRun, type Run } from './run.ts'
import { embeddings as place } from './place.ts'

const MAP_HEIGHT = 430

export function CompareView({ run, widthView, models }: ViewProps) {
  const { against } = place.useSearch()
  const change = useChangeSearch<SearchOf<typeof place>>()
  const second = useRun()
  const secondWidthView = useWidthView(second.run, undefined)
  const [at, setAt] = useState<number>()
  const say = words.embeddings.compare
  const others = models.filter(({ id, retired }) => id !== run.request.model && retired === null)
  const other = others.find(({ id }) => id === against) ?? others[0]
  if (other === undefined) return <p className="px-5 py-4 text-ink-2 phone:px-4">{say.none}</p>
  // A comparison with texts or a model of before is none.
  const isCurrent = second.run?.typed === run.typed && second.run.request.model === other.id
  const cost = costOf(maxTokens(run.typed.texts), other.price)
  return (
    <div className="flex flex-col gap-3.5 px-5 py-3.5 phone:px-4">
      <div className="flex flex-wrap items-center gap-2.5 text-12">
        <span className="text-ink-2">{say.with}</span>
        <Select
          label={say.with}
          className="w-70"
          value={other.id}
          onChange={(id) => change({ against: id }, { replace: true })}
          options={others.map(({ id }) => ({ value: id, label: id }))}
        />
        <Button
          size="large"
          writes
          busy={second.isRunning}
          onClick={() =>
            second.start({ ...run.request, model: other.id, inputType: undefined }, run.typed, run.files)
          }
        >
          {say.run}
        </Button>
        {cost !== null && (
          <span className="text-ink-2 tabular-nums">
            {words.embeddings.atMost} {moneyExact(cost)}
          </span>
        )}
      </div>
      <p className="text-12 text-ink-2">{say.twoSpaces}</p>
      {second.error !== undefined && <Problem error={second.error} className="px-0 py-1" />}
      {isCurrent && second.run && widthView.view && secondWidthView.view ? (
        <Both
          first={{ run, view: widthView.view }}
          second={{ run: second.run, view: secondWidthView.view }}
          models={models}
          at={at}
          onAt={setAt}
        />
      ) : (
        <p className="py-4 text-ink-3">{say.start}</p>
      )}
    </div>
  )
}

interface Side {
  readonly run: Run
  readonly view: View
}

interface BothProps {
  readonly first: Side
  readonly second: Side
  readonly models: readonly Schema<'ModelRow'>[]
  readonly at: number | undefined
  readonly onAt: (at: number | undefined) => void
}

function Both({ first, second, models, at, onAt }: BothProps) {
  const say = words.embeddings.compare
  const turned = useMemo(() => aligned(second.view.points, first.view.points), [first.view, second.view])
  const overlap = meanOf(keptOf(first.view.nearest, second.view.nearest, first.run.count))
  return (
    <>
      <Figures figures={[{ name: say.overlap, value: share(overlap), note: say.overlapNote }]} />
      <div className="flex gap-4 phone:flex-col">
        {[
          { ...first, points: first.view.points },
          { ...second, points: turned },
        ].map(({ run, view, points }) => (
          <section key={run.request.model} className="flex min-w-0 flex-1 flex-col gap-2.5">
            <h2 className="truncate text-13 font-semibold">{run.request.model}</h2>
            <VectorMap
              caption={say.caption(run.request.model)}
              texts={run.typed.texts}
              groupOf={run.typed.groupOf}
              points={points}
              shares={view.shares}
              height={MAP_HEIGHT}
              at={at}
              onAt={onAt}
              describe={(index) => run.typed.texts[index] ?? ''}
              table={() => ({
                heads: [words.embeddings.columns.text, 'x', 'y'],
                rows: run.typed.texts.map((text, index) => [
                  text.slice(0, 60),
                  (points[2 * index] ?? 0).toFixed(3),
                  (points[2 * index + 1] ?? 0).toFixed(3),
                ]),
              })}
            />
            <Figures size="peek" figures={factsOf(run, models)} />
          </section>
        ))}
      </div>
    </>
  )
}

function factsOf(run: Run, models: readonly Schema<'ModelRow'>[]) {
  const { compare, free, unpriced } = words.embeddings
  const price = models.find(({ id }) => id === run.request.model)?.price[0]
  const priceText =
    price === undefined || price.unit === 'unpriced'
      ? unpriced
      : price.unit === 'free'
        ? free
        : compare.perTokens(price.amount)
  return [
    { name: compare.width, value: whole(run.width) },
    { name: compare.price, value: priceText },
    { name: compare.took, value: duration(run.tookMs) },
    { name: compare.cost, value: run.costUsd === null ? unpriced : moneyExact(run.costUsd) },
  ]
}

/** All texts in the order of their cosine to a query. */
import { useMemo } from 'react'
import { Empty } from '../../ui/empty.tsx'
import { Problem } from '../../ui/problem.tsx'
import { words } from '../../words/words.ts'
import type { ViewProps } from './map-view.tsx'
import { NearestByKind } from './nearest-by-kind.tsx'
import { ranked } from './queries.ts'
import { QueryField } from './query-field.tsx'
import { Dimensions } from './dimensions.tsx'
import type { TypedTexts } from './texts.ts'

/** A page of results, as people look at them. */
const TOP = 10
const MAX_SHOWN = 100

export function SearchView({ run, widthView, query, models, onWidth }: ViewProps) {
  const { view } = widthView
  const say = words.embeddings
  const rows = useMemo(() => (view?.query ? ranked(view.query.cosines) : []), [view])
  const model = models.find(({ id }) => id === run.request.model)
  return (
    <div className="flex flex-col gap-3 px-5 py-3.5 phone:px-4">
      <div className="flex max-w-180">
        <QueryField query={query} model={model} />
      </div>
      {query.error !== undefined && <Problem error={query.error} className="px-0 py-1" />}
      {rows.length === 0 ? (
        <Empty title={say.query.none} className="px-0 py-4">
          {say.query.same}
        </Empty>
      ) : (
        <div className="flex max-w-180 flex-col gap-3">
          <p role="status" className="text-12 text-ink-2">
            {hitRate(rows.slice(0, TOP), run.typed)}
          </p>
          <NearestByKind rows={rows} shown={MAX_SHOWN} run={run} />
          <Dimensions widthView={widthView} model={model} count={run.count} onSettled={onWidth} />
        </div>
      )}
    </div>
  )
}

/** Whether the nearest are of one group: that of the first. */
function hitRate(top: readonly { readonly index: number }[], typed: TypedTexts): string {
  const group = typed.groupOf[top[0]?.index ?? -1] ?? -1
  const name = typed.groups[group]?.name
  if (name === undefined) return ''
  const hits = top.filter(({ index }) => typed.groupOf[index] === group).length
  return words.embeddings.query.rate(hits, top.length, name)
}

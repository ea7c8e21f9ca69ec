/** A list without rows: why, and what to do next. */
import { SPANS } from '../../time/range.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { useSession } from '../../app/session.ts'
import { snippetOf } from '../../parts/snippets/first-call.ts'
import { useModelToCall } from '../../parts/snippets/model-to-call.ts'
import { KEY } from '../../parts/snippets/snippet.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { words } from '../../words/words.ts'
import { hasFilters, NO_FILTERS, USUAL_SPAN, type RequestSearch } from './filters.ts'

interface NoRequestsProps {
  readonly search: RequestSearch
  /** Undefined: there is nothing further back. */
  readonly lookFurther: (() => void) | undefined
}

export function NoRequests({ search, lookFurther }: NoRequestsProps) {
  const change = useChangeSearch<RequestSearch>()
  const { install } = useSession()
  const text = words.requests
  const filtered = hasFilters(search)
  const longer = SPANS[SPANS.indexOf(search.since ?? USUAL_SPAN) + 1]
  const isLongest = longer === undefined
  const { id: model, kind } = useModelToCall()
  const shell = snippetOf('curl', { baseUrl: `${install.gateway_url}/v1`, key: KEY, model, kind })
  return (
    <Empty
      title={filtered ? text.noneWith : isLongest ? text.never : text.none}
      {...(isLongest && !filtered && { shell })}
      actions={
        <>
          {lookFurther && <Button onClick={lookFurther}>{text.lookFurther}</Button>}
          {filtered && <Button onClick={() => change(NO_FILTERS)}>{words.ui.clearFilters}</Button>}
          {longer !== undefined && (
            <Button onClick={() => change({ since: longer, from: undefined, to: undefined })}>
              {text.lookBack(longer)}
            </Button>
          )}
        </>
      }
    />
  )
}

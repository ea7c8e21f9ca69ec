/** A list without rows: why, and what to do next. */
import { SPANS } from '../../time/range.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { useSession } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { words } from '../../words/words.ts'
import { hasFilters, NO_FILTERS, USUAL_SPAN, type RequestSearch } from './filters.ts'

interface NoRequestsProps {
  readonly search: RequestSearch
  readonly canLookFurther: boolean
  readonly lookFurther: () => void
}

export function NoRequests({ search, canLookFurther, lookFurther }: NoRequestsProps) {
  const change = useChangeSearch<RequestSearch>()
  const { install } = useSession()
  const text = words.requests
  const filtered = hasFilters(search)
  const longer = SPANS[SPANS.indexOf(search.since ?? USUAL_SPAN) + 1]
  const isLongest = longer === undefined
  return (
    <Empty
      title={filtered ? text.noneWith : isLongest ? text.never : text.none}
      {...(isLongest && !filtered && { shell: exampleOf(install.gateway_url) })}
      actions={
        <>
          {canLookFurther && <Button onClick={lookFurther}>{text.lookFurther}</Button>}
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

function exampleOf(gatewayUrl: string): string {
  return [
    `curl ${gatewayUrl.replace(/\/$/, '')}/v1/embeddings`,
    `-H "authorization: Bearer $TORANA_KEY"`,
    `-H 'content-type: application/json'`,
    `-d '{"model":"demo-embed","input":"hello"}'`,
  ].join(' \\\n  ')
}

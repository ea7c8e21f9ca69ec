/** Where a query is typed, with its cost before it is sent. */
import { CornerDownLeft, Search, X } from 'lucide-react'
import { useState } from 'react'
import { moneyExact } from '../../app/format.ts'
import { IconButton } from '../../ui/button.tsx'
import { words } from '../../words/words.ts'
import { costOf, maxTokens } from './cost.ts'
import type { Schema } from '../../api/client.ts'
import type { QueryState } from './queries.ts'

export function QueryField({
  query,
  model,
}: {
  readonly query: QueryState
  readonly model: Schema<'ModelRow'> | undefined
}) {
  const [text, setText] = useState(query.text ?? '')
  const say = words.embeddings.query
  const cost = model && text.trim() !== '' ? costOf(maxTokens([text.trim()]), model.price) : null
  return (
    <form
      className="relative min-w-50 flex-1 phone:min-w-full"
      onSubmit={(event) => {
        event.preventDefault()
        query.ask(text)
      }}
    >
      <Search
        size={14}
        aria-hidden
        className="pointer-events-none absolute inset-y-0 left-2.5 my-auto text-ink-3"
      />
      <input
        type="text"
        data-page-search
        aria-label={say.label}
        placeholder={say.placeholder}
        value={text}
        className="h-[30px] w-full rounded-control border border-line bg-surface pr-35 pl-8 text-13 phone:pr-16 outline-none hover:border-line-strong focus:border-accent focus:ring-3 focus:ring-accent/25 phone:h-10 phone:text-15"
        onChange={(event) => setText(event.target.value)}
      />
      <span className="absolute inset-y-0 right-1 flex items-center gap-1 text-12 text-ink-3 tabular-nums">
        {cost !== null && text.trim() !== query.text && (
          <span className="phone:hidden">{say.more(moneyExact(cost))}</span>
        )}
        {query.text !== undefined && text.trim() === query.text && query.costUsd !== null && (
          <span className="phone:hidden">{moneyExact(query.costUsd)}</span>
        )}
        {query.text !== undefined && (
          <IconButton
            label={say.clear}
            size="small"
            onClick={() => {
              setText('')
              query.forget()
            }}
          >
            <X size={13} aria-hidden />
          </IconButton>
        )}
        <IconButton label={say.run} size="small" type="submit" aria-busy={query.isAsking || undefined}>
          <CornerDownLeft size={13} aria-hidden />
        </IconButton>
      </span>
    </form>
  )
}

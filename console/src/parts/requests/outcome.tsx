/** How a request ended: shape, status, and the code of its fault. */
import type { RequestRow } from '../../api/queries/requests.ts'
import { classes } from '../../ui/classes.ts'
import { MARK_TEXT, StateMark, type Mark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'

export const OUTCOME_MARK: Record<RequestRow['outcome'], Mark> = {
  answered: 'good',
  refused: 'off',
  limited: 'warn',
  failed: 'bad',
  unknown: 'odd',
}

/** In a row: `● 200`, `▲ 429 rate_limit_exceeded`. */
export function OutcomeCell({ row }: { readonly row: Pick<RequestRow, 'outcome' | 'status' | 'fault'> }) {
  const mark = OUTCOME_MARK[row.outcome]
  return (
    <span
      className={classes('flex min-w-0 items-center gap-2', mark === 'off' ? 'text-ink' : MARK_TEXT[mark])}
    >
      <StateMark mark={mark} word={words.requests.outcomes[row.outcome]} size={10} />
      <span className="tabular-nums">{row.status}</span>
      {row.fault !== null && <span className="-ml-0.5 truncate text-12">{row.fault}</span>}
    </span>
  )
}

/** In a head: `● 200 answered`. */
export function OutcomeHead({ row }: { readonly row: Pick<RequestRow, 'outcome' | 'status'> }) {
  const mark = OUTCOME_MARK[row.outcome]
  return (
    <span className="inline-flex items-center gap-2">
      <StateMark mark={mark} word="" size={10} />
      {row.status} {words.requests.outcomes[row.outcome]}
    </span>
  )
}

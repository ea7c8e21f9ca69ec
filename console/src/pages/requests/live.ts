/** The live tail: rows come in on top while nobody reads further down or points at them; otherwise they wait. */
import { useState } from 'react'
import type { RequestFilters, RequestRow } from '../../api/queries/requests.ts'
import { useStream } from '../../app/stream.ts'

interface LiveEvent {
  readonly rows: readonly RequestRow[]
  readonly skipped: number
}

/** More rows than anybody scrolls back to while they come in. */
const MOST_LIVE = 1000

export interface Tail {
  /** Newest first; they stand before the rows of the list. */
  readonly rows: readonly RequestRow[]
  /** Came in and wait to be shown. */
  readonly waiting: number
  /** One of so many was sent, in the last second with too many. */
  readonly oneOf: number | undefined
  readonly show: () => void
}

const NO_ROWS: readonly RequestRow[] = []

/** What came in for one question. */
interface Arrived {
  readonly question: string
  readonly rows: readonly RequestRow[]
  readonly waiting: readonly RequestRow[]
  readonly oneOf: number | undefined
}

export function useTail(isLive: boolean, filters: RequestFilters, mayMove: () => boolean): Tail {
  const { from: _from, to: _to, ...asked } = filters
  const nothing: Arrived = {
    question: `${isLive} ${JSON.stringify(asked)}`,
    rows: NO_ROWS,
    waiting: NO_ROWS,
    oneOf: undefined,
  }
  const [arrived, setArrived] = useState(nothing)
  // What came in for another question is neither shown nor added to.
  const ours = (all: Arrived): Arrived => (all.question === nothing.question ? all : nothing)
  useStream<LiveEvent>(
    'request',
    (event) => {
      const oneOf =
        event.skipped > 0 ? Math.ceil((event.rows.length + event.skipped) / event.rows.length) : undefined
      const isShown = mayMove()
      setArrived((before) => {
        const waiting = [...event.rows, ...ours(before).waiting].slice(0, MOST_LIVE)
        const next = { ...ours(before), waiting, oneOf }
        return isShown ? allShown(next) : next
      })
    },
    { on: isLive, filters: asked },
  )
  const { rows, waiting, oneOf } = ours(arrived)
  return { rows, waiting: waiting.length, oneOf, show: () => setArrived((before) => allShown(ours(before))) }
}

function allShown(all: Arrived): Arrived {
  return { ...all, rows: [...all.waiting, ...all.rows].slice(0, MOST_LIVE), waiting: NO_ROWS }
}

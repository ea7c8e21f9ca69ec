/** The live tail: rows come in on top while nobody reads further down or points at them; otherwise they wait. */
import { useEffect, useRef, useState } from 'react'
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

export function useTail(isLive: boolean, filters: RequestFilters, mayMove: () => boolean): Tail {
  const [rows, setRows] = useState(NO_ROWS)
  const [waiting, setWaiting] = useState(NO_ROWS)
  const [oneOf, setOneOf] = useState<number>()
  const { from: _from, to: _to, ...asked } = filters
  const key = JSON.stringify(asked)
  const held = useRef(waiting)
  held.current = waiting
  useEffect(() => {
    setRows(NO_ROWS)
    setWaiting(NO_ROWS)
    setOneOf(undefined)
  }, [isLive, key])
  const put = (fresh: readonly RequestRow[]): void => {
    setRows((before) => [...fresh, ...before].slice(0, MOST_LIVE))
    setWaiting(NO_ROWS)
  }
  useStream<LiveEvent>(
    'request',
    (event) => {
      const fresh = [...event.rows, ...held.current].slice(0, MOST_LIVE)
      setOneOf(
        event.skipped > 0 ? Math.ceil((event.rows.length + event.skipped) / event.rows.length) : undefined,
      )
      if (mayMove()) put(fresh)
      else setWaiting(fresh)
    },
    { on: isLive, filters: asked },
  )
  return { rows, waiting: waiting.length, oneOf, show: () => put(held.current) }
}

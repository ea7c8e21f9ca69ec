/** What is seen of a run at the chosen width. While the worker thinks, only the newest wish waits. */
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { View } from '../../workers/vectors.ts'
import { nearestWidth } from '../../workers/vectors/widths.ts'
import type { Run } from './run.ts'

export interface Look {
  /** Undefined until the worker answered for the first time. */
  readonly view: View | undefined
  /** The place of the wished width; the view follows it. */
  readonly at: number
  readonly widths: readonly number[]
  readonly choose: (at: number) => void
  /** Asks for the same width again: after a query came or went. */
  readonly again: () => void
  /** How much is kept at each width, as far as it is known. */
  readonly curve: readonly (number | undefined)[]
}

const NO_WIDTHS: readonly number[] = []

export function useLook(run: Run | undefined, width: number | undefined): Look {
  const widths = run?.widths ?? NO_WIDTHS
  const [seen, setSeen] = useState<{ readonly of: Run; readonly view: View }>()
  const [chosen, setChosen] = useState<{ readonly of: Run; readonly at: number }>()
  const [curve, setCurve] = useState<{ readonly of: Run; readonly kept: readonly number[] }>()
  const at =
    chosen !== undefined && chosen.of === run
      ? chosen.at
      : width === undefined
        ? widths.length - 1
        : nearestWidth(widths, width)
  const wish = useRef<{ readonly of: Run; readonly at: number }>(undefined)
  const isBusy = useRef(false)

  const ask = async (): Promise<void> => {
    if (isBusy.current) return
    isBusy.current = true
    try {
      for (let next = wish.current; next !== undefined; next = wish.current) {
        wish.current = undefined
        const { of } = next
        // A desk that was closed meanwhile says so; its run is no longer shown.
        const view = await of.desk.ask('view', next.at).catch(() => undefined)
        if (view !== undefined) setSeen({ of, view })
      }
    } finally {
      isBusy.current = false
    }
  }
  const want = (of: Run, place: number): void => {
    wish.current = { of, at: place }
    void ask()
  }

  const wantShown = useEffectEvent(want)
  useEffect(() => {
    if (run) wantShown(run, at)
  }, [run, at])

  const isSeen = seen !== undefined && seen.of === run
  useEffect(() => {
    if (!run || !isSeen) return
    let isOver = false
    const draw = async (): Promise<void> => {
      const kept: number[] = []
      // One question for each width, so that a move of the slider comes in between.
      for (const place of run.widths.keys()) {
        if (isOver) return
        kept.push(await run.desk.ask('kept', place))
      }
      if (!isOver) setCurve({ of: run, kept })
      // From the full width down: each map begins with the one before, so that it does not turn over.
      for (const place of [...run.widths.keys()].toReversed()) {
        if (isOver) return
        await run.desk.ask('prepare', place)
      }
    }
    draw().catch(() => {})
    return () => {
      isOver = true
    }
  }, [run, isSeen])

  return {
    view: isSeen ? seen.view : undefined,
    at,
    widths,
    choose: (place) => run && setChosen({ of: run, at: place }),
    again: () => run && want(run, at),
    curve: curve !== undefined && curve.of === run ? curve.kept : widths.map(() => undefined),
  }
}

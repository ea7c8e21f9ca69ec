/** What a run looks like at the chosen width. While the worker is busy, only the latest request is kept. */
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { View } from '../../workers/vectors.ts'
import { nearestWidth } from '../../workers/vectors/widths.ts'
import type { Run } from './run.ts'

export interface WidthView {
  /** Undefined until the worker has answered for the first time. */
  readonly view: View | undefined
  /** The index of the chosen width; the view follows it. */
  readonly at: number
  readonly widths: readonly number[]
  readonly choose: (at: number) => void
  /** Requests the same width again: after a query was added or removed. */
  readonly refresh: () => void
  /** The share of neighbours each width keeps; undefined until it is known. */
  readonly curve: readonly (number | undefined)[]
  /** The worker of this run failed. */
  readonly error: unknown
}

const NO_WIDTHS: readonly number[] = []

export function useWidthView(run: Run | undefined, width: number | undefined): WidthView {
  const widths = run?.widths ?? NO_WIDTHS
  const [seen, setSeen] = useState<{ readonly of: Run; readonly view: View }>()
  const [chosen, setChosen] = useState<{ readonly of: Run; readonly at: number }>()
  const [curve, setCurve] = useState<{ readonly of: Run; readonly kept: readonly number[] }>()
  const [failure, setFailure] = useState<{ readonly of: Run; readonly error: unknown }>()
  const at =
    chosen !== undefined && chosen.of === run
      ? chosen.at
      : width === undefined
        ? widths.length - 1
        : nearestWidth(widths, width)
  const latest = useRef<{ readonly of: Run; readonly at: number }>(undefined)
  const isBusy = useRef(false)

  const requestLatest = async (): Promise<void> => {
    if (isBusy.current) return
    isBusy.current = true
    for (let next = latest.current; next !== undefined; next = latest.current) {
      latest.current = undefined
      const { of } = next
      try {
        const view = await of.vectors.request('view', next.at)
        setSeen({ of, view })
      } catch (error) {
        // Shown only while this run is: a worker that another run replaced was closed.
        setFailure({ of, error })
      }
    }
    isBusy.current = false
  }
  const requestView = (of: Run, index: number): void => {
    latest.current = { of, at: index }
    void requestLatest()
  }

  const requestShown = useEffectEvent(requestView)
  useEffect(() => {
    if (run) requestShown(run, at)
  }, [run, at])

  const isSeen = seen !== undefined && seen.of === run
  useEffect(() => {
    if (!run || !isSeen) return
    let isOver = false
    const prepare = async (): Promise<void> => {
      const kept: number[] = []
      // One request for each width, so a move of the slider comes in between.
      for (const index of run.widths.keys()) {
        if (isOver) return
        kept.push(await run.vectors.request('kept', index))
      }
      if (!isOver) setCurve({ of: run, kept })
      // From the full width down: each map starts from the one before, so it does not flip over.
      for (const index of [...run.widths.keys()].toReversed()) {
        if (isOver) return
        await run.vectors.request('prepare', index)
      }
    }
    prepare().catch((error: unknown) => !isOver && setFailure({ of: run, error }))
    return () => {
      isOver = true
    }
  }, [run, isSeen])

  return {
    view: isSeen ? seen.view : undefined,
    at,
    widths,
    choose: (index) => run && setChosen({ of: run, at: index }),
    refresh: () => run && requestView(run, at),
    curve: curve !== undefined && curve.of === run ? curve.kept : widths.map(() => undefined),
    error: failure !== undefined && failure.of === run ? failure.error : undefined,
  }
}

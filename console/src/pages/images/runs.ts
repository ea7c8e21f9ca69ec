/** Images in progress: each tile streams, fails and ends by itself. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import {
  callImages,
  type EditFiles,
  type ImageFields,
  type ImageOutcome,
  type Preview,
} from '../../api/image-calls.ts'
import { noteError } from '../../app/outages.ts'
import { useAbort } from '../../ui/abort.ts'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import type { Mask } from '../../workers/pixels/mask.ts'
import type { Mode, Settings } from './settings.ts'

export interface Tile {
  readonly key: string
  readonly state: 'waiting' | 'done' | 'failed' | 'stopped'
  readonly image: Blob | undefined
  /** The latest preview, while there is no image. */
  readonly preview: Blob | undefined
  readonly previews: number
  readonly requestId: string | undefined
  /** Of its request, if this image is the only one of it. */
  readonly costUsd: string | undefined
  readonly deployment: string | undefined
  readonly tookMs: number | undefined
  readonly firstPreviewMs: number | undefined
  readonly error: unknown
}

export interface Run {
  readonly id: number
  readonly mode: Mode
  readonly model: string
  readonly project: string
  readonly settings: Settings
  readonly requests: readonly ImageFields[]
  readonly files: EditFiles | undefined
  /** As it was painted when the edit began. */
  readonly mask: Mask | undefined
  readonly startedMs: number
  readonly tiles: readonly Tile[]
  /** Set for a job of the history whose prompt or images this browser does not have. */
  readonly rerunDisabledReason?: string | undefined
}

export type Started = Omit<Run, 'id' | 'startedMs' | 'tiles' | 'rerunDisabledReason'>

interface Runs {
  readonly run: Run | undefined
  readonly isRunning: boolean
  readonly start: (run: Started) => void
  /** Requests in progress stay bought; their images arrive in the history. */
  readonly stopWaiting: () => void
  /** Shows a job of the history in the place of a run. A job opened later, or a run started later, wins. */
  readonly open: (load: (signal: AbortSignal) => Promise<Run>) => Promise<void>
  readonly clear: () => void
}

export const EMPTY_TILE: Omit<Tile, 'key'> = {
  state: 'waiting',
  image: undefined,
  preview: undefined,
  previews: 0,
  requestId: undefined,
  costUsd: undefined,
  deployment: undefined,
  tookMs: undefined,
  firstPreviewMs: undefined,
  error: undefined,
}

/** Why a run was aborted whose tiles stay on the screen and say so themselves. */
const STOPPED = 'stopped'

let lastId = 0

export function useRuns(onDone: (run: Started, outcome: ImageOutcome) => void): Runs {
  const [run, setRun] = useState<Run>()
  const abort = useAbort()
  const done = useRef(onDone)
  useEffect(() => {
    done.current = onDone
  })
  const queries = useQueryClient()

  const change = (id: number, from: number, tiles: (before: Tile, index: number) => Tile, count = 1): void =>
    setRun((before) =>
      before?.id !== id
        ? before
        : {
            ...before,
            tiles: before.tiles.map((tile, index) =>
              index >= from && index < from + count ? tiles(tile, index - from) : tile,
            ),
          },
    )

  const send = async (
    started: Started,
    fields: ImageFields,
    { id, from, signal }: { readonly id: number; readonly from: number; readonly signal: AbortSignal },
  ): Promise<void> => {
    const startedMs = performance.now()
    const tookMs = () => performance.now() - startedMs
    const onPreview = ({ image }: Preview): void =>
      change(id, from, (tile) => ({
        ...tile,
        preview: image,
        previews: tile.previews + 1,
        firstPreviewMs: tile.firstPreviewMs ?? tookMs(),
      }))
    try {
      const outcome = await callImages(started.project, fields, started.files, { signal, onPreview })
      change(id, from, (tile, index) => doneTile(tile, outcome, index, tookMs()), fields.n)
      done.current(started, outcome)
    } catch (error) {
      noteError(error)
      const state = signal.aborted ? 'stopped' : 'failed'
      change(id, from, (tile) => ({ ...tile, state, error, tookMs: tookMs() }), fields.n)
    }
    void queries.invalidateQueries({ queryKey: ['get', '/api/v1/image-jobs'] })
  }

  return {
    run,
    isRunning: run?.tiles.some(({ state }) => state === 'waiting') ?? false,
    start(started) {
      const signal = abort.next()
      lastId += 1
      const id = lastId
      const count = started.requests.reduce((sum, { n }) => sum + n, 0)
      const tiles = Array.from({ length: count }, (_, index) => ({ ...EMPTY_TILE, key: `${id} ${index}` }))
      setRun({ ...started, id, startedMs: Date.now(), tiles, rerunDisabledReason: undefined })
      let from = 0
      const sent = started.requests.map((fields) => {
        const first = from
        from += fields.n
        return send(started, fields, { id, from: first, signal })
      })
      let isOver = false
      signal.addEventListener('abort', () => {
        if (!isOver && signal.reason !== STOPPED) toast(words.images.leftRun, { mark: 'warn' })
      })
      void Promise.all(sent).then(() => {
        isOver = true
      })
    },
    stopWaiting: () => abort.stop(STOPPED),
    async open(load) {
      const signal = abort.next()
      setRun(undefined)
      const opened = await load(signal)
      if (!signal.aborted) setRun(opened)
    },
    clear() {
      abort.stop()
      setRun(undefined)
    },
  }
}

function doneTile(tile: Tile, outcome: ImageOutcome, index: number, tookMs: number): Tile {
  const image = outcome.images[index]
  return {
    ...tile,
    state: image === undefined ? 'failed' : 'done',
    image,
    preview: undefined,
    requestId: outcome.requestId,
    costUsd: outcome.images.length === 1 ? outcome.costUsd : undefined,
    deployment: outcome.deployment,
    tookMs,
  }
}

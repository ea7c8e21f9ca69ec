/** Pictures on their way: each tile streams, fails and ends by itself. */
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
import type { Mask } from '../../workers/pixels/mask.ts'
import type { Mode, Settings } from './settings.ts'

export interface Tile {
  readonly key: string
  readonly state: 'waiting' | 'done' | 'failed' | 'left'
  /** The newest preview, or the picture. */
  readonly url: string | undefined
  readonly picture: Blob | undefined
  readonly previews: number
  readonly requestId: string | undefined
  /** Of its request, if this picture is the only one of it. */
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
  /** Of a job of the history whose prompt or pictures this browser does not have. */
  readonly whyNotAgain?: string | undefined
}

export type Started = Omit<Run, 'id' | 'startedMs' | 'tiles' | 'whyNotAgain'>

interface Runs {
  readonly run: Run | undefined
  readonly isRunning: boolean
  readonly start: (started: Started) => void
  /** What is on its way stays bought; nobody looks at it any more. */
  readonly leave: () => void
  /** Something else is looked at: a picture of the history. */
  readonly show: (run: Run | undefined) => void
}

export const EMPTY_TILE: Omit<Tile, 'key'> = {
  state: 'waiting',
  url: undefined,
  picture: undefined,
  previews: 0,
  requestId: undefined,
  costUsd: undefined,
  deployment: undefined,
  tookMs: undefined,
  firstPreviewMs: undefined,
  error: undefined,
}

let lastId = 0

export function useRuns(onDone: (run: Started, outcome: ImageOutcome) => void): Runs {
  const [run, setRun] = useState<Run>()
  const abort = useRef<AbortController>(undefined)
  const done = useRef(onDone)
  useEffect(() => {
    done.current = onDone
  })
  const queries = useQueryClient()
  useEffect(() => () => abort.current?.abort(), [])

  const change = (id: number, from: number, tiles: (before: Tile, index: number) => Tile, many = 1): void =>
    setRun((before) =>
      before?.id !== id
        ? before
        : {
            ...before,
            tiles: before.tiles.map((tile, index) =>
              index >= from && index < from + many ? replaced(tile, tiles(tile, index - from)) : tile,
            ),
          },
    )

  const one = async (started: Started, id: number, fields: ImageFields, from: number): Promise<void> => {
    const startedMs = performance.now()
    const tookMs = () => performance.now() - startedMs
    const signal = abort.current?.signal ?? new AbortController().signal
    const onPreview = ({ picture }: Preview): void =>
      change(id, from, (tile) => ({
        ...tile,
        url: URL.createObjectURL(picture),
        previews: tile.previews + 1,
        firstPreviewMs: tile.firstPreviewMs ?? tookMs(),
      }))
    try {
      const outcome = await callImages(started.project, fields, started.files, { signal, onPreview })
      const isAlone = outcome.pictures.length === 1
      change(
        id,
        from,
        (tile, index) =>
          doneTile(tile, outcome, { picture: outcome.pictures[index], isAlone, tookMs: tookMs() }),
        fields.n,
      )
      done.current(started, outcome)
    } catch (error) {
      noteError(error)
      const state = signal.aborted ? 'left' : 'failed'
      change(id, from, (tile) => ({ ...tile, state, error, tookMs: tookMs() }), fields.n)
    }
    await queries.invalidateQueries({ queryKey: ['get', '/api/v1/image-jobs'] })
  }

  return {
    run,
    isRunning: run?.tiles.some(({ state }) => state === 'waiting') ?? false,
    start(started) {
      abort.current?.abort()
      abort.current = new AbortController()
      lastId += 1
      const id = lastId
      const many = started.requests.reduce((sum, { n }) => sum + n, 0)
      const tiles = Array.from({ length: many }, (_, index) => ({ ...EMPTY_TILE, key: `${id} ${index}` }))
      setRun({ ...started, id, startedMs: Date.now(), tiles, whyNotAgain: undefined })
      let from = 0
      for (const fields of started.requests) {
        void one(started, id, fields, from)
        from += fields.n
      }
    },
    leave: () => abort.current?.abort(),
    show(next) {
      abort.current?.abort()
      setRun(next)
    },
  }
}

interface Ended {
  readonly picture: Blob | undefined
  readonly isAlone: boolean
  readonly tookMs: number
}

function doneTile(tile: Tile, outcome: ImageOutcome, { picture, isAlone, tookMs }: Ended): Tile {
  return {
    ...tile,
    state: picture === undefined ? 'failed' : 'done',
    url: picture && URL.createObjectURL(picture),
    picture,
    requestId: outcome.requestId,
    costUsd: isAlone ? outcome.costUsd : undefined,
    deployment: outcome.deployment,
    tookMs,
  }
}

/** The address of a preview is of no use once the next one is there. */
function replaced(before: Tile, after: Tile): Tile {
  if (before.url !== undefined && before.url !== after.url) URL.revokeObjectURL(before.url)
  return after
}

/** Everything that the workbench knows and does: what is asked for, what is given, what ran, what it may cost. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useMemo, useState, useSyncExternalStore } from 'react'
import type { EditFiles, ImageFields } from '../../api/image-calls.ts'
import { imageJobQueries, type ImageJob } from '../../api/queries/image-jobs.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { useStream } from '../../app/stream.ts'
import { words } from '../../words/words.ts'
import { Mask } from '../../workers/pixels/mask.ts'
import { useCostBefore, type CostBefore } from './cost-before.ts'
import { extensionOf } from './files.ts'
import { useGiven, type Given } from './given.ts'
import { keepEdit } from './kept-edits.ts'
import { maskFile } from './pixel-work.ts'
import { useRuns, type Run } from './runs.ts'
import {
  AUTO,
  requestsFor,
  type ImageModel,
  type ImagesSearch,
  type Mode,
  type Settings,
} from './settings.ts'
import { pictureOf, showJob } from './shown-job.ts'
import { keepTyped, typedFor } from './typed-settings.ts'

export interface Bench {
  readonly mode: Mode
  readonly settings: Settings
  readonly change: (changed: Partial<Settings>) => void
  readonly given: Given
  /** Something is painted, and the model takes it. */
  readonly hasMask: boolean
  readonly requests: readonly ImageFields[]
  readonly cost: CostBefore
  /** Why it can't be run now. */
  readonly why: string | undefined
  readonly run: () => Promise<void>
  readonly runAgain: (run: Run) => void
  readonly shown: Run | undefined
  readonly isRunning: boolean
  readonly leave: () => void
  readonly jobs: readonly ImageJob[] | undefined
  /** The job of the history that is looked at. */
  readonly opened: string | undefined
  readonly open: (job: ImageJob) => void
  readonly closeOpened: () => void
  /** A picture that was made becomes the one that is edited. */
  readonly edit: (picture: Blob) => void
  readonly maskNow: () => Promise<Blob>
}

export function useBench(
  search: ImagesSearch,
  models: readonly ImageModel[],
  model: ImageModel,
  project: string,
): Bench {
  const text = words.images
  const mode = search.mode ?? 'generate'
  const changeSearch = useChangeSearch<ImagesSearch>()
  const [settings, setSettings] = useState<Settings>(firstSettings)
  const [opened, setOpened] = useState<string>()
  const given = useGiven(model)
  const hasMask = usePainted(given) && model.can['mask'] !== undefined
  const runs = useRuns((done, { requestId }) => {
    keepTyped(requestId, { mode: done.mode, model: done.model, settings: done.settings })
    if (done.files) void keepEdit(requestId, { files: done.files, mask: done.mask })
    if (done.mode === 'edit') changeSearch({ view: 'pair' }, { replace: true })
  })
  const requests = requestsFor(settings, model, mode)
  const pictures = useMemo(() => given.pictures.map(({ file }) => file), [given.pictures])
  const files: EditFiles | undefined = mode === 'edit' ? { pictures, mask: undefined } : undefined
  const cost = useCostBefore(project, requests, files)
  const edit = (picture: Blob): void => {
    setOpened(undefined)
    void given.only(new File([picture], `picture.${extensionOf(picture.type)}`, { type: picture.type }))
    changeSearch({ mode: 'edit', view: undefined })
  }
  const editFound = useEffectEvent(edit)
  useEffect(() => {
    if (search.from !== undefined)
      void pictureOf(search.from).then(
        (picture) => editFound(picture),
        () => {},
      )
  }, [search.from])
  return {
    mode,
    settings,
    change: (changed) => setSettings((before) => ({ ...before, ...changed })),
    given,
    hasMask,
    requests,
    cost,
    why:
      settings.prompt.trim() === ''
        ? text.promptMissing
        : mode === 'edit' && pictures.length === 0
          ? text.editEmpty
          : cost.refusal?.message,
    async run() {
      setOpened(undefined)
      const mask = mode === 'edit' && hasMask ? copyOf(given) : undefined
      const sent = files && { ...files, mask: mask && (await maskFile(mask)) }
      runs.start({ mode, model: model.id, project, settings, requests, files: sent, mask })
    },
    runAgain(again) {
      setOpened(undefined)
      runs.start(again)
    },
    shown: runs.run,
    isRunning: runs.isRunning,
    leave: runs.leave,
    jobs: useImageJobs(project),
    opened,
    open(job) {
      setOpened(job.id)
      const typed = typedFor(job.id)
      if (typed !== undefined) setSettings(typed.settings)
      void showJob(job, models, runs.show)
    },
    closeOpened() {
      setOpened(undefined)
      runs.show(undefined)
    },
    edit,
    maskNow: () => maskFile(copyOf(given)),
  }
}

function firstSettings(): Settings {
  return {
    prompt: words.images.samplePrompt,
    size: AUTO,
    quality: AUTO,
    format: AUTO,
    background: AUTO,
    howMany: 1,
    previews: 2,
    keep: true,
  }
}

/** As it is now; one may paint on. */
function copyOf({ painting }: Given): Mask {
  if (painting === undefined) throw new Error('there is no picture')
  const { width, height, words: bits } = painting.mask
  return new Mask(width, height, bits.slice())
}

const NEVER = (): (() => void) => () => {}

function usePainted({ painting }: Given): boolean {
  useSyncExternalStore(painting?.subscribe ?? NEVER, painting?.version ?? (() => 0))
  return painting !== undefined && !painting.isBlank
}

/** Told anew whenever one of them goes on. */
function useImageJobs(project: string): readonly ImageJob[] | undefined {
  const queries = useQueryClient()
  useStream('job', () => void queries.invalidateQueries({ queryKey: ['get', '/api/v1/image-jobs'] }))
  return useQuery(imageJobQueries.mine(project)).data?.data
}

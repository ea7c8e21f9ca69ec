/** The state of the workbench and what it does: settings, input images, runs, the history, and the cost. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useMemo, useState, useSyncExternalStore } from 'react'
import type { EditFiles, ImageFields } from '../../api/image-calls.ts'
import { imageJobQueries, type ImageJob } from '../../api/queries/image-jobs.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { rememberProject } from '../../app/paying-project.ts'
import { useStream } from '../../app/stream.ts'
import { saveBlob } from '../../ui/object-url.ts'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { closePixelWorker, maskFile } from '../../workers/pixels.ts'
import { Mask } from '../../workers/pixels/mask.ts'
import { useCostBefore, type CostBefore } from './cost-before.ts'
import { extensionOf } from './files.ts'
import { useInputImages, type InputImages } from './input-images.ts'
import { keepEdit } from './kept-edits.ts'
import { useRuns, type Run } from './runs.ts'
import {
  AUTO,
  requestsFor,
  type ImageModel,
  type ImagesSearch,
  type Mode,
  type Settings,
} from './settings.ts'
import { fetchAsset, runOfJob } from './shown-job.ts'
import { keepTyped, typedFor } from './typed-settings.ts'

export interface ImageWorkbench {
  readonly mode: Mode
  readonly settings: Settings
  readonly change: (changed: Partial<Settings>) => void
  readonly inputImages: InputImages
  /** Something is painted, and the model takes it. */
  readonly hasMask: boolean
  readonly requests: readonly ImageFields[]
  readonly cost: CostBefore
  /** Why it can't be run now. */
  readonly disabledReason: string | undefined
  readonly run: () => void
  /** Why the last run did not start. */
  readonly startError: unknown
  readonly runAgain: (run: Run) => void
  readonly shown: Run | undefined
  readonly isRunning: boolean
  readonly stopWaiting: () => void
  readonly jobs: readonly ImageJob[] | undefined
  /** The job of the history that is shown. */
  readonly opened: string | undefined
  readonly open: (job: ImageJob) => void
  readonly closeOpened: () => void
  /** Makes a result the image that is edited. */
  readonly edit: (image: Blob) => void
  readonly saveMask: () => void
}

export function useImageWorkbench(
  search: ImagesSearch,
  models: readonly ImageModel[],
  model: ImageModel,
  project: string | undefined,
): ImageWorkbench {
  const text = words.images
  const mode = search.mode ?? 'generate'
  const changeSearch = useChangeSearch<ImagesSearch>()
  const [settings, setSettings] = useState<Settings>(firstSettings)
  const [opened, setOpened] = useState<string>()
  const [isStarting, setStarting] = useState(false)
  const [startError, setStartError] = useState<unknown>()
  const inputImages = useInputImages(model)
  const hasMask = usePainted(inputImages) && model.can['mask'] !== undefined
  const runs = useRuns((done, { requestId }) => {
    keepTyped(requestId, { mode: done.mode, model: done.model, settings: done.settings })
    if (done.files) void keepEdit(requestId, { files: done.files, mask: done.mask })
    if (done.mode === 'edit') changeSearch({ view: 'pair' }, { replace: true })
  })
  const requests = requestsFor(settings, model, mode)
  const images = useMemo(() => inputImages.images.map(({ file }) => file), [inputImages.images])
  const files: EditFiles | undefined = mode === 'edit' ? { images, mask: undefined } : undefined
  const cost = useCostBefore(project, requests, files)
  const edit = (image: Blob): void => {
    setOpened(undefined)
    void inputImages.replace(new File([image], `image.${extensionOf(image.type)}`, { type: image.type }))
    changeSearch({ mode: 'edit', view: undefined })
  }
  const editFound = useEffectEvent(edit)
  useEffect(() => {
    if (search.from === undefined) return
    const abort = new AbortController()
    fetchAsset(search.from, abort.signal).then(
      (image) => !abort.signal.aborted && editFound(image),
      (error: unknown) => !abort.signal.aborted && toastError(error),
    )
    return () => abort.abort()
  }, [search.from])
  useEffect(() => closePixelWorker, [])
  const start = async (): Promise<void> => {
    if (project === undefined) return
    setOpened(undefined)
    setStartError(undefined)
    setStarting(true)
    try {
      const mask = mode === 'edit' && hasMask ? copyOf(inputImages) : undefined
      const sent = files && { ...files, mask: mask && (await maskFile(mask)) }
      rememberProject(project)
      runs.start({ mode, model: model.id, project, settings, requests, files: sent, mask })
    } catch (error) {
      setStartError(error)
    }
    setStarting(false)
  }
  return {
    mode,
    settings,
    change: (changed) => setSettings((before) => ({ ...before, ...changed })),
    inputImages,
    hasMask,
    requests,
    cost,
    disabledReason:
      project === undefined
        ? text.projectMissing
        : settings.prompt.trim() === ''
          ? text.promptMissing
          : mode === 'edit' && images.length === 0
            ? text.editEmpty
            : cost.refusal?.message,
    run: () => void start(),
    startError,
    runAgain(again) {
      setOpened(undefined)
      runs.start(again)
    },
    shown: runs.run,
    isRunning: isStarting || runs.isRunning,
    stopWaiting: runs.stopWaiting,
    jobs: useImageJobs(project),
    opened,
    open(job) {
      setOpened(job.id)
      const typed = typedFor(job.id)
      if (typed !== undefined) setSettings(typed.settings)
      runs.open((signal) => runOfJob(job, models, signal)).catch(toastError)
    },
    closeOpened() {
      setOpened(undefined)
      runs.clear()
    },
    edit,
    saveMask: () => void maskFile(copyOf(inputImages)).then((mask) => saveBlob(mask, 'mask.png'), toastError),
  }
}

function toastError(error: unknown): void {
  toast(error instanceof Error ? error.message : String(error), { mark: 'bad' })
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

/** A copy: painting may continue. */
function copyOf({ painting }: InputImages): Mask {
  if (painting === undefined) throw new Error('no image is painted')
  const { width, height, words: bits } = painting.mask
  return new Mask(width, height, bits.slice())
}

const NEVER = (): (() => void) => () => {}

function usePainted({ painting }: InputImages): boolean {
  useSyncExternalStore(painting?.subscribe ?? NEVER, painting?.version ?? (() => 0))
  return painting !== undefined && !painting.isBlank
}

/** Read again when one of the jobs changes. */
function useImageJobs(project: string | undefined): readonly ImageJob[] | undefined {
  const queries = useQueryClient()
  useStream('job', () => void queries.invalidateQueries({ queryKey: ['get', '/api/v1/image-jobs'] }))
  return useQuery({ ...imageJobQueries.mine(project ?? ''), enabled: project !== undefined }).data?.data
}

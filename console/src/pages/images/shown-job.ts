/** A job of the history, as if it had just been run. */
import { apiUrl } from '../../api/client.ts'
import { FaultError } from '../../api/faults.ts'
import type { ImageJob } from '../../api/queries/image-jobs.ts'
import { EMPTY_TILE, type Run } from './runs.ts'
import { words } from '../../words/words.ts'
import { keptEdit, MOST_EDITS } from './kept-edits.ts'
import { AUTO, requestsFor, type ImageModel, type Mode, type Settings } from './settings.ts'
import { typedFor } from './typed-settings.ts'

const UNTYPED: Settings = {
  prompt: '',
  size: AUTO,
  quality: AUTO,
  format: AUTO,
  background: AUTO,
  howMany: 1,
  previews: 0,
  keep: false,
}

export async function showJob(
  job: ImageJob,
  models: readonly ImageModel[],
  show: (run: Run) => void,
): Promise<void> {
  const text = words.images
  const mode: Mode = job.kind === 'edit' ? 'edit' : 'generate'
  const typed = typedFor(job.id)
  const edit = mode === 'edit' ? await keptEdit(job.id) : undefined
  const model = models.find(({ id }) => id === job.model)
  const whyNotAgain =
    typed === undefined
      ? text.againElsewhere
      : model === undefined
        ? text.againNoModel(job.model)
        : mode === 'edit' && edit === undefined
          ? text.againNoPictures(MOST_EDITS)
          : undefined
  // Of requests side by side, this job was one.
  const requests = typed && model ? requestsFor(typed.settings, model, mode).slice(0, 1) : []
  const tiles = await Promise.all(
    job.pictures.map(async ({ asset }, index) => {
      const tile = {
        ...EMPTY_TILE,
        key: `${job.id} ${index}`,
        requestId: job.id,
        tookMs: job.duration_ms ?? undefined,
      }
      try {
        const picture = await pictureOf(asset)
        return { ...tile, state: 'done' as const, picture, url: URL.createObjectURL(picture) }
      } catch (error) {
        return { ...tile, state: 'failed' as const, error }
      }
    }),
  )
  show({
    id: -1,
    mode,
    model: job.model,
    project: job.project,
    settings: typed?.settings ?? UNTYPED,
    requests: whyNotAgain === undefined ? requests : [],
    files: edit?.files,
    mask: edit?.mask,
    startedMs: Date.parse(job.created_at),
    tiles,
    whyNotAgain,
  })
}

/** The bytes as they are kept. */
export async function pictureOf(asset: string): Promise<Blob> {
  const response = await fetch(apiUrl(`/api/v1/assets/${asset}/content`))
  if (!response.ok) throw new FaultError(response, await response.json().catch(() => undefined))
  return response.blob()
}

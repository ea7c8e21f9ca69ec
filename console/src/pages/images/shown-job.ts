/** A job of the history, as if it had just been run. */
import { apiUrl } from '../../api/client.ts'
import { moneyInList, NONE } from '../../app/format.ts'
import { FaultError } from '../../api/faults.ts'
import type { ImageJob } from '../../api/queries/image-jobs.ts'
import { EMPTY_TILE, type Run } from './runs.ts'
import { words } from '../../words/words.ts'
import { keptEdit, MAX_EDITS } from './kept-edits.ts'
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

export async function runOfJob(
  job: ImageJob,
  models: readonly ImageModel[],
  signal: AbortSignal,
): Promise<Run> {
  const text = words.images
  const mode: Mode = job.kind === 'edit' ? 'edit' : 'generate'
  const typed = typedFor(job.id)
  const edit = mode === 'edit' ? await keptEdit(job.id) : undefined
  const model = models.find(({ id }) => id === job.model)
  const rerunDisabledReason =
    typed === undefined
      ? text.againElsewhere
      : model === undefined
        ? text.againNoModel(job.model)
        : mode === 'edit' && edit === undefined
          ? text.againNoPictures(MAX_EDITS)
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
        return { ...tile, state: 'done' as const, image: await fetchAsset(asset, signal) }
      } catch (error) {
        return { ...tile, state: 'failed' as const, error }
      }
    }),
  )
  return {
    id: -1,
    mode,
    model: job.model,
    project: job.project,
    settings: typed?.settings ?? UNTYPED,
    requests: rerunDisabledReason === undefined ? requests : [],
    files: edit?.files,
    mask: edit?.mask,
    startedMs: Date.parse(job.created_at),
    tiles,
    rerunDisabledReason,
  }
}

/** A day of the ledger that was dropped from the database has no costs in a list: they are in its files. */
export function costOfJob({ cost_usd: usd, cost_in_files: isInFiles }: ImageJob): string {
  if (usd !== null) return moneyInList(usd)
  return isInFiles ? words.images.costInFiles : NONE
}

/** The bytes as they are kept. */
export async function fetchAsset(asset: string, signal: AbortSignal): Promise<Blob> {
  const response = await fetch(apiUrl(`/api/v1/assets/${asset}/content`), { signal })
  if (!response.ok) throw new FaultError(response, await response.json().catch(() => undefined))
  return response.blob()
}

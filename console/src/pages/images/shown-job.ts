/** A job of the history, as if it had just been run. */
import { apiUrl } from '../../api/client.ts'
import { FaultError } from '../../api/faults.ts'
import type { ImageJob } from '../../api/queries/image-jobs.ts'
import { EMPTY_TILE, type Run } from './runs.ts'
import { AUTO, type Settings } from './settings.ts'
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

export async function showJob(job: ImageJob, show: (run: Run) => void): Promise<void> {
  const typed = typedFor(job.id)
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
    mode: job.kind === 'edit' ? 'edit' : 'generate',
    model: job.model,
    project: job.project,
    settings: typed?.settings ?? UNTYPED,
    requests: [],
    files: undefined,
    mask: undefined,
    startedMs: Date.parse(job.created_at),
    tiles,
  })
}

/** The bytes as they are kept. */
export async function pictureOf(asset: string): Promise<Blob> {
  const response = await fetch(apiUrl(`/api/v1/assets/${asset}/content`))
  if (!response.ok) throw new FaultError(response, await response.json().catch(() => undefined))
  return response.blob()
}

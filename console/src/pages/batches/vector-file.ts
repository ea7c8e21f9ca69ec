/** The vectors of a batch as one file, which a worker of the browser makes of its results. */
import { useState } from 'react'
import type { BatchDetail, ResultFormat } from '../../api/queries/batches.ts'
import { useAbort } from '../../ui/abort.ts'
import { failureText } from '../../ui/failure.ts'
import { saveBlob } from '../../ui/object-url.ts'
import { toast } from '../../ui/toast.tsx'
import { withCorpusWorker, type WantedResults } from '../../workers/corpus.ts'
import { nameFile, wantVectors } from './vector-wish.ts'

export interface VectorDownload {
  /** The share that is done. Undefined: none is on its way. */
  readonly share: number | undefined
  readonly start: (format: ResultFormat) => void
}

export function useVectorDownload(batch: BatchDetail): VectorDownload {
  const abort = useAbort()
  const [share, setShare] = useState<number>()
  const download = async (format: ResultFormat): Promise<void> => {
    const signal = abort.next()
    setShare(0)
    try {
      const file = await makeFile(wantVectors(batch, format), setShare, signal)
      saveBlob(file, nameFile(batch, format))
    } catch (error) {
      if (!signal.aborted) toast(failureText(error), { mark: 'bad' })
    } finally {
      if (!signal.aborted) setShare(undefined)
    }
  }
  return { share, start: (format) => void download(format) }
}

function makeFile(
  wanted: WantedResults,
  onShare: (share: number) => void,
  signal: AbortSignal,
): Promise<Blob> {
  return withCorpusWorker(signal, async (worker) => {
    await worker.request('vectors', wanted)
    for (;;) {
      const step = await worker.request('convert', undefined)
      if ('file' in step) return step.file
      onShare(step.share)
    }
  })
}

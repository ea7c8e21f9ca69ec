/** One upload at a time: the next file takes the place of the one before. */
import { useState } from 'react'
import type { BatchDraft } from '../../api/queries/batch-drafts.ts'
import { uploading } from '../../api/upload.ts'
import { useWrite } from '../../api/write.ts'
import { useAbort } from '../../ui/abort.ts'

export interface Upload {
  readonly file: { readonly name: string; readonly bytes: number } | undefined
  readonly sentBytes: number
  readonly isSending: boolean
  /** What went wrong with the last file. */
  readonly error: unknown
  readonly start: (file: File, project: string) => void
  readonly stop: () => void
}

export function useUpload(onDone: (draft: BatchDraft) => void): Upload {
  const { send } = useWrite('post', '/api/v1/batch-drafts')
  const abort = useAbort()
  const [file, setFile] = useState<File>()
  const [sentBytes, setSentBytes] = useState(0)
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<unknown>()
  const upload = async (next: File, project: string): Promise<void> => {
    const signal = abort.next()
    setFile(next)
    setSentBytes(0)
    setSending(true)
    setError(undefined)
    try {
      const draft = await send({
        params: { query: { project, name: next.name } },
        body: next,
        bodySerializer: (body) => body,
        headers: { 'content-type': typeOf(next) },
        fetch: uploading(next, setSentBytes),
        signal,
      })
      if (!signal.aborted) onDone(draft)
    } catch (problem) {
      if (!signal.aborted) setError(problem)
    } finally {
      // The file after it is still on its way.
      if (!signal.aborted) setSending(false)
    }
  }
  return {
    file: file && { name: file.name, bytes: file.size },
    sentBytes,
    isSending,
    error,
    start: (next, project) => void upload(next, project),
    stop: () => {
      abort.stop()
      setSending(false)
      setFile(undefined)
    },
  }
}

/** By the name: the type that a browser gives depends on the programs that are installed. */
function typeOf({ name }: File): string {
  return /\.(?:jsonl|ndjson)$/i.test(name) ? 'application/x-ndjson' : 'text/csv'
}

/** The exact list of a suspect window as a file: requests, keys and batch lines, one JSON object per line. */
import { useState } from 'react'
import { client } from '../../api/client.ts'
import type { SuspectWindow } from '../../api/queries/spaces.ts'
import { failureText } from '../../ui/failure.ts'
import { saveBlob } from '../../ui/object-url.ts'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'

const PAGE = 1000
/** Rows that a browser collects; the command line has no such limit. */
const MAX_ROWS = 100_000

export function useDownload() {
  const [busy, setBusy] = useState(false)
  const download = async ({ id }: SuspectWindow): Promise<void> => {
    setBusy(true)
    try {
      saveBlob(new Blob(await linesOf(id), { type: 'application/jsonl' }), `${id}.jsonl`)
    } catch (error) {
      toast(failureText(error), { mark: 'bad' })
    } finally {
      setBusy(false)
    }
  }
  return { busy, download: (window: SuspectWindow) => void download(window) }
}

async function linesOf(id: string): Promise<string[]> {
  const lines: string[] = []
  let cursor: string | null | undefined
  while (cursor !== null) {
    if (lines.length >= MAX_ROWS) throw new Error(words.suspects.downloadFailed(MAX_ROWS))
    const { data } = await client.GET('/api/v1/spaces/suspects/{id}/vectors', {
      params: { path: { id }, query: { limit: PAGE, ...(cursor !== undefined && { cursor }) } },
    })
    lines.push(...(data?.data ?? []).map((row) => `${JSON.stringify(row)}\n`))
    cursor = data?.next ?? null
  }
  return lines
}

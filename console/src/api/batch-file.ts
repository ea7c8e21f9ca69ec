/** What a new batch asks of the node before it is one: counts of texts by a dry run, and a file that it is made of, sent in parts. */
import { client, type Schema } from './client.ts'
import { FaultError } from './faults.ts'

/** The answer to a dry run of texts. */
export interface DryRun {
  /** Absent: not known yet. */
  readonly space?: string
  /** Of each text. */
  readonly tokens: readonly number[]
  readonly token_counts: 'exact' | 'estimated'
  readonly deployments: readonly {
    readonly priority: number
    readonly cost_usd: { readonly likely: string }
  }[]
}

export interface AskedTexts {
  readonly project: string
  readonly model: string
  /** null: as wide as the model makes them. */
  readonly dimensions: number | null
  readonly texts: readonly string[]
}

/** Calls no upstream, and costs nothing. */
export async function dryRun(
  { project, model, dimensions, texts }: AskedTexts,
  signal: AbortSignal,
): Promise<DryRun> {
  const { data } = await client.POST('/api/v1/playground/embeddings', {
    // The node reads the project first: it decides whose limits hold for the rest.
    body: { project, model, input: [...texts], ...(dimensions !== null && { dimensions }) },
    headers: { 'x-torana-dry-run': 'true' },
    signal,
  })
  return data as unknown as DryRun
}

/** Many texts take several dry runs: the limit of requests per minute may make them wait. */
export async function countTokens(asked: AskedTexts, signal: AbortSignal): Promise<readonly number[]> {
  for (;;) {
    try {
      return (await dryRun(asked, signal)).tokens
    } catch (error) {
      if (!(error instanceof FaultError) || error.status !== 429 || error.retryAfterMs === undefined)
        throw error
      await wait(error.retryAfterMs, signal)
    }
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        reject(signal.reason as Error)
      },
      { once: true },
    )
  })
}

export interface SentFile {
  readonly project: string
  readonly name: string
  readonly bytes: number
  /** The next bytes; undefined: there are no more. */
  readonly next: () => Promise<Uint8Array<ArrayBuffer> | undefined>
  readonly onSent: (bytes: number) => void
}

/** Resolves with the id of the file. What was sent of one that is given up is forgotten at once. */
export async function sendFile(file: SentFile, signal: AbortSignal): Promise<string> {
  const { project, name, bytes } = file
  const { data: upload } = await client.POST('/api/v1/playground/uploads', {
    body: { project, filename: name, purpose: 'batch', bytes, mime_type: 'application/jsonl' },
    signal,
  })
  const path = { id: upload?.id ?? '' }
  try {
    const partIds = await sendParts(file, path, signal)
    const { data } = await client.POST('/api/v1/playground/uploads/{id}/complete', {
      params: { path },
      body: { project, part_ids: partIds },
      signal,
    })
    return (data as Schema<'Upload'>).file?.id ?? ''
  } catch (error) {
    await client
      .POST('/api/v1/playground/uploads/{id}/cancel', { params: { path }, body: { project } })
      // It expires by itself, and the first failure says more.
      .catch(() => undefined)
    throw error
  }
}

async function sendParts(
  { project, next, onSent }: SentFile,
  path: { readonly id: string },
  signal: AbortSignal,
): Promise<string[]> {
  const ids: string[] = []
  let sent = 0
  for (let bytes = await next(); bytes !== undefined; bytes = await next()) {
    const form = new FormData()
    form.set('project', project)
    form.set('data', new Blob([bytes]), 'part')
    const { data } = await client.POST('/api/v1/playground/uploads/{id}/parts', {
      params: { path },
      body: form as unknown as { project: string; data: string },
      bodySerializer: (body) => body as unknown as FormData,
      signal,
    })
    ids.push(data?.id ?? '')
    sent += bytes.length
    onSent(sent)
  }
  return ids
}

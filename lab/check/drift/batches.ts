/** A batch of the same lines at both nodes: every one of its calls has a rider where it has room, at any interval. */
import { setTimeout as wait } from 'node:timers/promises'
import { KEY } from './node.ts'

/** Longest time of a small batch on a busy machine. */
const ENDED_MS = 120_000
const LOOK_MS = 250
const HEADERS = { authorization: `Bearer ${KEY}` }

interface Batch {
  readonly id: string
  readonly status: string
  readonly output_file_id: string | null
  readonly error_file_id: string | null
}

/** The bodies of the answers, by line: without ids, which differ. */
export async function batchAnswers(url: string, bodies: readonly object[]): Promise<readonly string[]> {
  const lines = bodies.map((body, index) =>
    JSON.stringify({ custom_id: `line-${index}`, method: 'POST', url: '/v1/embeddings', body }),
  )
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new Blob([`${lines.join('\n')}\n`]), 'lines.jsonl')
  const file = await answered<{ readonly id: string }>(`${url}/v1/files`, form)
  const asked = { input_file_id: file.id, endpoint: '/v1/embeddings', completion_window: '24h' }
  const { id } = await answered<Batch>(`${url}/v1/batches`, JSON.stringify(asked))
  const batch = await ended(url, id)
  const texts = await Promise.all(
    [batch.output_file_id, batch.error_file_id].map(async (made) =>
      made === null ? '' : (await fetch(`${url}/v1/files/${made}/content`, { headers: HEADERS })).text(),
    ),
  )
  const answers = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''))
  return answers.map((line) => bodyText(JSON.parse(line) as AnsweredLine)).toSorted()
}

interface AnsweredLine {
  readonly custom_id: string
  readonly response: { readonly status_code: number; readonly body: unknown } | null
  readonly error: unknown
}

function bodyText({ custom_id: line, response, error }: AnsweredLine): string {
  return JSON.stringify([line, response?.status_code, response?.body, error])
}

async function ended(url: string, id: string): Promise<Batch> {
  const untilMs = performance.now() + ENDED_MS
  for (;;) {
    const batch = await answered<Batch>(`${url}/v1/batches/${id}`)
    if (['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) return batch
    if (performance.now() > untilMs) throw new Error(`the batch is still ${batch.status}`)
    await wait(LOOK_MS)
  }
}

async function answered<Answer>(url: string, body?: FormData | string): Promise<Answer> {
  const type = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
  const sent = body === undefined ? {} : { method: 'POST', body }
  const answer = await fetch(url, { ...sent, headers: { ...HEADERS, ...type } })
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as Answer
}

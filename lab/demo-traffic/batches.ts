/** Batches of the demo: one that is large, one in which lines fail, one whose file is refused, one that waits for its budget. */
import { refusedMarker } from '../fake-provider/refusals.ts'
import { secretOf } from './install.ts'

interface DemoLine {
  readonly method: 'POST'
  readonly url: '/v1/embeddings' | '/v1/images/generations'
  readonly body: object
}

interface DemoBatch {
  /** When it is sent, and how often again. */
  readonly atSecond: number
  readonly everySeconds: number
  readonly project: string
  readonly key: string
  readonly lines: number
  readonly lineOf: (index: number) => DemoLine
  readonly metadata: Readonly<Record<string, string>>
}

/** Narrow vectors: what a demo leaves on a disk stays small. */
const request = (model: string, input: string, dimensions?: number): DemoLine => ({
  method: 'POST',
  url: '/v1/embeddings',
  body: { model, input, encoding_format: 'base64', ...(dimensions !== undefined && { dimensions }) },
})

const picture = (model: string, prompt: string): DemoLine => ({
  method: 'POST',
  url: '/v1/images/generations',
  body: { model, prompt, size: '256x256', quality: 'low' },
})

const BATCHES: readonly DemoBatch[] = [
  {
    atSecond: 2,
    everySeconds: 120,
    project: 'search',
    key: 'indexer',
    lines: 6000,
    lineOf: (index) => request('text-embedding-3-small', `page ${index} of the help centre`, 64),
    metadata: { corpus: 'help-centre', version: '2026-11' },
  },
  {
    atSecond: 4,
    everySeconds: 300,
    project: 'catalog',
    key: 'nightly',
    lines: 1200,
    lineOf: (index) =>
      request('BAAI/bge-m3', index % 160 === 7 ? `product ${index} ${refusedMarker}` : `product ${index}`),
    metadata: { job: 'nightly' },
  },
  {
    atSecond: 6,
    everySeconds: 600,
    project: 'research',
    key: 'notebooks',
    lines: 12,
    lineOf: (index) => request('text-embedding-ada-003', `note ${index}`),
    metadata: {},
  },
  {
    atSecond: 8,
    everySeconds: 600,
    project: 'catalog',
    key: 'trial',
    lines: 60,
    lineOf: (index) => picture('gpt-image-2', `product ${index} on a white table`),
    metadata: { job: 'product-images' },
  },
]

/** Sends those whose second it is. What a demo can't send it leaves out: its pages show what there is. */
export async function sendBatches(url: string, second: number): Promise<void> {
  const due = BATCHES.filter(
    ({ atSecond, everySeconds }) => second >= atSecond && (second - atSecond) % everySeconds === 0,
  )
  await Promise.all(due.map((batch) => send(url, batch)))
}

async function send(url: string, { project, key, lines, lineOf, metadata }: DemoBatch): Promise<void> {
  const authorization = `Bearer ${secretOf(project, key)}`
  const text = Array.from({ length: lines }, (_, index) =>
    JSON.stringify({ custom_id: `${key}-${index}`, ...lineOf(index) }),
  ).join('\n')
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new File([text], `${key}.jsonl`))
  const kept = await fetch(`${url}/v1/files`, { method: 'POST', headers: { authorization }, body: form })
  const { id } = (await kept.json()) as { id?: string }
  if (id === undefined) return
  const made = await fetch(`${url}/v1/batches`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      input_file_id: id,
      endpoint: lineOf(0).url,
      completion_window: '24h',
      metadata,
    }),
  })
  await made.arrayBuffer()
}

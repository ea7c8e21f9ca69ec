/** Batches as a caller uses them: a file of lines, a batch, its results. */
import assert from 'node:assert/strict'
import type { Database } from '#stores/postgres/database.ts'
import { PATIENCE_MS } from './patience.ts'
import { eventually } from './process.ts'
import { GATEWAY_KEY } from './gateway.ts'

export interface BatchAnswer {
  readonly id: string
  readonly object: string
  readonly status: string
  readonly errors: {
    readonly data: readonly { readonly code: string; readonly line: number | null }[]
  } | null
  readonly input_file_id: string
  readonly output_file_id: string | null
  readonly error_file_id: string | null
  readonly completed_at: number | null
  readonly request_counts: { readonly total: number; readonly completed: number; readonly failed: number }
  readonly usage: Tokens
  readonly metadata: Readonly<Record<string, string>> | null
  readonly torana: {
    readonly cost_usd: string
    readonly unknown_cost_usd: string
    readonly pause: { readonly code: string } | null
    readonly space: string | null
    readonly dropped_lines: number
  }
}

interface Tokens {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
}

export interface ResultLine {
  readonly custom_id: string
  readonly response: {
    readonly status_code: number
    readonly body: {
      readonly model: string
      readonly data: readonly { readonly embedding: string }[]
      readonly usage: Pick<Tokens, 'total_tokens'> & Partial<Tokens>
      readonly error?: { readonly code: string }
    }
  } | null
  readonly error: { readonly code: string } | null
}

/** One line for each body, with ids in their order. */
export function requestLines(url: string, bodies: readonly object[]): string {
  return bodies
    .map((body, index) => JSON.stringify({ custom_id: `line ${index}`, method: 'POST', url, body }))
    .join('\n')
}

/** One line for each text. */
export function embeddingLines(model: string, texts: readonly string[]): string {
  return requestLines(
    '/v1/embeddings',
    texts.map((input) => ({ model, input, encoding_format: 'base64' })),
  )
}

/** More than half of the inputs of a chunk. */
const CHUNK_TEXTS = 129

/** The texts of a line that fills a chunk alone, since no other fits beside it: the given one, and many like it. */
export function chunkTexts(text: string): readonly string[] {
  return Array.from({ length: CHUNK_TEXTS }, (_, copy) => (copy === 0 ? text : `${text} ${copy}`))
}

/** The same, where every line is a separate chunk. */
export function chunkLines(model: string, texts: readonly string[], more: object = {}): string {
  return requestLines(
    '/v1/embeddings',
    texts.map((text) => ({ model, input: chunkTexts(text), encoding_format: 'base64', ...more })),
  )
}

/** Ends the minute in which a paused batch, and its chunks without a holder, are not tried again. */
export async function tryAgain(database: Database, id: string): Promise<void> {
  await database.query('UPDATE batches SET not_before = now() WHERE batch_id = $1', [id])
  await database.query(
    `UPDATE batch_chunks SET lease_until = now() WHERE batch_id = $1 AND state = 'held' AND node_id IS NULL`,
    [id],
  )
}

/** A caller with a key at a node. */
export class BatchCaller {
  readonly #url: string
  readonly #key: string

  constructor(url: string, key: string = GATEWAY_KEY) {
    this.#url = url
    this.#key = key
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#key}`, ...(init.headers as Record<string, string>) }
    return fetch(`${this.#url}/v1${path}`, { ...init, headers })
  }

  /** The id of the file. */
  async upload(lines: string | Uint8Array<ArrayBuffer>): Promise<string> {
    const form = new FormData()
    form.set('purpose', 'batch')
    form.set('file', new File([lines], 'lines.jsonl'))
    const answer = await this.fetch('/files', { method: 'POST', body: form })
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    return (JSON.parse(text) as { id: string }).id
  }

  ask(fileId: string, fields: Readonly<Record<string, unknown>> = {}, headers: Record<string, string> = {}) {
    const body = { input_file_id: fileId, endpoint: '/v1/embeddings', completion_window: '24h', ...fields }
    return this.fetch('/batches', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    })
  }

  async create(fileId: string, fields: Readonly<Record<string, unknown>> = {}): Promise<BatchAnswer> {
    const answer = await this.ask(fileId, fields)
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    return JSON.parse(text) as BatchAnswer
  }

  async get(id: string): Promise<BatchAnswer> {
    const answer = await this.fetch(`/batches/${id}`)
    assert.equal(answer.status, 200)
    return (await answer.json()) as BatchAnswer
  }

  /** Resolves with the ended batch. */
  ended(id: string, withinMs = PATIENCE_MS): Promise<BatchAnswer> {
    return eventually(async () => {
      const batch = await this.get(id)
      assert.ok(!['in_progress', 'cancelling'].includes(batch.status), JSON.stringify(batch))
      return batch
    }, withinMs)
  }

  async lines(fileId: string | null): Promise<readonly ResultLine[]> {
    if (fileId === null) return []
    const answer = await this.fetch(`/files/${fileId}/content`)
    assert.equal(answer.status, 200)
    return (await answer.text())
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as ResultLine)
  }
}

/** Files and batches of the public API. Calls are retried through outages of minutes: a batch goes on without its caller. */
import { openAsBlob } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { CommandProblem } from './command-problem.ts'

/** The public API, called with a key. Its methods reject with a `CommandProblem` that has the status of the answer. */
export interface Gateway {
  readonly url: string
  ask<Body>(path: string, body?: unknown): Promise<Body>
  /** Resolves with the unread answer, for long bodies. */
  open(path: string, init?: RequestInit): Promise<Response>
  /** The model asked for, or the key's first model of this kind. */
  model(asked: string | undefined, kind: 'embedding' | 'image'): Promise<string>
}

export interface BatchBody {
  readonly id: string
  readonly status: string
  readonly endpoint: string
  readonly model: string | null
  readonly errors: {
    readonly data: readonly {
      readonly code: string
      readonly message: string
      readonly line: number | null
    }[]
  } | null
  readonly input_file_id: string
  readonly output_file_id: string | null
  readonly error_file_id: string | null
  readonly created_at: number
  readonly expires_at: number | null
  readonly request_counts: { readonly total: number; readonly completed: number; readonly failed: number }
  readonly usage: { readonly total_tokens: number } | null
  readonly metadata: Readonly<Record<string, string>> | null
  readonly torana?: {
    readonly cost_usd: string
    readonly pause: { readonly code: string } | null
    readonly cancelled_because?: string | null
    /** The vector space of its results. */
    readonly space?: string | null
  }
}

const ENDED = new Set(['completed', 'failed', 'expired', 'cancelled'])

export function hasEnded({ status }: BatchBody): boolean {
  return ENDED.has(status)
}

/** Time during which a failed call is retried: longer than a rolling restart or a database failover. */
const RETRY_MS = 5 * 60_000
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 10_000
const BATCHES_PER_PAGE = 100

export class BatchesClient {
  readonly #gateway: Gateway

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Streams the file from the disk; resolves with its id. */
  async upload(path: string): Promise<string> {
    return retried(async () => {
      const form = new FormData()
      form.set('purpose', 'batch')
      form.set('file', await openAsBlob(path), 'requests.jsonl')
      const answer = await this.#gateway.open('/files', { method: 'POST', body: form })
      return ((await answer.json()) as { id: string }).id
    })
  }

  /** Calls with the same idempotency key make one batch. */
  create(body: Readonly<Record<string, unknown>>, idempotencyKey: string): Promise<BatchBody> {
    return retried(async () => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      return (await (await this.#gateway.open('/batches', init)).json()) as BatchBody
    })
  }

  get(id: string): Promise<BatchBody> {
    return retried(() => this.#gateway.ask<BatchBody>(`/batches/${encodeURIComponent(id)}`))
  }

  cancel(id: string): Promise<BatchBody> {
    return this.#gateway.ask<BatchBody>(`/batches/${encodeURIComponent(id)}/cancel`, {})
  }

  /** Newest first. */
  async list(maxBatches: number): Promise<readonly BatchBody[]> {
    const found: BatchBody[] = []
    for (let after = ''; found.length < maxBatches;) {
      const limit = String(Math.min(BATCHES_PER_PAGE, maxBatches - found.length))
      const query = new URLSearchParams({ limit, ...(after && { after }) })
      const page = await this.#gateway.ask<{ data: BatchBody[]; has_more: boolean }>(
        `/batches?${query.toString()}`,
      )
      found.push(...page.data)
      const last = page.data.at(-1)
      if (!page.has_more || last === undefined) break
      after = last.id
    }
    return found
  }

  /** The batch whose input is this file, if there is one. */
  async madeOf(fileId: string): Promise<BatchBody | undefined> {
    const all = await retried(() => this.list(Number.MAX_SAFE_INTEGER))
    return all.find(({ input_file_id }) => input_file_id === fileId)
  }

  /** Succeeds also if the file is already deleted. */
  async remove(fileId: string): Promise<void> {
    try {
      await this.#gateway.open(`/files/${encodeURIComponent(fileId)}`, { method: 'DELETE' })
    } catch (error) {
      if (!(error instanceof CommandProblem)) throw error
    }
  }

  /** The bytes of a file from `firstByte` on. After a lost connection the download resumes where it broke. */
  async *content(fileId: string, firstByte = 0): AsyncGenerator<Uint8Array> {
    let at = firstByte
    for (;;) {
      const from = at
      const answer = await retried(() => this.#open(fileId, from))
      if (answer === undefined) return
      try {
        for await (const chunk of answer.body ?? []) {
          at += chunk.length
          yield chunk
        }
        return
      } catch (error) {
        // Without progress the connection is not the cause.
        if (at === from) throw error
      }
    }
  }

  /** Undefined if the file ends at `firstByte`. */
  async #open(fileId: string, firstByte: number): Promise<Response | undefined> {
    const headers: Record<string, string> = firstByte === 0 ? {} : { range: `bytes=${firstByte}-` }
    try {
      // No timeout: a file may have gigabytes.
      const signal = new AbortController().signal
      return await this.#gateway.open(`/files/${encodeURIComponent(fileId)}/content`, { headers, signal })
    } catch (error) {
      if (error instanceof CommandProblem && error.status === 416) return undefined
      throw error
    }
  }
}

async function retried<Value>(ask: () => Promise<Value>): Promise<Value> {
  const endMs = performance.now() + RETRY_MS
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    try {
      return await ask()
    } catch (error) {
      if (!isTransient(error) || performance.now() + pauseMs > endMs) throw error
      await delay(pauseMs)
    }
  }
}

/** The gateway is unreachable, overloaded or failing; a lost connection is a TypeError with a cause. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof CommandProblem)) return error instanceof TypeError && error.cause !== undefined
  const { status } = error
  return status === undefined || status === 408 || status === 429 || status >= 500
}

/** Files and batches of the public API. Outages of minutes are waited for: a batch goes on without its caller. */
import { openAsBlob } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { CommandProblem } from './command-problem.ts'
import type { GatewayClient } from './gateway-client.ts'

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

/** A rolling restart, or a failover of a database, is over by then. */
const PATIENCE_MS = 5 * 60_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
/** Of a list, at once. */
const PAGE = 100

export class BatchesClient {
  readonly #gateway: GatewayClient
  readonly #patienceMs: number

  constructor(gateway: GatewayClient, patienceMs = PATIENCE_MS) {
    this.#gateway = gateway
    this.#patienceMs = patienceMs
  }

  /** The id of the file. Its bytes go from the disk to the wire. */
  async upload(path: string): Promise<string> {
    return this.#patiently(async () => {
      const form = new FormData()
      form.set('purpose', 'batch')
      form.set('file', await openAsBlob(path), 'requests.jsonl')
      const answer = await this.#gateway.open('/files', { method: 'POST', body: form })
      return ((await answer.json()) as { id: string }).id
    })
  }

  /** The same key makes one batch, however often it is asked for. */
  create(body: Readonly<Record<string, unknown>>, idempotencyKey: string): Promise<BatchBody> {
    return this.#patiently(async () => {
      const headers = { 'content-type': 'application/json', 'idempotency-key': idempotencyKey }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      return (await (await this.#gateway.open('/batches', init)).json()) as BatchBody
    })
  }

  get(id: string): Promise<BatchBody> {
    return this.#patiently(() => this.#gateway.ask<BatchBody>(`/batches/${encodeURIComponent(id)}`))
  }

  cancel(id: string): Promise<BatchBody> {
    return this.#gateway.ask<BatchBody>(`/batches/${encodeURIComponent(id)}/cancel`, {})
  }

  /** Newest first, up to so many. */
  async list(most: number): Promise<readonly BatchBody[]> {
    const found: BatchBody[] = []
    for (let after = ''; found.length < most;) {
      const limit = String(Math.min(PAGE, most - found.length))
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

  /** The batch that was made of a file, if there is one. */
  async madeOf(fileId: string): Promise<BatchBody | undefined> {
    const all = await this.#patiently(() => this.list(Number.MAX_SAFE_INTEGER))
    return all.find(({ input_file_id }) => input_file_id === fileId)
  }

  /** A file that is not there any more needs no deletion. */
  async remove(fileId: string): Promise<void> {
    try {
      await this.#gateway.open(`/files/${encodeURIComponent(fileId)}`, { method: 'DELETE' })
    } catch (error) {
      if (!(error instanceof CommandProblem)) throw error
    }
  }

  /** The bytes of a file from a place on. A broken connection is taken up where it broke. */
  async *content(fileId: string, firstByte = 0): AsyncGenerator<Uint8Array> {
    let at = firstByte
    for (;;) {
      const from = at
      const answer = await this.#patiently(() => this.#open(fileId, from))
      if (answer === undefined) return
      try {
        for await (const piece of answer.body ?? []) {
          at += piece.length
          yield piece
        }
        return
      } catch (error) {
        // Nothing came: it is not the connection.
        if (at === from) throw error
      }
    }
  }

  /** Undefined: the file ends there. */
  async #open(fileId: string, firstByte: number): Promise<Response | undefined> {
    const headers: Record<string, string> = firstByte === 0 ? {} : { range: `bytes=${firstByte}-` }
    try {
      // Gigabytes take their time.
      const signal = new AbortController().signal
      return await this.#gateway.open(`/files/${encodeURIComponent(fileId)}/content`, { headers, signal })
    } catch (error) {
      if (error instanceof CommandProblem && error.status === 416) return undefined
      throw error
    }
  }

  async #patiently<Value>(ask: () => Promise<Value>): Promise<Value> {
    const endMs = performance.now() + this.#patienceMs
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await ask()
      } catch (error) {
        if (!isPassing(error) || performance.now() + pauseMs > endMs) throw error
        await delay(pauseMs)
      }
    }
  }
}

/** Nobody answered, or not now. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof CommandProblem)) return error instanceof TypeError && error.cause !== undefined
  const { status } = error
  return status === undefined || status === 408 || status === 429 || status >= 500
}

import { CLOCK_SKEW_MS, type MadeVectors } from '#core/embedding/made-vectors.ts'
import type {
  SuspectBatch,
  SuspectChunk,
  SuspectRequest,
  SuspectStore,
  SuspectWindow,
} from '#ports/suspects.ts'
import type { WebhooksFor } from '#ports/webhooks.ts'
import { suspectEvents } from '../../webhook-events.ts'
import { plainArray, textArray } from '../arrays.ts'
import type { Database } from '../database.ts'
import { rangeOf, type MadeRow } from '../jobs/batch-rows.ts'
import { enqueueWebhooks } from '../jobs/webhooks.ts'
import { HIGHEST_ID, lowestIdAt } from '#core/money/id-range.ts'
import { reachable } from '../unreachable.ts'
import {
  BATCH_REQUESTS,
  BY_PROJECT,
  CHUNKS,
  DELETE_OLD,
  DUE,
  END_GONE,
  HOURS,
  LIST_LINES,
  LIST_REQUESTS,
  LISTED,
  TAKE_OUT_REFUSED,
} from './statements.ts'

const HOUR_MS = 3_600_000
/** Requests that one statement looks at: those of a minute, so that none takes long at thousands per second. */
const SLICE_MS = 60_000
/** Time from the acceptance of a request to the end of its last call: a line of a batch may wait ten minutes for its turn. */
const MAX_REQUEST_MS = 15 * 60_000
/** Time after which every node that reaches the store knows of a window, so none uses cached vectors of it. */
const KNOWN_AFTER_MS = 60_000

interface WindowRow {
  readonly window_id: string
  readonly model: string
  readonly deployment: string
  readonly from_at: Date
  readonly until_at: Date | null
  readonly found_at: Date
}

interface SuspectChunkRow extends MadeRow {
  readonly part_token: number
  readonly head_bytes: number
}

export class PostgresSuspects implements SuspectStore {
  readonly #database: Database
  readonly #webhooksFor: WebhooksFor

  constructor(database: Database, webhooksFor: WebhooksFor = () => []) {
    this.#database = database
    this.#webhooksFor = webhooksFor
  }

  async due(limit: number): Promise<readonly SuspectWindow[]> {
    return (await reachable(this.#database.query<WindowRow>(DUE, [limit]))).map(windowOf)
  }

  async listRequests(window: SuspectWindow): Promise<void> {
    for await (const values of this.#slices(window)) await this.#run(LIST_REQUESTS, values)
    await this.#run(TAKE_OUT_REFUSED, [window.id])
  }

  async batchesIn(window: SuspectWindow): Promise<readonly SuspectBatch[]> {
    const byBatch = new Map<string, Map<string, number>>()
    for await (const values of this.#slices(window)) {
      const rows = await this.#run<{ batch_id: string; request_id: string; inputs: number }>(
        BATCH_REQUESTS,
        values,
      )
      for (const { batch_id, request_id, inputs } of rows) {
        const requests = byBatch.get(batch_id) ?? new Map<string, number>()
        byBatch.set(batch_id, requests.set(request_id, inputs))
      }
    }
    return Array.from(byBatch, ([id, requests]) => ({ id, requests }))
  }

  async chunksIn(window: SuspectWindow, batchId: string): Promise<readonly SuspectChunk[]> {
    const maker = JSON.stringify([{ deployment: window.deployment }])
    const rows = await this.#run<SuspectChunkRow>(CHUNKS, [batchId, maker])
    return rows.filter(({ made }) => made.some((one) => isWithin(window, one))).map(chunkOf)
  }

  async listLines(
    window: SuspectWindow,
    batchId: string,
    requests: readonly SuspectRequest[],
  ): Promise<void> {
    await this.#run(LIST_LINES, [
      window.id,
      batchId,
      plainArray(requests.map(({ requestId }) => requestId)),
      plainArray(requests.map(({ inputs }) => inputs)),
      requests.map(({ lines }) => (lines === undefined ? null : JSON.stringify(lines))),
    ])
  }

  async listed(window: SuspectWindow): Promise<void> {
    const { id, model, deployment, fromMs, untilMs } = window
    const until = untilMs === undefined ? null : new Date(untilMs)
    await reachable(
      this.#database.transaction(async (sql) => {
        const [row] = await sql.query<{ found_at: Date; space: string }>(LISTED, [id, until])
        if (row === undefined) return
        const about = {
          id,
          model,
          deployment,
          space: row.space,
          fromMs,
          untilMs,
          foundAtMs: row.found_at.getTime(),
        }
        for (const { project, vectors, requests, batch_lines } of await sql.query<ProjectRow>(BY_PROJECT, [
          id,
        ])) {
          const counts = {
            vectors: Number(vectors),
            requests: Number(requests),
            batchLines: Number(batch_lines),
          }
          await enqueueWebhooks(sql, suspectEvents({ ...about, project, ...counts }, this.#webhooksFor))
        }
      }),
    )
  }

  async endGone(present: readonly { readonly model: string; readonly deployment: string }[]): Promise<void> {
    const [models, deployments] = [present.map(({ model }) => model), present.map((one) => one.deployment)]
    await this.#run(END_GONE, [textArray(models), textArray(deployments)])
  }

  async deleteOld(beforeMs: number): Promise<void> {
    await this.#run(DELETE_OLD, [new Date(beforeMs)])
  }

  #run<Row extends object>(statement: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return reachable(this.#database.query<Row>(statement, values))
  }

  /** The values of a statement with `MADE`, for each slice of the hours that may hold something. */
  async *#slices({
    id,
    model,
    deployment,
    fromMs,
    untilMs,
    foundAtMs,
  }: SuspectWindow): AsyncGenerator<unknown[]> {
    const from = new Date(fromMs - CLOCK_SKEW_MS)
    const until = untilMs === undefined ? 'infinity' : new Date(untilMs)
    const firstMs = from.getTime() - MAX_REQUEST_MS
    const cachedUntil = new Date(foundAtMs + KNOWN_AFTER_MS)
    const values = [model, deployment, new Date(firstMs), until, cachedUntil]
    const lastId = untilMs === undefined ? HIGHEST_ID : lowestIdAt(untilMs + 1)
    for (const { hour } of await this.#run<{ hour: Date }>(HOURS, values)) {
      const hourMs = hour.getTime()
      const endMs = Math.min(hourMs + HOUR_MS, (untilMs ?? Infinity) + 1)
      for (let sliceMs = Math.max(firstMs, hourMs); sliceMs < endMs; sliceMs += SLICE_MS) {
        const ids = [lowestIdAt(sliceMs), lowestIdAt(Math.min(sliceMs + SLICE_MS, endMs))]
        yield [model, deployment, ...ids, from, until, lastId, id]
      }
    }
  }
}

interface ProjectRow {
  readonly project: string
  readonly vectors: bigint
  readonly requests: bigint
  readonly batch_lines: bigint
}

function isWithin({ deployment, fromMs, untilMs = Infinity }: SuspectWindow, made: MadeVectors): boolean {
  return made.deployment === deployment && made.untilMs > fromMs - CLOCK_SKEW_MS && made.fromMs <= untilMs
}

function windowOf(row: WindowRow): SuspectWindow {
  return {
    id: row.window_id,
    model: row.model,
    deployment: row.deployment,
    fromMs: row.from_at.getTime(),
    untilMs: row.until_at?.getTime(),
    foundAtMs: row.found_at.getTime(),
  }
}

function chunkOf(row: SuspectChunkRow): SuspectChunk {
  const { chunk, part_token, head_bytes, output_bytes, error_bytes } = row
  const part = {
    token: part_token,
    headBytes: head_bytes,
    outputBytes: Number(output_bytes),
    errorBytes: Number(error_bytes),
  }
  return { ...rangeOf(row), chunk, part }
}

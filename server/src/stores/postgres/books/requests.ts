import type { RequestRecord } from '#ports/observer.ts'
import type { RequestLogStore } from '#ports/request-log.ts'
import { plainArray, textArray } from '../arrays.ts'
import { reachable } from '../away.ts'
import type { Database } from '../database.ts'

const APPEND = `
INSERT INTO requests (
  request_id, route, status, fault, project, key_id, model, deployments, attempts, inputs, tokens, amount_nano,
  client_request_id, client_address, duration_ms, steps
)
SELECT request_id, route, status, nullif(fault, ''), nullif(project, ''), nullif(key_id, ''), nullif(model, ''),
  nullif(deployments, ''), attempts, inputs, tokens, amount_nano, nullif(client_request_id, ''),
  nullif(client_address, ''), duration_ms, nullif(steps, '')::jsonb
FROM unnest(
  $1::uuid[], $2::text[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::smallint[],
  $10::integer[], $11::bigint[], $12::bigint[], $13::text[], $14::text[], $15::real[],
  $16::text[]
) AS given (
  request_id, route, status, fault, project, key_id, model, deployments, attempts,
  inputs, tokens, amount_nano, client_request_id, client_address, duration_ms, steps
)
ON CONFLICT DO NOTHING`

export class PostgresRequests implements RequestLogStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async append(records: readonly RequestRecord[]): Promise<void> {
    const text = (value: (record: RequestRecord) => string | undefined): string =>
      textArray(records.map((record) => value(record) ?? ''))
    const plain = (value: (record: RequestRecord) => string | number | bigint | undefined): string =>
      plainArray(records.map(value))
    await reachable(
      this.#database.query(
        APPEND,
        [
          plain(({ requestId }) => requestId),
          text(({ route }) => route),
          plain(({ status }) => status),
          text(({ fault }) => fault),
          text(({ project }) => project),
          text(({ keyId }) => keyId),
          text(({ model }) => model),
          text(({ deployment }) => deployment),
          plain(({ attempts }) => attempts),
          plain(({ inputs }) => inputs),
          plain(({ promptTokens }) => promptTokens),
          plain(({ amountNanoUsd }) => amountNanoUsd),
          text(({ clientRequestId }) => clientRequestId),
          text(({ clientAddress }) => clientAddress),
          plain(({ durationMs }) => durationMs),
          `{${records.map(stepsOf).join(',')}}`,
        ],
        'requests-append',
      ),
    )
  }
}

/** Different in every row, so not worth remembering in its quoted form. */
function stepsOf({ trace }: RequestRecord): string {
  if (trace === undefined) return '""'
  const { calls, ...steps } = trace
  const rounded = Object.fromEntries(Object.entries(steps).map(([name, ms]) => [name, hundredths(ms)]))
  const json = JSON.stringify({
    ...rounded,
    calls: calls.map((call) => ({ ...call, durationMs: hundredths(call.durationMs) })),
  })
  return `"${json.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100
}

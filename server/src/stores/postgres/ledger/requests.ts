import { deploymentsOf, ownTime } from '#core/request/request-trace.ts'
import type { RequestRecord } from '#ports/observer.ts'
import type { RequestLogStore } from '#ports/request-log.ts'
import { plainArray, textArray } from '../arrays.ts'
import { reachable } from '../unreachable.ts'
import type { Database } from '../database.ts'
import { hundredths, traceText } from './trace-text.ts'

const APPEND = `
INSERT INTO requests (
  request_id, route, status, fault, project, key_id, model, deployments, attempts, inputs, tokens, amount_nano,
  client_request_id, client_address, duration_ms, own_ms, waited_ms, hits, images, trace, pinned_space, node_id,
  end_user, tags
)
SELECT request_id, route, status, nullif(fault, ''), nullif(project, ''), nullif(key_id, ''), nullif(model, ''),
  nullif(deployments, ''), attempts, inputs, tokens, amount_nano, nullif(client_request_id, ''),
  nullif(client_address, ''), duration_ms, own_ms, waited_ms, hits, images, nullif(trace, ''),
  nullif(pinned_space, ''), $22::uuid, nullif(end_user, ''), nullif(tags, '')::jsonb
FROM unnest(
  $1::uuid[], $2::text[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::smallint[],
  $10::integer[], $11::bigint[], $12::bigint[], $13::text[], $14::text[], $15::real[], $16::real[], $17::real[],
  $18::integer[], $19::integer[], $20::text[], $21::text[],
  $23::text[], $24::text[]
) AS given (
  request_id, route, status, fault, project, key_id, model, deployments, attempts, inputs, tokens, amount_nano,
  client_request_id, client_address, duration_ms, own_ms, waited_ms, hits, images, trace, pinned_space, end_user, tags
)
ON CONFLICT DO NOTHING`

export class PostgresRequests implements RequestLogStore {
  readonly #database: Database
  readonly #nodeId: string | null

  /** `nodeId`: the node that served these requests. */
  constructor(database: Database, nodeId?: string) {
    this.#database = database
    this.#nodeId = nodeId ?? null
  }

  async append(records: readonly RequestRecord[]): Promise<void> {
    const text = (value: (record: RequestRecord) => string | undefined): string =>
      textArray(records.map((record) => value(record) ?? ''))
    const plain = (value: (record: RequestRecord) => string | number | bigint | undefined): string =>
      plainArray(records.map(value))
    const times = records.map(({ trace, durationMs }) =>
      trace === undefined ? undefined : ownTime(trace, durationMs),
    )
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
          text(namesOf),
          plain(({ attempts, trace }) => attempts ?? trace?.calls.length),
          plain(({ inputs }) => inputs),
          plain(({ promptTokens }) => promptTokens),
          plain(({ amountNanoUsd }) => amountNanoUsd),
          text(({ clientRequestId }) => clientRequestId),
          text(({ clientAddress }) => clientAddress),
          plain(({ durationMs }) => hundredths(durationMs)),
          plainArray(times.map((time) => time && hundredths(time.ownMs))),
          plainArray(times.map((time) => time && hundredths(time.waitedMs))),
          plain(({ cache }) => cache?.hits),
          plain(({ trace }) => trace?.images),
          `{${records.map(quotedTrace).join(',')}}`,
          text(({ trace }) => (trace?.isPinned ? trace.space : undefined)),
          this.#nodeId,
          labelColumn(records, ({ user }) => user),
          labelColumn(records, ({ tags }) => tags && JSON.stringify(tags)),
        ],
        'requests-append',
      ),
    )
  }
}

/** Most requests have one call, and its deployment is the one that served them. */
function namesOf({ deployment, trace }: RequestRecord): string | undefined {
  const { calls = [] } = trace ?? {}
  const [only] = calls
  if (calls.length === 1 && only?.deployment === deployment) return deployment
  return deploymentsOf(deployment, calls).join()
}

/** Empty where no record has one: `unnest` fills missing values. Quoted by the driver, since the values rarely repeat. */
function labelColumn(
  records: readonly RequestRecord[],
  text: (record: RequestRecord) => string | undefined,
): readonly string[] {
  const texts = records.map((record) => text(record) ?? '')
  return texts.every((one) => one === '') ? [] : texts
}

/** Different in every row, so its quoted form is not worth caching. */
function quotedTrace(record: RequestRecord): string {
  const { trace, model } = record
  if (trace === undefined) return '""'
  return `"${traceText(trace, model, record).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** Which requests a report is about, as SQL. */
import { OUTCOMES, type Outcome } from '#core/request-outcome.ts'
import { KIND_OF_ROUTE, sourceOf, type RequestFilter, type RequestSource } from '#ports/request-reports.ts'
import { lowestIdAt } from '../books/upkeep-ids.ts'

const IS_OUTCOME: Readonly<Record<Outcome, string>> = {
  answered: 'status < 400',
  refused: 'status BETWEEN 400 AND 499 AND status NOT IN (424, 429)',
  limited: `status = 429 AND fault IS DISTINCT FROM 'upstream_rate_limited'`,
  failed: `(status >= 500 OR fault = 'upstream_rate_limited')`,
  unknown: 'status = 424',
}

/** The log also has questions for models and refusals of what is no request. */
const IS_WORK = `route IN (${Array.from(KIND_OF_ROUTE.keys(), (route) => `'${route}'`).join(', ')})`

function isFrom(source: RequestSource): string {
  const batches = [...KIND_OF_ROUTE.keys()].filter((route) => sourceOf(route) === 'batches')
  const routes = batches.map((route) => `'${route}'`).join(', ')
  return source === 'batches' ? `route IN (${routes})` : `route NOT IN (${routes})`
}

/** Lines of batches are not among what callers were answered. */
export const IS_OF_CALLERS = isFrom('callers')

/** A position in `OUTCOMES`. */
export const OUTCOME_NUMBER = `CASE ${OUTCOMES.map((outcome, index) => `WHEN ${IS_OUTCOME[outcome]} THEN ${index}`).join(' ')} END`

export class Conditions {
  readonly values: unknown[] = []

  /** Adds a value, and returns its place in the statement. */
  of(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }

  /** What an index finds: the time, the project, and whether it went wrong. */
  indexed(filter: RequestFilter, before?: string): string {
    const { fromMs, toMs, keys, outcomes, status, faults } = filter
    const conditions = [
      `request_id >= ${this.of(lowestIdAt(fromMs))}::uuid`,
      `request_id < ${this.of(before ?? lowestIdAt(toMs))}::uuid`,
      IS_WORK,
    ]
    const projects = filter.projects ?? (keys && [...new Set(keys.map(projectOfKey))])
    if (projects?.length === 1) conditions.push(`project = ${this.of(projects[0])}`)
    else if (projects !== undefined) conditions.push(`project = ANY (${this.of(projects)}::text[])`)
    const wentWrong =
      faults !== undefined ||
      (status ?? 0) >= 400 ||
      (outcomes !== undefined && !outcomes.includes('answered'))
    if (wentWrong) conditions.push('status >= 400')
    return conditions.join(' AND ')
  }

  /** What has to be looked at row by row. Undefined: nothing. */
  other(filter: RequestFilter): string | undefined {
    const {
      keys,
      models,
      deployment,
      kinds,
      source,
      outcomes,
      status,
      faults,
      slowerMs,
      dearerNanoUsd,
      tries,
      client,
      user,
      tags,
    } = filter
    const conditions: string[] = []
    const isAnyOf = (column: string, values: readonly string[] | undefined): void => {
      if (values !== undefined) conditions.push(`${column} = ANY (${this.of(values)}::text[])`)
    }
    isAnyOf('key_id', keys)
    isAnyOf('model', models)
    isAnyOf(
      'route',
      kinds && [...KIND_OF_ROUTE].filter(([, kind]) => kinds.includes(kind)).map(([route]) => route),
    )
    if (source !== undefined) conditions.push(isFrom(source))
    isAnyOf('fault', faults)
    if (outcomes !== undefined)
      conditions.push(`(${outcomes.map((outcome) => IS_OUTCOME[outcome]).join(' OR ')})`)
    if (status !== undefined) conditions.push(`status = ${this.of(status)}::integer`)
    if (deployment !== undefined) {
      const name = this.of(deployment)
      // Most rows have one, and need not be taken apart.
      conditions.push(
        `(deployments = ${name} OR deployments LIKE '%,%' AND string_to_array(deployments, ',') @> ARRAY[${name}::text])`,
      )
    }
    if (slowerMs !== undefined) conditions.push(`duration_ms > ${this.of(slowerMs)}::double precision`)
    if (dearerNanoUsd !== undefined) conditions.push(`amount_nano > ${this.of(dearerNanoUsd)}::bigint`)
    if (tries !== undefined) conditions.push(`attempts >= ${this.of(tries)}::integer`)
    if (client !== undefined) conditions.push(`client_request_id = ${this.of(client)}`)
    if (user !== undefined) conditions.push(`end_user = ${this.of(user)}`)
    if (tags !== undefined) conditions.push(`tags @> ${this.of(JSON.stringify(tags))}::jsonb`)
    return conditions.length === 0 ? undefined : conditions.join(' AND ')
  }
}

/** `search` of `search/indexer`. */
function projectOfKey(key: string): string {
  return key.split('/', 1)[0] ?? key
}

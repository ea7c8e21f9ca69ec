/** The filter of requests: as callers give it, and as SQL. */
import { z } from 'zod'
import { MAX_TAG_KEY, MAX_TAG_VALUE, MAX_TAGS, MAX_USER, type Tags } from '#core/money/labels.ts'
import { OUTCOMES } from '#core/request/request-outcome.ts'
import { KIND_OF_ROUTE, REQUEST_KINDS, REQUEST_SOURCES } from '#ports/request-reports.ts'
import { lowestIdAt } from '#core/money/id-range.ts'
import { givenTime, givenUsd, storable } from '../shared/fields.ts'
import { IS_OUTCOME, IS_WORK, isFrom } from '../shared/request-conditions.ts'

const MAX_NAME_CHARACTERS = 512
/** The longest text of an IPv6 address has 45 characters. */
const MAX_ADDRESS_CHARACTERS = 64
/** Values of one filter. */
const MAX_CHOSEN = 50

export const kind = z.enum(REQUEST_KINDS)
export const source = z.enum(REQUEST_SOURCES)
export const outcome = z.enum(OUTCOMES)

/** A key has no colon; a value may have. */
const tag = storable(MAX_TAG_KEY + 1 + MAX_TAG_VALUE).regex(
  /^[A-Za-z0-9][A-Za-z0-9._-]*:./,
  'expected <key>:<value>, such as team:red',
)

/** One value, or several with the parameter repeated. */
function anyOf<Value extends z.ZodType>(value: Value) {
  return z.preprocess(
    (given) => (given === undefined || Array.isArray(given) ? given : [given]),
    z.array(value).max(MAX_CHOSEN).optional(),
  )
}

export const requestFilters = z.object({
  from: givenTime.optional().describe('Default: one hour before `to`.'),
  to: givenTime.optional().describe('The first moment that is not in it. Default: now.'),
  project: storable(MAX_NAME_CHARACTERS).optional(),
  key: anyOf(storable(MAX_NAME_CHARACTERS)),
  model: anyOf(storable(MAX_NAME_CHARACTERS)),
  deployment: storable(MAX_NAME_CHARACTERS).optional(),
  kind: anyOf(kind),
  source: source.optional().describe('`callers`: requests whose caller waits. `batches`: lines of batches.'),
  outcome: anyOf(outcome),
  status: z.coerce.number().int().min(100).max(599).optional(),
  fault: anyOf(storable(MAX_NAME_CHARACTERS)),
  slower_ms: z.coerce.number().min(0).max(1e9).optional(),
  dearer_usd: givenUsd.optional(),
  tries: z.coerce.number().int().min(1).max(1000).optional().describe('Minimum of calls to upstreams.'),
  client: storable(MAX_NAME_CHARACTERS).optional().describe("The caller's own id of the request."),
  address: storable(MAX_ADDRESS_CHARACTERS).optional().describe('The address of the client.'),
  user: storable(MAX_USER).optional().describe("The application's own user, as the caller sent it."),
  tag: z
    .preprocess(
      (given) => (given === undefined || Array.isArray(given) ? given : [given]),
      z.array(tag).max(MAX_TAGS).optional(),
    )
    .describe('Such as `team:red`. Repeat it: all of them must fit.'),
})

export type GivenFilter = z.output<typeof requestFilters>

export interface RequestFilter extends Partial<
  Omit<GivenFilter, 'from' | 'to' | 'project' | 'tag' | 'dearer_usd'>
> {
  readonly fromMs: number
  readonly toMs: number
  /** Undefined: all. */
  readonly projects?: readonly string[] | undefined
  readonly dearerNanoUsd?: bigint | undefined
  /** A request has all of them. */
  readonly tags?: Tags | undefined
}

export class Conditions {
  readonly values: unknown[] = []

  /** Adds a value, and returns its placeholder. */
  of(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }

  /** What an index finds: the time, the project, whether the request failed, the caller's id and the user. */
  indexed(filter: RequestFilter, before?: string): string {
    const { fromMs, toMs, key, outcome, status, fault, client, user } = filter
    const conditions = [
      `request_id >= ${this.of(lowestIdAt(fromMs))}::uuid`,
      `request_id < ${this.of(before ?? lowestIdAt(toMs))}::uuid`,
      IS_WORK,
    ]
    const projects = filter.projects ?? (key && [...new Set(key.map(projectOfKey))])
    if (projects?.length === 1) conditions.push(`project = ${this.of(projects[0])}`)
    else if (projects !== undefined) conditions.push(`project = ANY (${this.of(projects)}::text[])`)
    const hasFailed =
      fault !== undefined || (status ?? 0) >= 400 || (outcome !== undefined && !outcome.includes('answered'))
    if (hasFailed) conditions.push('status >= 400')
    if (client !== undefined) conditions.push(`client_request_id = ${this.of(client)}`)
    if (user !== undefined) conditions.push(`end_user = ${this.of(user)}`)
    return conditions.join(' AND ')
  }

  /** What is checked row by row. Undefined: nothing. */
  other(filter: RequestFilter): string | undefined {
    const { kind, source, outcome, status, deployment, tries, address, tags } = filter
    const conditions: string[] = []
    const isAnyOf = (column: string, values: readonly string[] | undefined): void => {
      if (values !== undefined) conditions.push(`${column} = ANY (${this.of(values)}::text[])`)
    }
    isAnyOf('key_id', filter.key)
    isAnyOf('model', filter.model)
    isAnyOf(
      'route',
      kind && [...KIND_OF_ROUTE].flatMap(([route, own]) => (kind.includes(own) ? [route] : [])),
    )
    if (source !== undefined) conditions.push(isFrom(source))
    isAnyOf('fault', filter.fault)
    if (outcome !== undefined) conditions.push(`(${outcome.map((one) => IS_OUTCOME[one]).join(' OR ')})`)
    if (status !== undefined) conditions.push(`status = ${this.of(status)}::integer`)
    if (deployment !== undefined) {
      const name = this.of(deployment)
      // Most rows have one deployment, and need not be split.
      conditions.push(
        `(deployments = ${name} OR deployments LIKE '%,%' AND string_to_array(deployments, ',') @> ARRAY[${name}::text])`,
      )
    }
    if (filter.slower_ms !== undefined)
      conditions.push(`duration_ms > ${this.of(filter.slower_ms)}::double precision`)
    if (filter.dearerNanoUsd !== undefined)
      conditions.push(`amount_nano > ${this.of(filter.dearerNanoUsd)}::bigint`)
    if (tries !== undefined) conditions.push(`attempts >= ${this.of(tries)}::integer`)
    if (address !== undefined) conditions.push(`client_address = ${this.of(address)}`)
    if (tags !== undefined) conditions.push(`tags @> ${this.of(JSON.stringify(tags))}::jsonb`)
    return conditions.length === 0 ? undefined : conditions.join(' AND ')
  }
}

/** `search` of `search/indexer`. */
function projectOfKey(key: string): string {
  return key.split('/', 1)[0] ?? key
}

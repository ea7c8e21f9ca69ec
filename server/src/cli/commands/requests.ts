/** `torana requests [<id>]`: a list of requests, or one request with its calls and costs. */
import { command, type Options } from '../command/command.ts'
import { linesOf, shownUsd, tableOf, type Columns } from './columns.ts'
import { itemsFor } from './list-command.ts'
import { FROM_TO, LIMIT, queryOf } from './query.ts'

interface RequestRow {
  readonly at: string
  readonly status: number
  readonly fault: string | null
  readonly outcome: string
  readonly cost_usd: string | null
  readonly unpriced: boolean
  readonly duration_ms: number
  readonly own_ms: number
  readonly waited_ms: number
  readonly tags: Readonly<Record<string, string>>
}

interface LedgerRow {
  readonly amount_usd: string | null
}

interface Attempt {
  readonly start_ms: number
  readonly waited_ms: number
  readonly duration_ms: number
  readonly outcome: string
  readonly status: number | null
}

interface Kept extends RequestRow {
  readonly log: 'kept'
  readonly fault_text: string | null
  readonly fault_cause: string | null
  readonly fault_party: string | null
  readonly client_request_id: string | null
  readonly client_address: string | null
  readonly steps: readonly { readonly start_ms: number; readonly duration_ms: number }[]
  readonly attempts: readonly Attempt[]
  readonly skips: readonly object[]
  readonly ledger: readonly LedgerRow[]
}

/** A request whose log was deleted; the ledger still has it. */
interface Deleted {
  readonly log: 'deleted'
  readonly at: string
  readonly ledger: readonly LedgerRow[]
}

const OPTIONS = {
  ...FROM_TO,
  project: { takes: '<project>', says: 'of one project' },
  key: { takes: '<project>/<name>', says: 'of one key' },
  model: { takes: '<model>', says: 'of one model' },
  deployment: { takes: '<deployment>', says: 'with a call to this deployment' },
  outcome: {
    takes: '<outcome>',
    says: 'how it ended',
    oneOf: ['answered', 'refused', 'limited', 'failed', 'unknown'],
  },
  fault: { takes: '<code>', says: 'with this error code' },
  client: { takes: '<id>', says: 'with this id of the caller, from `x-client-request-id`' },
  address: { takes: '<address>', says: 'from this client address' },
  user: { takes: '<user>', says: 'with this `user`' },
  tag: { takes: '<key>:<value>', says: 'with this tag, such as team:red' },
  'slower-ms': { takes: '<n>', says: 'that took longer' },
  sort: { takes: '<order>', says: 'what comes first', oneOf: ['newest', 'slowest', 'dearest'] },
  limit: LIMIT,
} as const satisfies Options

const COLUMNS: Columns<RequestRow> = {
  at: 'at',
  status: 'status',
  outcome: ({ fault, outcome }) => fault ?? outcome,
  key: 'key',
  model: 'model',
  deployment: 'deployments',
  calls: 'calls',
  ms: 'duration_ms',
  cost: ({ cost_usd: cost, unpriced }) => (cost === null ? (unpriced ? 'unpriced' : '-') : shownUsd(cost)),
  id: 'id',
}

export const requests = command({
  name: 'requests',
  summary: 'list requests, or show one with its calls and its money',
  arguments: [
    { name: '<id>', says: 'the id of a request, from an error or from `x-request-id`', isOptional: true },
  ],
  options: OPTIONS,
  reach: 'node',
  more: 'Without --from: the last hour.',
  examples: [
    'torana requests --outcome failed --from 24h',
    'torana requests --tag team:red --sort dearest',
    'torana requests 01a1dd73-3f92-76e4-8f36-bfa439123750',
  ],
  async run({ control, given: [id], text }) {
    if (id !== undefined) {
      const path = `/requests/${encodeURIComponent(id)}`
      const found = await control.ask<Kept | Deleted>('GET', path)
      return { data: found, text: found.log === 'kept' ? detailsOf(found) : remainsOf(found) }
    }
    const query = queryOf(OPTIONS, text)
    query.set('sort', { newest: '-at', slowest: '-duration', dearest: '-cost' }[text('sort') ?? ''] ?? '-at')
    const list = { path: '/requests', options: OPTIONS, paging: { perPage: 50 } }
    const found = await itemsFor<RequestRow, keyof typeof OPTIONS>({ control, text }, list, query)
    return { data: found, text: tableOf(COLUMNS, found, 'There are no such requests.') }
  },
})

const DETAILS: Columns<Kept> = {
  request: 'id',
  at: ({ at }) => at,
  outcome: ({ status, fault, outcome }) => `${status} ${fault ?? outcome}`,
  error: ({ fault_text: error }) => error ?? undefined,
  cause: ({ fault_cause: cause }) => cause ?? undefined,
  'at fault': ({ fault_party: party }) => party ?? undefined,
  key: 'key',
  model: 'model',
  client: ({ client_request_id: id }) => id ?? undefined,
  address: ({ client_address: address }) => address ?? undefined,
  user: 'user',
  tags: ({ tags }) =>
    Object.entries(tags)
      .map(([key, value]) => `${key}=${value}`)
      .join(', ') || '-',
  took: (one) =>
    `${msText(one.duration_ms)}, of it ${msText(one.own_ms)} Torana's own work and ${msText(one.waited_ms)} waiting for a turn`,
  reserved: 'money.reserved_usd',
  posted: 'money.posted_usd',
  saved: 'money.saved_usd',
}

const STEPS: Columns<Kept['steps'][number]> = {
  step: 'name',
  from: ({ start_ms: ms }) => msText(ms),
  took: ({ duration_ms: ms }) => msText(ms),
}

const ATTEMPTS: Columns<Attempt> = {
  call: 'attempt',
  deployment: 'deployment',
  from: ({ start_ms: ms }) => msText(ms),
  waited: ({ waited_ms: ms }) => msText(ms),
  took: ({ duration_ms: ms }) => msText(ms),
  outcome: ({ status, outcome }) => (status === null ? outcome : `${outcome} (${status})`),
  'upstream’s id': 'upstream_request_id',
  reason: 'reason',
}

const SKIPS: Columns<object> = { 'not tried': 'deployment', because: 'text' }

const LEDGER: Columns<LedgerRow> = {
  ledger: 'kind',
  call: 'attempt',
  deployment: 'deployment',
  tokens: 'tokens',
  images: 'images',
  amount: ({ amount_usd: usd }) => (usd === null ? 'unpriced' : shownUsd(usd)),
  written: 'at',
  'call id': 'call_id',
}

const REMAINS: Columns<Deleted> = {
  request: 'id',
  at: ({ at }) => at,
  key: 'key',
  model: 'model',
  posted: 'posted_usd',
}

function detailsOf(one: Kept): string {
  return [
    linesOf(DETAILS, one),
    tableOf(STEPS, one.steps),
    tableOf(ATTEMPTS, one.attempts, 'No call to an upstream was made.'),
    ...(one.skips.length > 0 ? [tableOf(SKIPS, one.skips)] : []),
    ledgerText(one.ledger),
  ].join('\n')
}

function remainsOf(one: Deleted): string {
  const why = 'Its log was deleted after 30 days. The ledger has:\n'
  return [linesOf(REMAINS, one), why, ledgerText(one.ledger)].join('\n')
}

function ledgerText(rows: readonly LedgerRow[]): string {
  return tableOf(LEDGER, rows, 'The ledger has no row of it.')
}

function msText(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
}

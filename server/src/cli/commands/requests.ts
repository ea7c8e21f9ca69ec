/** `torana requests [<id>]`: what became of requests, and of one of them with its calls and its money. */
import { command } from '../command/command.ts'
import { FROM_TO, LIMIT, limitOf, queryOf } from './query.ts'
import { table } from '../command/table.ts'
import { shownUsd } from './terms.ts'

interface RequestRow {
  readonly id: string
  readonly at: string
  readonly status: number
  readonly fault: string | null
  readonly outcome: string
  readonly key: string | null
  readonly model: string | null
  readonly deployments: readonly string[]
  readonly calls: number
  readonly tokens: number | null
  readonly images: number | null
  readonly cost_usd: string | null
  readonly unpriced: boolean
  readonly duration_ms: number
  readonly own_ms: number
  readonly waited_ms: number
  readonly user: string | null
  readonly tags: Readonly<Record<string, string>>
}

interface LedgerRow {
  readonly attempt: number
  readonly call_id: string
  readonly kind: string
  readonly deployment: string
  readonly tokens: number | null
  readonly images: number
  readonly amount_usd: string | null
  readonly at: string
}

interface Attempt {
  readonly attempt: number
  readonly deployment: string
  readonly start_ms: number
  readonly waited_ms: number
  readonly duration_ms: number
  readonly outcome: string
  readonly status: number | null
  readonly reason: string | null
  readonly upstream_request_id: string | null
}

interface Kept extends RequestRow {
  readonly log: 'kept'
  readonly steps: readonly {
    readonly name: string
    readonly start_ms: number
    readonly duration_ms: number
  }[]
  readonly attempts: readonly Attempt[]
  readonly money: {
    readonly reserved_usd: string | null
    readonly posted_usd: string
    readonly saved_usd: string
  }
  readonly ledger: readonly LedgerRow[]
}

interface Forgotten {
  readonly log: 'deleted'
  readonly id: string
  readonly at: string
  readonly key: string
  readonly model: string
  readonly posted_usd: string
  readonly ledger: readonly LedgerRow[]
}

const OUTCOMES = ['answered', 'refused', 'limited', 'failed', 'unknown']

export const requests = command({
  name: 'requests',
  summary: 'list requests, or show one with its calls and its money',
  arguments: [
    { name: '<id>', says: 'the id of a request, from an error or from `x-request-id`', isOptional: true },
  ],
  options: {
    ...FROM_TO,
    project: { takes: '<project>', says: 'of one project' },
    key: { takes: '<project>/<name>', says: 'of one key' },
    model: { takes: '<model>', says: 'of one model' },
    deployment: { takes: '<deployment>', says: 'with a call to this deployment' },
    outcome: { takes: '<outcome>', says: 'how it ended', oneOf: OUTCOMES },
    fault: { takes: '<code>', says: 'with this error code' },
    user: { takes: '<user>', says: 'with this `user`' },
    tag: { takes: '<key>:<value>', says: 'with this tag, such as team:red' },
    'slower-ms': { takes: '<n>', says: 'that took longer' },
    sort: { takes: '<order>', says: 'what comes first', oneOf: ['newest', 'slowest', 'dearest'] },
    limit: LIMIT,
  },
  reach: 'node',
  more: 'Without --from: the last hour.',
  examples: [
    'torana requests --outcome failed --from 24h',
    'torana requests --tag team:red --sort dearest',
    'torana requests 01a1dd73-3f92-76e4-8f36-bfa439123750',
  ],
  async run({ control, given: [id], text }) {
    const node = await control()
    if (id !== undefined) {
      const found = await node.ask<Kept | Forgotten>('GET', `/requests/${encodeURIComponent(id)}`)
      return { data: found, text: found.log === 'kept' ? detail(found) : forgotten(found) }
    }
    const query = queryOf(text, {
      from: 'from',
      to: 'to',
      project: 'project',
      key: 'key',
      model: 'model',
      deployment: 'deployment',
      outcome: 'outcome',
      fault: 'fault',
      user: 'user',
      tag: 'tag',
      'slower-ms': 'slower_ms',
    })
    const order = { newest: '-at', slowest: '-duration', dearest: '-cost' }[text('sort') ?? 'newest']
    if (order !== undefined) query.set('sort', order)
    const found = await node.pages<RequestRow>('/requests', query, limitOf(text('limit')))
    return { data: found, text: listing(found) }
  },
})

function listing(found: readonly RequestRow[]): string {
  if (found.length === 0) return 'There are no such requests.\n'
  const head = ['at', 'status', 'outcome', 'key', 'model', 'deployment', 'calls', 'ms', 'cost', 'id']
  const rows = found.map((one) => [
    one.at.slice(0, 19).replace('T', ' '),
    String(one.status),
    one.fault ?? one.outcome,
    one.key ?? '-',
    one.model ?? '-',
    one.deployments.join(', ') || '-',
    String(one.calls),
    String(Math.round(one.duration_ms)),
    costText(one),
    one.id,
  ])
  return table([head, ...rows])
}

function costText({ cost_usd: cost, unpriced }: RequestRow): string {
  return cost === null ? (unpriced ? 'unpriced' : '-') : shownUsd(cost)
}

function detail(one: Kept): string {
  const { money } = one
  const facts = [
    ['request', one.id],
    ['at', one.at],
    ['outcome', `${one.status} ${one.fault ?? one.outcome}`],
    ['key', one.key ?? '-'],
    ['model', one.model ?? '-'],
    ['user', one.user ?? '-'],
    ['tags', tagsText(one.tags)],
    [
      'took',
      `${ms(one.duration_ms)}, of it ${ms(one.own_ms)} Torana's own work and ${ms(one.waited_ms)} waiting for a turn`,
    ],
    ['reserved', money.reserved_usd === null ? '-' : shownUsd(money.reserved_usd)],
    ['posted', shownUsd(money.posted_usd)],
    ['saved', shownUsd(money.saved_usd)],
  ]
  const steps = one.steps.map((step) => [step.name, ms(step.start_ms), ms(step.duration_ms)])
  return [
    table(facts),
    table([['step', 'from', 'took'], ...steps]),
    one.attempts.length === 0 ? 'No call to an upstream was made.\n' : attemptsText(one.attempts),
    ledgerText(one.ledger),
  ].join('\n')
}

function tagsText(tags: Kept['tags']): string {
  const pairs = Object.entries(tags).map(([key, value]) => `${key}=${value}`)
  return pairs.join(', ') || '-'
}

function attemptsText(attempts: readonly Attempt[]): string {
  const head = ['call', 'deployment', 'from', 'waited', 'took', 'outcome', 'upstream’s id', 'reason']
  const rows = attempts.map((one) => [
    String(one.attempt),
    one.deployment,
    ms(one.start_ms),
    ms(one.waited_ms),
    ms(one.duration_ms),
    one.status === null ? one.outcome : `${one.outcome} (${one.status})`,
    one.upstream_request_id ?? '-',
    one.reason ?? '-',
  ])
  return table([head, ...rows])
}

function forgotten(one: Forgotten): string {
  const facts = [
    ['request', one.id],
    ['at', one.at],
    ['key', one.key],
    ['model', one.model],
    ['posted', shownUsd(one.posted_usd)],
  ]
  return [table(facts), 'Its log was deleted after 30 days. The ledger has:\n', ledgerText(one.ledger)].join(
    '\n',
  )
}

function ledgerText(rows: readonly LedgerRow[]): string {
  if (rows.length === 0) return 'The ledger has no row of it.\n'
  const head = ['ledger', 'call', 'deployment', 'tokens', 'images', 'amount', 'written', 'call id']
  const cells = rows.map((row) => [
    row.kind,
    String(row.attempt),
    row.deployment,
    row.tokens === null ? '-' : String(row.tokens),
    String(row.images),
    row.amount_usd === null ? 'unpriced' : shownUsd(row.amount_usd),
    row.at.slice(0, 19).replace('T', ' '),
    row.call_id,
  ])
  return table([head, ...cells])
}

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
}

/** `torana models`: what callers may ask for. */
import { command } from '../command/command.ts'
import { queryOf } from './query.ts'
import { table } from '../command/table.ts'

interface ModelRow {
  readonly id: string
  readonly kind: string
  readonly aliases: readonly string[]
  readonly managed_by: string
  readonly managed_at: string | null
  readonly space: string | null
  readonly ends: { readonly on: string } | null
  readonly deployments: readonly { readonly id: string; readonly state: string }[]
  readonly price: readonly { readonly amount: string; readonly unit: string }[]
  readonly last_hour: { readonly requests: number; readonly failed: number; readonly p95_ms: number | null }
  readonly last_day: { readonly requests: number }
}

export const models = command({
  name: 'models',
  summary: 'list models with their deployments, prices and figures',
  options: {
    kind: { takes: '<embedding|image>', says: 'of one kind', oneOf: ['embedding', 'image'] },
    upstream: { takes: '<upstream>', says: 'with a deployment on this upstream' },
    health: { takes: '<well|ill>', says: 'ill: a deployment is not healthy', oneOf: ['well', 'ill'] },
  },
  reach: 'node',
  async run({ control, text }) {
    const query = queryOf(text, { kind: 'kind', upstream: 'upstream', health: 'health' })
    const { data } = await (
      await control()
    ).ask<{ readonly data: readonly ModelRow[] }>('GET', `/models?${query.toString()}`)
    return { data, text: listing(data) }
  },
})

function listing(found: readonly ModelRow[]): string {
  if (found.length === 0) return 'There are no such models.\n'
  const head = [
    'model',
    'kind',
    'deployments',
    'price',
    'requests/hour',
    'failed',
    'p95 ms',
    'requests/day',
    'ends',
    'declared in',
  ]
  const rows = found.map((one) => [
    [one.id, ...one.aliases].join(' = '),
    one.kind,
    one.deployments.map(({ id, state }) => (state === 'healthy' ? id : `${id} (${state})`)).join(', '),
    one.price.map(priceText).join(', '),
    String(one.last_hour.requests),
    String(one.last_hour.failed),
    one.last_hour.p95_ms === null ? '-' : String(Math.round(one.last_hour.p95_ms)),
    String(one.last_day.requests),
    one.ends?.on ?? '-',
    one.managed_at ?? one.managed_by,
  ])
  return table([head, ...rows])
}

export function priceText({ amount, unit }: ModelRow['price'][number]): string {
  return unit === 'free' || amount === '' ? unit : `$${amount}/${unit}`
}

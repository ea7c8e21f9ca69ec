/** `torana models`: models that callers may ask for. */
import { listCommand } from './list-command.ts'

interface ModelRow extends Priced, Declared {
  readonly id: string
  readonly aliases: readonly string[]
  readonly deployments: readonly { readonly id: string; readonly state: string }[]
  readonly as_of: string | null
  readonly is_old: boolean
}

interface Priced {
  readonly price: readonly { readonly amount: string; readonly unit: string }[]
}

interface Declared {
  readonly managed_by: string
  readonly managed_at: string | null
}

export const models = listCommand({
  name: 'models',
  summary: 'list models with their deployments, prices and figures',
  options: {
    kind: { takes: '<embedding|image>', says: 'of one kind', oneOf: ['embedding', 'image'] },
    upstream: { takes: '<upstream>', says: 'with a deployment on this upstream' },
    health: { takes: '<well|ill>', says: 'ill: a deployment is not healthy', oneOf: ['well', 'ill'] },
  },
  path: '/models',
  columns: {
    model: ({ id, aliases }: ModelRow) => [id, ...aliases].join(' = '),
    kind: 'kind',
    deployments: ({ deployments }) =>
      deployments.map(({ id, state }) => (state === 'healthy' ? id : `${id} (${state})`)).join(', '),
    price: pricesText,
    'requests/hour': 'last_hour.requests',
    failed: 'last_hour.failed',
    'p95 ms': 'last_hour.p95_ms',
    'requests/day': 'last_day.requests',
    ends: 'ends.on',
    'facts as of': ({ as_of: day, is_old: isOld }) => (day !== null && isOld ? `${day} (old)` : (day ?? '-')),
    'declared in': declaredIn,
  },
  none: 'There are no such models.',
})

export function pricesText({ price }: Priced): string {
  return price
    .map(({ amount, unit }) => (unit === 'free' || amount === '' ? unit : `$${amount}/${unit}`))
    .join(', ')
}

export function declaredIn({ managed_at: place, managed_by: manager }: Declared): string {
  return place ?? manager
}

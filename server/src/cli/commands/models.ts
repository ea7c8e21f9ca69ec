/** `torana models …`: models that callers may ask for, and those that end. */
import { group } from '../command/command.ts'
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

interface EndingRow {
  readonly notices: readonly { readonly days: number; readonly sent_at: string | null }[]
  readonly source: string
  readonly source_at: string
  readonly used_by: readonly { readonly key: string }[]
}

const list = listCommand({
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

/** Keys of a row: who to ask first. */
const NAMED_KEYS = 3

const ending = listCommand({
  name: 'ending',
  summary: 'list models that end, by upstream: when, by whose word, and who still uses them',
  options: { days: { takes: '<n>', says: 'how far ahead (180)' } },
  path: '/model-endings',
  columns: {
    model: 'model',
    upstream: 'upstream',
    ends: 'ends_on',
    successor: 'successor',
    'requests/30 days': 'requests_30d',
    'used by': ({ used_by: keys }: EndingRow) => {
      const named = keys.slice(0, NAMED_KEYS).map(({ key }) => key)
      return [...named, ...(keys.length > NAMED_KEYS ? ['…'] : [])].join(', ') || '-'
    },
    notices: ({ notices }) =>
      notices
        .filter(({ sent_at: sent }) => sent !== null)
        .map(({ days }) => `${days} d`)
        .join(', ') || '-',
    'date from': ({ source, source_at: at }) => (source === 'configuration' ? at : `${source}, ${at}`),
  },
  none: 'No model ends within these days.',
})

export const models = group({
  name: 'models',
  summary: 'list models, and those that end',
  subcommands: [list, ending],
})

export function pricesText({ price }: Priced): string {
  return price
    .map(({ amount, unit }) => (unit === 'free' || amount === '' ? unit : `$${amount}/${unit}`))
    .join(', ')
}

export function declaredIn({ managed_at: place, managed_by: manager }: Declared): string {
  return place ?? manager
}

/** `torana budgets`: what may be spent, and what is left. */
import { command, group } from '../command/command.ts'
import { LIMIT, limitOf, queryOf } from './query.ts'
import { table } from '../command/table.ts'
import { budgetText, dayText, shownUsd } from './terms.ts'

interface BudgetRow {
  readonly id: string
  readonly managed_by: string
  readonly managed_at: string | null
  readonly limit_usd: string
  readonly per: string
  readonly hard: boolean
  readonly window: { readonly end: string | null }
  readonly spent_usd: string
  readonly unknown_usd: string
  readonly left_usd: string
  readonly leased_usd: string
  readonly forecast: { readonly used_up_at: string | null } | null
}

const list = command({
  name: 'list',
  summary: 'list budgets of projects and keys, the fullest first',
  options: {
    project: { takes: '<project>', says: 'of one project and its keys' },
    scope: { takes: '<project|key>', says: 'only those of projects, or of keys', oneOf: ['project', 'key'] },
    limit: LIMIT,
  },
  reach: 'node',
  async run({ control, text }) {
    const query = queryOf(text, { project: 'project', scope: 'scope' })
    const found = await (await control()).pages<BudgetRow>('/budgets', query, limitOf(text('limit')))
    return { data: found, text: listing(found) }
  },
})

const show = command({
  name: 'show',
  summary: 'show one budget, with who spends it and what was refused for it',
  arguments: [{ name: '<id>', says: 'such as project:search or key:search/ci' }],
  reach: 'node',
  async run({ control, given: [id = ''] }) {
    const found = await (await control()).ask<BudgetRow>('GET', `/budgets/${encodeURIComponent(id)}`)
    return { data: found, text: listing([found]) }
  },
})

export const budgets = group({
  name: 'budgets',
  summary: 'show budgets: what is spent, leased and left',
  more: 'To change one: torana projects set, torana keys set, or torana.yaml where it is declared.',
  subcommands: [list, show],
})

function listing(found: readonly BudgetRow[]): string {
  if (found.length === 0) return 'There are no budgets.\n'
  const head = [
    'budget',
    'limit',
    'spent',
    'used',
    'left',
    'leased',
    'unknown',
    'ends',
    'used up',
    'declared in',
  ]
  const rows = found.map((one) => [
    one.id,
    budgetText({ usd: one.limit_usd, per: one.per, hard: one.hard }),
    shownUsd(one.spent_usd),
    shareText(one),
    shownUsd(one.left_usd),
    shownUsd(one.leased_usd),
    shownUsd(one.unknown_usd),
    one.window.end === null ? 'never' : dayText(one.window.end),
    one.forecast === null || one.forecast.used_up_at === null
      ? '-'
      : `about ${dayText(one.forecast.used_up_at)}`,
    one.managed_at ?? one.managed_by,
  ])
  return table([head, ...rows])
}

function shareText({ spent_usd: spent, limit_usd: limit }: BudgetRow): string {
  return Number(limit) === 0 ? '-' : `${Math.floor((Number(spent) / Number(limit)) * 100)} %`
}

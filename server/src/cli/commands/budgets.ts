/** `torana budgets`: spent, leased and remaining amounts of budgets. */
import { command, group } from '../command/command.ts'
import { dayText, tableOf, type Columns } from './columns.ts'
import { listCommand } from './list-command.ts'
import { declaredIn } from './models.ts'
import { LIMIT } from './query.ts'
import { budgetText } from './terms.ts'

interface BudgetRow {
  readonly managed_by: string
  readonly managed_at: string | null
  readonly limit_usd: string
  readonly per: string
  readonly hard: boolean
  readonly window: { readonly end: string | null }
  readonly spent_usd: string
  readonly forecast: { readonly used_up_at: string | null } | null
}

const COLUMNS: Columns<BudgetRow> = {
  budget: 'id',
  limit: ({ limit_usd: usd, per, hard }) => budgetText({ usd, per, hard }),
  spent: 'spent_usd',
  used: ({ spent_usd: spent, limit_usd: limit }) =>
    Number(limit) === 0 ? '-' : `${Math.floor((Number(spent) / Number(limit)) * 100)} %`,
  left: 'left_usd',
  leased: 'leased_usd',
  unknown: 'unknown_usd',
  ends: ({ window: { end } }) => (end === null ? 'never' : dayText(end)),
  'used up': ({ forecast }) => (forecast?.used_up_at ? `about ${dayText(forecast.used_up_at)}` : '-'),
  'declared in': declaredIn,
}

const list = listCommand({
  summary: 'list budgets of projects and keys, the fullest first',
  options: {
    project: { takes: '<project>', says: 'of one project and its keys' },
    scope: { takes: '<project|key>', says: 'only those of projects, or of keys', oneOf: ['project', 'key'] },
    limit: LIMIT,
  },
  path: '/budgets',
  paging: { perPage: 50 },
  columns: COLUMNS,
  none: 'There are no budgets.',
})

const show = command({
  name: 'show',
  summary: 'show one budget, with who spends it and what was refused for it',
  arguments: [{ name: '<id>', says: 'such as project:search or key:search/ci' }],
  reach: 'node',
  async run({ control, given: [id = ''] }) {
    const found = await control.ask<BudgetRow>('GET', `/budgets/${encodeURIComponent(id)}`)
    return { data: found, text: tableOf(COLUMNS, [found]) }
  },
})

export const budgets = group({
  name: 'budgets',
  summary: 'show budgets: what is spent, leased and left',
  more: 'To change one: torana projects set, torana keys set, or torana.yaml where it is declared.',
  subcommands: [list, show],
})

/** `torana catalog …`: the facts and prices in force, and signed feeds of newer ones. */
import { command, group, Misuse, type Call } from '../command/command.ts'
import { dayText, shownUsd, tableOf, type Columns } from './columns.ts'
import { pricesText } from './models.ts'

interface ReadFact {
  readonly as_of: string
  readonly is_old: boolean
}

interface FactRow {
  readonly model: string
  readonly deployment: string
  readonly facts: ReadFact | null
  readonly price: ReadFact | null
  readonly end: ReadFact | null
}

interface FeedRow {
  readonly sequence: number
  readonly made_on: string
  readonly key: string
  readonly source: string
  readonly pulled_by: string
  readonly pulled_at: string
}

interface State {
  readonly sequence: number
  readonly made_on: string
  readonly from: 'built-in' | 'feed'
  readonly pinned: number | 'built-in' | null
  readonly built_in: { readonly sequence: number; readonly made_on: string }
  readonly feeds: readonly FeedRow[]
}

interface CatalogBody extends State {
  readonly data: readonly FactRow[]
  readonly old_facts: number
}

interface FactChange {
  readonly provider: string
  readonly model: string | null
  readonly group: string
  readonly change: string
  readonly before: unknown
  readonly after: unknown
  readonly as_of: string | null
  readonly is_old: boolean
}

type PriceRow = { readonly amount: string; readonly unit: string }

interface PriceChange {
  readonly deployment: string
  readonly before: readonly PriceRow[]
  readonly after: readonly PriceRow[]
  readonly bill: {
    readonly calls: number
    readonly before_usd: string
    readonly after_usd: string | null
    readonly left_out_calls: number
    readonly problem: string | null
  }
}

interface VectorChange {
  readonly model: string
  readonly deployment: string | null
  readonly fact: string
  readonly before: unknown
  readonly after: unknown
}

interface Diff {
  readonly from: number
  readonly to: number
  readonly made_on: string
  readonly key: string | null
  readonly changes: readonly FactChange[]
  readonly more_changes: number
  readonly price_changes: readonly PriceChange[]
  readonly vector_changes: readonly VectorChange[]
  readonly lost_models: readonly string[]
  readonly problems: readonly string[]
}

/** Timeout of the control API: it fetches a feed, loads the configuration with it and reads 30 days of the ledger. */
const WORK_MS = 2 * 60_000
/** Characters of a value in a table. */
const MAX_SHOWN = 60

const SOURCE = {
  name: '<url|file>',
  says: 'the feed (catalog.url of torana.yaml)',
  isOptional: true,
} as const
const ACCEPT = {
  'accept-vector-changes': { says: 'accept changed facts that decide vectors of models in use' },
} as const

const list = command({
  name: 'list',
  summary: 'show which catalogue is in force, and how old its facts are',
  reach: 'node',
  async run({ control }) {
    const data = await control.ask<CatalogBody>('GET', '/catalog')
    const stored = data.feeds.length === 0 ? '' : `\n${tableOf(FEED_COLUMNS, data.feeds)}`
    const old =
      data.old_facts === 0
        ? ''
        : `\n${data.old_facts} facts were read more than 120 days ago. Look for a newer feed: torana catalog diff\n`
    return { data, text: `${stateText(data)}\n\n${tableOf(FACT_COLUMNS, data.data)}${stored}${old}` }
  },
})

const diff = command({
  name: 'diff',
  summary: 'show what a feed would change, and the last 30 days at its prices',
  arguments: [SOURCE],
  options: { to: { takes: '<sequence|built-in|latest>', says: 'compare with a stored catalogue instead' } },
  reach: 'node',
  more: 'The exit code is 1 if the feed can not be put in force: its facts do not fit torana.yaml, or it changes vectors.',
  examples: ['torana catalog diff https://example.com/catalog.json', 'torana catalog diff --to built-in'],
  async run({ control, given, text }) {
    const to = text('to')
    const body = to === undefined ? await sourceOf(given) : { to: targetOf(to) }
    const data = await control.ask<Diff>('POST', '/catalog/diff', body, WORK_MS)
    const isBlocked = data.problems.length + data.lost_models.length + data.vector_changes.length > 0
    return { data, text: diffText(data), exitCode: isBlocked ? 1 : 0 }
  },
})

const pull = command({
  name: 'pull',
  summary: 'put a feed in force on all nodes, without a restart',
  arguments: [SOURCE],
  options: ACCEPT,
  reach: 'node',
  more: 'What torana.yaml declares, and prices, upstreams and models of the store, take precedence over any feed.',
  examples: ['torana catalog pull https://example.com/catalog.json', 'torana catalog pull feed.json'],
  async run({ control, given, flag }) {
    const body = { ...(await sourceOf(given)), ...acceptance(flag) }
    const data = await control.ask<State & { changed: boolean }>('POST', '/catalog/pull', body, WORK_MS)
    return { data, note: changeNote(data) }
  },
})

const pin = command({
  name: 'pin',
  summary: 'keep a stored catalogue in force, or follow the newest again',
  arguments: [
    {
      name: '<sequence|built-in|latest>',
      says: 'a stored feed, the catalogue of the program, or the newest',
    },
  ],
  options: ACCEPT,
  reach: 'node',
  examples: ['torana catalog pin built-in', 'torana catalog pin latest'],
  async run({ control, given: [to = ''], flag }) {
    const body = { to: targetOf(to), ...acceptance(flag) }
    const data = await control.ask<State & { changed: boolean }>('POST', '/catalog/pin', body, WORK_MS)
    return { data, note: changeNote(data) }
  },
})

export const catalog = group({
  name: 'catalog',
  summary: 'show, compare, pull and pin the catalogue of facts and prices',
  subcommands: [list, diff, pull, pin],
})

/** The node fetches URLs; the command reads files, which the node may not have. */
async function sourceOf([source]: readonly string[]): Promise<Record<string, string>> {
  if (source === undefined) return {}
  if (/^https?:/.test(source)) return { url: source }
  const { readFileSync } = await import('node:fs')
  const { basename } = await import('node:path')
  try {
    return { feed: readFileSync(source, 'utf8'), name: basename(source) }
  } catch (error) {
    throw new Misuse(`${source} can't be read: ${(error as Error).message}`)
  }
}

function targetOf(text: string): number | string {
  if (text === 'built-in' || text === 'latest') return text
  if (!/^\d{1,15}$/.test(text)) throw new Misuse(`${text} is neither a sequence, nor built-in, nor latest.`)
  return Number(text)
}

function acceptance(flag: Call<'accept-vector-changes'>['flag']) {
  return { accept_vector_changes: flag('accept-vector-changes') }
}

function changeNote(state: State & { readonly changed: boolean }): string {
  return state.changed
    ? `${stateText(state)} All nodes use it within seconds.`
    : `Nothing changed. ${stateText(state)}`
}

function stateText({ sequence, made_on: madeOn, from, pinned, built_in: builtIn }: State): string {
  const origin =
    from === 'built-in'
      ? 'of this version of Torana'
      : `of a feed; this version of Torana has ${builtIn.sequence}`
  const kept = pinned === null ? '' : ' It is pinned.'
  return `The catalogue ${sequence} of ${madeOn} is in force, ${origin}.${kept}`
}

const FACT_COLUMNS: Columns<FactRow> = {
  deployment: 'deployment',
  facts: ({ facts }) => factText(facts),
  price: ({ price }) => factText(price),
  end: ({ end }) => factText(end),
}

const FEED_COLUMNS: Columns<FeedRow> = {
  sequence: ({ sequence }) => String(sequence),
  made: 'made_on',
  'signed by': 'key',
  source: 'source',
  pulled: ({ pulled_at: at }) => dayText(at),
  by: 'pulled_by',
}

const CHANGE_COLUMNS: Columns<FactChange> = {
  provider: 'provider',
  model: ({ model }) => model ?? '(all)',
  fact: 'group',
  change: 'change',
  before: ({ before }) => valueText(before),
  after: ({ after }) => valueText(after),
  'as of': ({ as_of: day, is_old: isOld }) => (day === null ? '-' : factText({ as_of: day, is_old: isOld })),
}

const PRICE_COLUMNS: Columns<PriceChange> = {
  deployment: 'deployment',
  price: ({ before }) => pricesText({ price: before }),
  'new price': ({ after }) => pricesText({ price: after }),
  calls: ({ bill }) => String(bill.calls),
  '30 days': ({ bill }) => shownUsd(bill.before_usd),
  'at the new price': ({ bill }) =>
    bill.after_usd === null ? `unknown: ${bill.problem}` : shownUsd(bill.after_usd),
  'left out': ({ bill }) => (bill.left_out_calls === 0 ? '-' : `${bill.left_out_calls} calls`),
}

const VECTOR_COLUMNS: Columns<VectorChange> = {
  model: 'model',
  deployment: ({ deployment }) => deployment ?? '(all)',
  fact: 'fact',
  before: ({ before }) => valueText(before),
  after: ({ after }) => valueText(after),
}

function diffText(data: Diff): string {
  const { from, to, made_on: madeOn, key } = data
  const signed = key === null ? '' : `, signed by ${key}`
  const parts = [
    `From the catalogue ${from} to ${to} of ${madeOn}${signed}.`,
    tableOf(CHANGE_COLUMNS, data.changes, 'No fact differs.'),
    data.more_changes > 0 ? `… and ${data.more_changes} more` : '',
    section('Prices of deployments in use:', PRICE_COLUMNS, data.price_changes),
    section(
      'Changes what decides vectors, and needs --accept-vector-changes:',
      VECTOR_COLUMNS,
      data.vector_changes,
    ),
    data.lost_models.length > 0 ? `No longer served: ${data.lost_models.join(', ')}` : '',
    data.problems.length > 0 ? `Does not fit this configuration:\n${data.problems.join('\n')}` : '',
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function section<Row>(title: string, columns: Columns<Row>, rows: readonly Row[]): string {
  return rows.length === 0 ? '' : `${title}\n\n${tableOf(columns, rows)}`
}

function factText(fact: ReadFact | null): string {
  if (fact === null) return '-'
  return fact.is_old ? `${fact.as_of} (old)` : fact.as_of
}

function valueText(value: unknown): string {
  if (value === null) return '-'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text
}

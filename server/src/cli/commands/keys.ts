/** `torana keys …`: the keys of the running node. */
import { command, group, Misuse, type Call, type Options, type Shown } from '../command/command.ts'
import { readSecret } from './secret-input.ts'
import { tableOf, type Columns } from './columns.ts'
import { listCommand } from './list-command.ts'
import {
  budgetText,
  limitsText,
  numberOrNull,
  TERMS_OPTIONS,
  termsIn,
  type BudgetBody,
  type LimitsBody,
} from './terms.ts'

interface KeyBody {
  readonly managed_by: string
  readonly models: readonly string[] | null
  readonly scopes: readonly string[] | null
  readonly max_calls_at_once: number | null
  readonly addresses: readonly string[] | null
  readonly limits: LimitsBody
  readonly budget: BudgetBody | null
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly leaked: boolean
  readonly secrets: readonly { readonly tail: string; readonly valid_until: string | null }[]
  readonly secret?: string
}

const KEY_OPTIONS = {
  models: { takes: '<a,b|all>', says: 'models that it may use' },
  scope: { takes: '<a,b|all>', says: 'what it may do: embeddings, images, edits' },
  calls: { takes: '<n|none>', says: 'requests at once' },
  from: { takes: '<addresses|anywhere>', says: 'addresses and networks that it may come from' },
  expires: { takes: '<time|never>', says: 'a day, a moment or a span from now, such as 2027-01-31 or 30d' },
  ...TERMS_OPTIONS,
} as const satisfies Options

const ID = { name: '<project>/<name>', says: 'the id of a key, such as search/ci' }

const COLUMNS: Columns<KeyBody> = {
  key: 'id',
  state: stateOf,
  models: ({ models }) => models?.join(',') ?? 'all',
  bounds: boundsText,
  limits: ({ limits }) => limitsText(limits),
  budget: ({ budget }) => budgetText(budget),
  expires: 'expires_at',
  'last used': 'last_used_at',
  secret: ({ secrets }) => secrets.map(({ tail }) => tail).join(' '),
}

const list = listCommand({
  summary: 'list all keys, including those of torana.yaml',
  options: { project: { takes: '<project>', says: 'those of one project' } },
  path: '/keys',
  paging: { perPage: 1000 },
  columns: COLUMNS,
})

const create = command({
  name: 'create',
  summary: 'create a key, and its project if there is none, and print it',
  arguments: [ID],
  options: {
    ...KEY_OPTIONS,
    'secret-file': { takes: '<file|->', says: 'use the existing key in this file or on standard input' },
  },
  reach: 'node',
  examples: [
    'torana keys create search/ci',
    'torana keys create search/ci --models text-embedding-3-small --budget 50 --per month --hard',
  ],
  async run(call) {
    const [id = ''] = call.given
    const [project, name] = parts(id)
    const file = call.text('secret-file')
    const brought = file === undefined ? {} : { secret: readSecret(file) }
    const body = { project, name, ...brought, ...changeIn(call) }
    const key = await call.control.ask<KeyBody>('POST', '/keys', body)
    return secretShown(key, `${id} is created`)
  },
})

const set = command({
  name: 'set',
  summary: 'change models, bounds, expiry, limits and budget of a key; other settings stay',
  arguments: [ID],
  options: KEY_OPTIONS,
  reach: 'node',
  examples: ['torana keys set search/ci --requests-per-minute 600 --expires 2027-01-31'],
  async run(call) {
    const [id = ''] = call.given
    const change = changeIn(call)
    if (Object.keys(change).length === 0) throw new Misuse('Name at least one setting to change.')
    const key = await call.control.ask<KeyBody>('PATCH', pathOf(id), change)
    return { data: key, text: tableOf(COLUMNS, [key]) }
  },
})

const rotate = command({
  name: 'rotate',
  summary: 'create a new secret and print it; the previous one stays valid for the overlap',
  arguments: [ID],
  options: {
    overlap: { takes: '<time>', says: 'such as 30m, 24h or 7d; 0 ends the previous one now (24h)' },
  },
  reach: 'node',
  examples: ['torana keys rotate search/ci --overlap 7d'],
  async run({ control, given: [id = ''], text }) {
    const overlap = text('overlap')
    const body = overlap === undefined ? {} : { overlap_seconds: secondsOf(overlap) }
    const key = await control.ask<KeyBody>('POST', `${pathOf(id)}/rotate`, body)
    const end = key.secrets[1]?.valid_until ?? null
    const before =
      end === null ? 'the previous secret is refused from now on' : `the previous secret works until ${end}`
    return secretShown(key, `${id} has a new secret; ${before}`)
  },
})

const revoke = command({
  name: 'revoke',
  summary: 'revoke a key; all nodes refuse it within two seconds',
  arguments: [ID],
  options: { leaked: { says: 'a stranger may have it: cancel its batches and drop its uploads too' } },
  reach: 'node',
  more: 'Batches that the key began pause. Continue or cancel each with torana batch, or in the console. With --leaked they are cancelled. Image jobs that wait for their turn end in either case.',
  examples: ['torana keys revoke search/ci --leaked'],
  async run({ control, given: [id = ''], flag }) {
    const isLeaked = flag('leaked')
    await control.ask('DELETE', `${pathOf(id)}${isLeaked ? '?leaked=true' : ''}`)
    const work = isLeaked ? 'are cancelled' : 'pause: continue or cancel them with torana batch'
    return { data: { id, revoked: true, leaked: isLeaked }, note: `${id} is revoked. Its batches ${work}.` }
  },
})

export const keys = group({
  name: 'keys',
  summary: 'list, create, change, rotate and revoke keys',
  subcommands: [list, create, set, rotate, revoke],
})

/** Only the secret goes to standard output, so that it can be piped. */
function secretShown(key: KeyBody, what: string): Shown {
  const { secret } = key
  const note = `${what}.${secret === undefined ? '' : ' Its secret is shown only once:'}`
  return { data: key, note, ...(secret !== undefined && { text: `${secret}\n` }) }
}

function changeIn(call: Call<keyof typeof KEY_OPTIONS>): Record<string, unknown> {
  const models = call.text('models')
  const expires = call.text('expires')
  const [scope, calls, from] = [call.text('scope'), call.text('calls'), call.text('from')]
  return {
    ...termsIn(call),
    ...(models !== undefined && { models: models === 'all' ? null : models.split(',') }),
    ...(scope !== undefined && { scopes: scope === 'all' ? null : scope.split(',') }),
    ...(calls !== undefined && { max_calls_at_once: numberOrNull(calls, '--calls') }),
    ...(from !== undefined && { addresses: from === 'anywhere' ? null : from.split(',') }),
    ...(expires !== undefined && { expires_at: expires === 'never' ? null : momentOf(expires) }),
  }
}

function boundsText({ scopes, max_calls_at_once: calls, addresses }: KeyBody): string {
  const parts = [
    ...(scopes === null ? [] : [`for ${scopes.join(',')}`]),
    ...(calls === null ? [] : [`${calls} at once`]),
    ...(addresses === null ? [] : [`from ${addresses.join(',')}`]),
  ]
  return parts.length === 0 ? '-' : parts.join('; ')
}

function stateOf(key: KeyBody): string {
  if (key.revoked_at !== null) return key.leaked ? 'leaked' : 'revoked'
  if (key.expires_at !== null && Date.parse(key.expires_at) <= Date.now()) return 'expired'
  return key.managed_by === 'configuration' ? 'configured' : 'active'
}

function parts(id: string): readonly [string, string] {
  const [project, name, ...rest] = id.split('/')
  if (!project || !name || rest.length > 0)
    throw new Misuse(`write a key as ${ID.name}, such as search/ci; got "${id}".`)
  return [project, name]
}

function pathOf(id: string): string {
  return `/keys/${parts(id).map(encodeURIComponent).join('/')}`
}

/** As the API takes it. Whether it is a day of the calendar, the API says. */
const MOMENT = /^\d{4}-\d{2}-\d{2}(T\S+)?$/

/** A span begins now. */
function momentOf(text: string): string {
  if (MOMENT.test(text)) return text
  const seconds = /\d$/.test(text) ? undefined : spanOf(text)
  if (seconds === undefined)
    throw new Misuse(
      `--expires: expected a day such as 2027-01-31, a moment such as 2027-01-31T12:00:00Z, a span such as 30d, or never, got "${text}".`,
    )
  return new Date(Date.now() + seconds * 1000).toISOString()
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

function secondsOf(text: string): number {
  const seconds = spanOf(text)
  if (seconds === undefined)
    throw new Misuse(`--overlap: expected a time such as 30m, 24h or 7d, got "${text}".`)
  return seconds
}

/** Undefined: it is no span. */
function spanOf(text: string): number | undefined {
  const [, amount, unit = 's'] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? []
  return amount === undefined ? undefined : Number(amount) * (UNITS[unit] ?? 1)
}

/** `torana keys …`: the keys of the running node. */
import { CommandProblem } from './control-client.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'
import {
  budgetText,
  dayText,
  limitsText,
  numberOrNull,
  TERMS_OPTIONS,
  TERMS_TAKES,
  termsIn,
  type BudgetBody,
  type LimitsBody,
} from './terms.ts'
import { readSecret, runVerb, type Call, type Verb } from './verbs.ts'

interface KeyBody {
  readonly id: string
  readonly managed_by: string
  readonly models: readonly string[] | null
  readonly scopes: readonly string[] | null
  readonly max_calls_at_once: number | null
  readonly addresses: readonly string[] | null
  readonly limits: LimitsBody
  readonly budget: BudgetBody | null
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly last_used_at: string | null
  readonly secrets: readonly { readonly tail: string; readonly valid_until: string | null }[]
  readonly secret?: string
}

const KEY_OPTIONS = {
  ...TERMS_OPTIONS,
  models: { type: 'string' },
  scope: { type: 'string' },
  calls: { type: 'string' },
  from: { type: 'string' },
  expires: { type: 'string' },
} as const
const KEY_TAKES = `[--models <a,b|all>] [--scope <embeddings,images,edits|all>] [--calls <at once|none>] [--from <addresses|anywhere>] [--expires <day or moment|never>] ${TERMS_TAKES}`
const ID = '<project>/<name>'

const VERBS: Readonly<Record<string, Verb>> = {
  list: {
    takes: '[--project <project>] [--json]',
    says: 'list all keys, including those of torana.yaml',
    target: 'none',
    options: { project: { type: 'string' }, json: { type: 'boolean' } },
    async run({ control, text, flag, out }) {
      const project = text('project')
      const path = project === undefined ? '/keys' : `/keys?project=${encodeURIComponent(project)}`
      const keys = await control.list<KeyBody>(path, ({ id }) => id)
      out.stdout.write(flag('json') ? `${JSON.stringify(keys, undefined, 2)}\n` : listing(keys))
    },
  },
  create: {
    takes: `${ID} ${KEY_TAKES} [--secret-file <file|->]`,
    says: 'create a key (and its project) and print it; --secret-file imports an existing key',
    target: 'required',
    options: { ...KEY_OPTIONS, 'secret-file': { type: 'string' } },
    async run(call) {
      const { control, target, text, out } = call
      const [project, name] = parts(target)
      const file = text('secret-file')
      const brought = file === undefined ? {} : { secret: readSecret(file) }
      const key = await control.ask<KeyBody>('POST', '/keys', {
        project,
        name,
        ...brought,
        ...changeIn(call),
      })
      tellSecret(key, out, `${target} is created`)
    },
  },
  set: {
    takes: `${ID} ${KEY_TAKES}`,
    says: 'change models, expiry, limits and budget of a key; other settings stay',
    target: 'required',
    options: KEY_OPTIONS,
    async run(call) {
      const change = changeIn(call)
      if (Object.keys(change).length === 0) throw new CommandProblem('Name at least one setting to change.')
      const key = await call.control.ask<KeyBody>('PATCH', pathOf(call.target), change)
      call.out.stdout.write(listing([key]))
    },
  },
  rotate: {
    takes: `${ID} [--overlap <24h>]`,
    says: 'create a new secret and print it; the previous one stays valid for the overlap (24h)',
    target: 'required',
    options: { overlap: { type: 'string' } },
    async run({ control, target, text, out }) {
      const overlap = text('overlap')
      const body = overlap === undefined ? {} : { overlap_seconds: secondsOf(overlap) }
      const key = await control.ask<KeyBody>('POST', `${pathOf(target)}/rotate`, body)
      const end = key.secrets[1]?.valid_until ?? null
      const before =
        end === null ? 'the previous secret is refused from now on' : `the previous secret works until ${end}`
      tellSecret(key, out, `${target} has a new secret; ${before}`)
    },
  },
  revoke: {
    takes: ID,
    says: 'revoke a key; all nodes refuse it within two seconds',
    target: 'required',
    options: {},
    async run({ control, target, out }) {
      await control.ask('DELETE', pathOf(target))
      out.stderr.write(`${target} is revoked.\n`)
    },
  },
}

export function run(argv: string[], out: Output): Promise<number> {
  return runVerb('keys', VERBS, argv, out)
}

/** The secret alone goes to standard output, so that it can be piped to where it belongs. */
function tellSecret({ secret }: KeyBody, out: Output, what: string): void {
  out.stderr.write(`${what}.${secret === undefined ? '' : ' It is shown only this once:'}\n`)
  if (secret !== undefined) out.stdout.write(`${secret}\n`)
}

function changeIn(call: Call): Record<string, unknown> {
  const models = call.text('models')
  const expires = call.text('expires')
  const [scope, calls, from] = [call.text('scope'), call.text('calls'), call.text('from')]
  return {
    ...termsIn(call),
    ...(models !== undefined && { models: models === 'all' ? null : models.split(',') }),
    ...(scope !== undefined && { scopes: scope === 'all' ? null : scope.split(',') }),
    ...(calls !== undefined && { max_calls_at_once: numberOrNull(calls, '--calls') }),
    ...(from !== undefined && { addresses: from === 'anywhere' ? null : from.split(',') }),
    ...(expires !== undefined && { expires_at: expires === 'never' ? null : expires }),
  }
}

function listing(keys: readonly KeyBody[]): string {
  const head = ['key', 'state', 'models', 'bounds', 'limits', 'budget', 'expires', 'last used', 'secret']
  const rows = keys.map((key) => [
    key.id,
    stateOf(key),
    key.models?.join(',') ?? 'all',
    boundsText(key),
    limitsText(key.limits),
    budgetText(key.budget),
    dayText(key.expires_at),
    dayText(key.last_used_at),
    key.secrets.map(({ tail }) => tail).join(' '),
  ])
  return table([head, ...rows])
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
  if (key.revoked_at !== null) return 'revoked'
  if (key.expires_at !== null && Date.parse(key.expires_at) <= Date.now()) return 'expired'
  return key.managed_by === 'configuration' ? 'configured' : 'active'
}

function parts(id: string): readonly [string, string] {
  const [project, name, ...rest] = id.split('/')
  if (!project || !name || rest.length > 0)
    throw new CommandProblem(`Write a key as ${ID}, such as search/ci; got "${id}".`)
  return [project, name]
}

function pathOf(id: string): string {
  return `/keys/${parts(id).map(encodeURIComponent).join('/')}`
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

function secondsOf(text: string): number {
  const [, amount = '', unit = 's'] = /^(\d{1,9})([smhd]?)$/.exec(text) ?? []
  if (amount === '')
    throw new CommandProblem(`--overlap: expected a time such as 30m, 24h or 7d, got "${text}".`)
  return Number(amount) * (UNITS[unit] ?? 1)
}

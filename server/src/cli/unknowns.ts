/** `torana unknowns …`: calls whose outcome nobody knows yet, and what became of them. */
import { CommandProblem } from './control-client.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'
import { dayText, shownUsd } from './terms.ts'
import { runVerb, type Verb } from './verbs.ts'

interface UnknownBody {
  readonly request_id: string
  readonly attempt: number
  readonly call_id: string
  readonly key_id: string
  readonly deployment: string
  readonly reserved_usd: string | null
  readonly requested_at: string
  readonly posted_at: string
}

const ID = '<request id>/<attempt>'

const VERBS: Readonly<Record<string, Verb>> = {
  list: {
    takes: '[--json]',
    says: 'list the calls, oldest first; each counts as spent with its reserved amount',
    target: 'none',
    options: { json: { type: 'boolean' } },
    async run({ control, flag, out }) {
      const unknowns = await control.list<UnknownBody>(
        '/unknowns',
        ({ request_id: requestId, attempt }) => `${requestId}/${attempt}`,
      )
      out.stdout.write(flag('json') ? `${JSON.stringify(unknowns, undefined, 2)}\n` : listing(unknowns))
    },
  },
  post: {
    takes: `${ID} [--usd <dollars>] [--tokens <n>]`,
    says: 'the call was paid: record this amount, or the reserved amount',
    target: 'required',
    options: { usd: { type: 'string' }, tokens: { type: 'string' } },
    async run({ control, target, text, out }) {
      const usd = text('usd')
      const tokens = text('tokens')
      await control.ask('POST', pathOf(target), {
        action: 'post',
        ...(usd !== undefined && { cost_usd: numberOf(usd, '--usd') }),
        ...(tokens !== undefined && { tokens: numberOf(tokens, '--tokens') }),
      })
      out.stderr.write(
        `${target} is posted${usd === undefined ? ' with the reserved amount' : ` with $${usd}`}.\n`,
      )
    },
  },
  void: {
    takes: ID,
    says: 'the call was not paid: release the reserved amount',
    target: 'required',
    options: {},
    async run({ control, target, out }) {
      await control.ask('POST', pathOf(target), { action: 'void' })
      out.stderr.write(`${target} is void.\n`)
    },
  },
}

/** Without a verb they are listed. */
export function run(argv: string[], out: Output): Promise<number> {
  return runVerb('unknowns', VERBS, argv.length === 0 ? ['list'] : argv, out)
}

function listing(unknowns: readonly UnknownBody[]): string {
  if (unknowns.length === 0) return 'There are no calls with an unknown outcome.\n'
  const head = ['request/attempt', 'requested', 'key', 'deployment', 'reserved', 'posted on', 'call id']
  const rows = unknowns.map((unknown) => [
    `${unknown.request_id}/${unknown.attempt}`,
    dayText(unknown.requested_at),
    unknown.key_id,
    unknown.deployment,
    unknown.reserved_usd === null ? 'unpriced' : shownUsd(unknown.reserved_usd),
    dayText(unknown.posted_at),
    unknown.call_id,
  ])
  return table([head, ...rows])
}

function pathOf(target: string): string {
  const [requestId = '', attempt = '', ...rest] = target.split('/')
  if (requestId === '' || attempt === '' || rest.length > 0)
    throw new CommandProblem(`Write an unknown as ${ID}, as the list shows it; got "${target}".`)
  return `/unknowns/${encodeURIComponent(requestId)}/${encodeURIComponent(attempt)}`
}

function numberOf(text: string, option: string): number {
  const value = Number(text)
  if (text.trim() === '' || Number.isNaN(value))
    throw new CommandProblem(`${option}: expected a number, got "${text}".`)
  return value
}

/** `torana deployments …`: state of deployments, a test call, taking one out of service. */
import { command, group, type Leaf } from '../command/command.ts'
import { paint } from '../command/paint.ts'
import { linesOf, shownUsd, type Columns } from './columns.ts'
import { listCommand } from './list-command.ts'
import { pricesText } from './models.ts'
import { numberOf } from './terms.ts'

interface DeploymentRow {
  readonly reason: string | null
  readonly drained: { readonly by: string; readonly reason: string } | null
  readonly in_flight: number
  readonly limit: number | null
  readonly failed_share: number
  readonly price: readonly { readonly amount: string; readonly unit: string }[]
}

interface Tested {
  readonly outcome: string
  readonly status: number | null
  readonly reason: string | null
  readonly duration_ms: number
  readonly cost_usd: string | null
}

const ID = { name: '<deployment>', says: 'its id, such as text-embedding-3-small/openai' }
/** Timeout of a test call: an image of a slow model. */
const TEST_MS = 6 * 60_000

const list = listCommand({
  summary: 'list deployments: state, load, latency, failures and prices',
  path: '/deployments',
  columns: {
    deployment: 'id',
    state: 'state',
    priority: 'priority',
    weight: 'weight',
    calls: 'calls',
    failed: ({ failed_share: share }: DeploymentRow) => `${(share * 100).toFixed(1)} %`,
    'p95 ms': 'p95_ms',
    'in flight': ({ in_flight: calls, limit }) => (limit === null ? String(calls) : `${calls} of ${limit}`),
    price: pricesText,
    reason: ({ drained, reason }) =>
      drained === null ? (reason ?? '-') : `${drained.reason} (${drained.by})`,
  },
  none: 'There are no deployments.',
  footnote: '\nCalls, failures and p95 are of the last 15 minutes.\n',
})

const test = command({
  name: 'test',
  summary: 'make one real call: a short text, or the smallest image',
  arguments: [ID],
  options: { 'max-usd': { takes: '<dollars>', says: 'refuse if it could cost more' } },
  reach: 'node',
  more: 'It is billed to the project `system`. The exit code is 1 if the call failed.',
  examples: ['torana deployments test text-embedding-3-small/openai'],
  async run({ control, given: [id = ''], text, out }) {
    const maxUsd = text('max-usd')
    const body = maxUsd === undefined ? {} : { max_usd: numberOf(maxUsd, '--max-usd') }
    const tested = await control.ask<Tested>('POST', `${pathOf(id)}/test`, body, TEST_MS)
    const isGood = tested.outcome === 'ok'
    const lines: Columns<Tested> = {
      verdict: () => paint(isGood ? 'green' : 'red', isGood ? 'ok' : 'fail', out),
      fault: ({ outcome }) => (isGood ? undefined : outcome),
      status: ({ status }) => status?.toString(),
      reason: ({ reason }) => reason ?? undefined,
      took: ({ duration_ms: ms }) => `${Math.round(ms)} ms`,
      cost: ({ cost_usd: usd }) => (usd === null ? 'unknown' : shownUsd(usd)),
      request: 'request_id',
    }
    return { data: tested, text: linesOf(lines, tested), exitCode: isGood ? 0 : 1 }
  },
})

const drain = drainCommand('drain', {
  summary: 'send a deployment no more calls; calls in progress end',
  done: 'is drained: all nodes stop calling it within two seconds',
})

const resume = drainCommand('resume', {
  summary: 'take a drained deployment back into service',
  done: 'is back in service: all nodes call it again within two seconds',
})

export const deployments = group({
  name: 'deployments',
  summary: 'list, test, drain and resume deployments',
  subcommands: [list, test, drain, resume],
})

function drainCommand(
  name: 'drain' | 'resume',
  { summary, done }: { readonly summary: string; readonly done: string },
): Leaf {
  return command({
    name,
    summary,
    arguments: [ID],
    options: { reason: { takes: '<text>', says: 'why, for the audit log' } },
    reach: 'node',
    async run({ control, given: [id = ''], text }) {
      const body = { drained: name === 'drain', reason: text('reason') ?? `by torana deployments ${name}` }
      const data = await control.ask('POST', `${pathOf(id)}/drain`, body)
      return { data, note: `${id} ${done}.` }
    },
  })
}

function pathOf(id: string): string {
  return `/deployments/${encodeURIComponent(id)}`
}

/** `torana deployments …`: how deployments are, a test call, and taking one out of service. */
import { command, group, type Shown } from '../command/command.ts'
import type { ControlClient } from '../client/control-client.ts'
import { paint } from '../command/paint.ts'
import { table } from '../command/table.ts'
import { numberOf, shownUsd } from './terms.ts'
import { priceText } from './models.ts'

interface DeploymentRow {
  readonly id: string
  readonly state: string
  readonly reason: string | null
  readonly upstream_model: string
  readonly priority: number
  readonly weight: number
  readonly drained: { readonly by: string; readonly reason: string } | null
  readonly in_flight: number
  readonly limit: number | null
  readonly p95_ms: number | null
  readonly calls: number
  readonly failed_share: number
  readonly price: readonly { readonly amount: string; readonly unit: string }[]
}

interface Tested {
  readonly outcome: string
  readonly status: number | null
  readonly reason: string | null
  readonly duration_ms: number
  readonly cost_usd: string | null
  readonly request_id: string
}

const ID = { name: '<deployment>', says: 'its id, such as text-embedding-3-small/openai' }
/** A picture of a slow model. */
const TEST_MS = 6 * 60_000

const list = command({
  name: 'list',
  summary: 'list deployments: state, load, latency, failures and prices',
  reach: 'node',
  async run({ control }) {
    const { data } = await (
      await control()
    ).ask<{ readonly data: readonly DeploymentRow[] }>('GET', '/deployments')
    return { data, text: listing(data) }
  },
})

const test = command({
  name: 'test',
  summary: 'make one real call: a short text, or the smallest picture',
  arguments: [ID],
  options: { 'max-usd': { takes: '<dollars>', says: 'refuse if it could cost more' } },
  reach: 'node',
  more: 'It is billed to the project `system`. The exit code is 1 if the call failed.',
  examples: ['torana deployments test text-embedding-3-small/openai'],
  async run({ control, given: [id = ''], text, out }) {
    const most = text('max-usd')
    const body = most === undefined ? {} : { max_usd: numberOf(most, '--max-usd') }
    const tested = await (await control()).ask<Tested>('POST', `${pathOf(id)}/test`, body, TEST_MS)
    const isGood = tested.outcome === 'ok'
    const facts = [
      ['verdict', paint(isGood ? 'green' : 'red', isGood ? 'ok' : 'fail', out)],
      ...(isGood ? [] : [['fault', tested.outcome]]),
      ...(tested.status === null ? [] : [['status', String(tested.status)]]),
      ...(tested.reason === null ? [] : [['reason', tested.reason]]),
      ['took', `${Math.round(tested.duration_ms)} ms`],
      ['cost', tested.cost_usd === null ? 'unknown' : shownUsd(tested.cost_usd)],
      ['request', tested.request_id],
    ]
    return { data: tested, text: table(facts), exitCode: isGood ? 0 : 1 }
  },
})

const drain = command({
  name: 'drain',
  summary: 'send a deployment no more calls; calls under way end',
  arguments: [ID],
  options: { reason: { takes: '<text>', says: 'why, for the audit log' } },
  reach: 'node',
  async run({ control, given: [id = ''], text }) {
    return setDrained(await control(), id, {
      drained: true,
      reason: text('reason') ?? 'by torana deployments drain',
    })
  },
})

const resume = command({
  name: 'resume',
  summary: 'take a drained deployment back into service',
  arguments: [ID],
  options: { reason: { takes: '<text>', says: 'why, for the audit log' } },
  reach: 'node',
  async run({ control, given: [id = ''], text }) {
    return setDrained(await control(), id, {
      drained: false,
      reason: text('reason') ?? 'by torana deployments resume',
    })
  },
})

export const deployments = group({
  name: 'deployments',
  summary: 'list, test, drain and resume deployments',
  subcommands: [list, test, drain, resume],
})

async function setDrained(
  control: ControlClient,
  id: string,
  body: { readonly drained: boolean; readonly reason: string },
): Promise<Shown> {
  const left = await control.ask<DeploymentRow>('POST', `${pathOf(id)}/drain`, body)
  const note = body.drained
    ? `${id} is drained: all nodes stop calling it within two seconds.`
    : `${id} is back in service: all nodes call it again within two seconds.`
  return { data: left, note }
}

function pathOf(id: string): string {
  return `/deployments/${encodeURIComponent(id)}`
}

function listing(found: readonly DeploymentRow[]): string {
  if (found.length === 0) return 'There are no deployments.\n'
  const head = [
    'deployment',
    'state',
    'priority',
    'weight',
    'calls',
    'failed',
    'p95 ms',
    'in flight',
    'price',
    'reason',
  ]
  const rows = found.map((one) => [
    one.id,
    one.state,
    String(one.priority),
    String(one.weight),
    String(one.calls),
    `${(one.failed_share * 100).toFixed(1)} %`,
    one.p95_ms === null ? '-' : String(Math.round(one.p95_ms)),
    one.limit === null ? String(one.in_flight) : `${one.in_flight} of ${one.limit}`,
    one.price.map(priceText).join(', '),
    one.drained === null ? (one.reason ?? '-') : `${one.drained.reason} (${one.drained.by})`,
  ])
  return `${table([head, ...rows])}\nCalls, failures and p95 are of the last 15 minutes.\n`
}

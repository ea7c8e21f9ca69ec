/** Every page of the console, and a node that has something to show on each. */
import { BatchCaller, embeddingLines } from '../../../server/test/support/batches.ts'
import { NODE_TOKEN, startConsoleNode, type ConsoleNode } from '../../../server/test/support/console-node.ts'
import { eventually } from '../../../server/test/support/process.ts'
import { paths } from '../../src/app/paths.ts'
import { SECTIONS } from '../../src/pages/settings/sections.ts'
import type { Address } from '../../src/ui/link.tsx'
import { memberCookie } from './member.ts'
import { hrefOf, LISTS, type PlaceOfOne } from './pages.ts'
import type { Theme } from './test.ts'

export interface EveryPageOptions {
  readonly zone: string
  readonly theme: Theme
  /** Of the window, the widest first. */
  readonly widths: readonly number[]
  /** The first address of each page, without its other tabs. */
  readonly isBrief: boolean
}

export interface SeededNode {
  readonly url: string
  /** Of an admin's session. */
  readonly cookie: string
  readonly request: string
  /** One that failed. */
  readonly failed: string
  readonly batch: string
  /** Path of an invitation that is still open. */
  readonly invitation: string
}

const KEY = 'console-test-key-every-page-0001'

const dayIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

export async function startSeededNode(): Promise<SeededNode> {
  const node = await startConsoleNode({
    models: {
      'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } },
      'failing-w16': { on: 'mode-failing' },
      'ending-w16': { on: ['plain', 'mode-two'], ends: [20, 170].map((days) => ({ endsOn: dayIn(days) })) },
    },
    images: { 'plain-image': { on: 'plain', price: { usdPerImage: 0.04 } } },
    projects: {
      default: {
        budget: { usd: 50, per: 'month', hard: true },
        keys: [{ name: 'k', secret: KEY }],
      },
    },
  })
  await node.ask({ model: 'plain-w16', input: ['cat', 'kitten', 'car'] }, { key: KEY })
  await node.ask({ model: 'ending-w16', input: 'cat' }, { key: KEY })
  await node.provider.setMode('failing', { mode: '500' })
  const failure = await node.ask({ model: 'failing-w16', input: 'cat' }, { key: KEY })
  const failed = String(failure.headers.get('x-request-id'))
  await node.ask(
    { model: 'plain-image', prompt: 'a lighthouse' },
    { key: KEY, path: '/v1/images/generations' },
  )
  const caller = new BatchCaller(node.url, KEY)
  const batch = await caller.create(await caller.upload(embeddingLines('plain-w16', ['one', 'two'])))
  await makeAlerts(node)
  const person = { role: 'admin', name: 'Maria Keller', email: 'maria.keller@example.com' } as const
  const cookie = await memberCookie(node.controlUrl, person, NODE_TOKEN)
  return {
    url: node.controlUrl,
    cookie,
    request: await firstRequest(node),
    failed,
    batch: batch.id,
    invitation: await invitation(node),
  }
}

/** Every tab of every page that shows one thing. */
const EXAMPLES: Readonly<Record<PlaceOfOne, (node: SeededNode) => readonly Address[]>> = {
  invite: ({ invitation }) => [paths.invite(invitation.slice('/invite/'.length))],
  request: ({ request, failed }) => [
    ...(['waterfall', 'wire', 'headers', 'ledger'] as const).map((tab) => paths.request(request, { tab })),
    paths.request(failed),
  ],
  batch: ({ batch }) => [paths.batch(batch)],
  model: () =>
    (['capabilities', 'prices', 'routing', 'traffic', 'space'] as const).map((tab) =>
      paths.model('plain-w16', { tab }),
    ),
  budget: () => [paths.budget('project:default')],
  deployment: () =>
    (['health', 'drift', 'limits', 'capabilities', 'requests'] as const).map((tab) =>
      paths.deployment('plain-w16/plain', { tab }),
    ),
  key: () => (['terms', 'requests', 'usage'] as const).map((tab) => paths.key('default/k', { tab })),
  settings: () => SECTIONS.map(({ id }) => paths.settings(id)),
  go: ({ request }) => [paths.go(request)],
}

/** More of a list than its first view. */
const MORE: Readonly<Record<string, (node: SeededNode) => readonly Address[]>> = {
  alerts: () => [paths.alerts({ state: 'open', all: true }), paths.alerts({ new: 'latency' })],
  overview: () => [paths.overview({ view: 'table' })],
  newBatch: () => [paths.newBatch({ model: 'plain-w16' })],
  images: () => [paths.images({ mode: 'edit' })],
  keys: () => [paths.keys({ new: true })],
}

/** By the name of the place. */
export const PAGES: Readonly<Record<string, (node: SeededNode) => readonly string[]>> = {
  ...Object.fromEntries(
    Object.entries(LISTS).map(([name, path]) => [
      name,
      (node: SeededNode) => [path, ...(MORE[name]?.(node) ?? []).map(hrefOf)],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(EXAMPLES).map(([name, of]) => [name, (node: SeededNode) => of(node).map(hrefOf)]),
  ),
}

/** They open for a person who is not signed in. */
export const BEFORE_SIGN_IN: ReadonlySet<string> = new Set(['signIn', 'invite'])

async function firstRequest(node: ConsoleNode): Promise<string> {
  let id = ''
  await eventually(async () => {
    const { body } = await node.control('GET', '/requests?limit=1', { token: NODE_TOKEN })
    const [first] = body['data'] as { id: string }[]
    if (first === undefined) throw new Error('no request is in the log yet')
    id = first.id
  })
  return id
}

async function invitation(node: ConsoleNode): Promise<string> {
  const body = { email: 'li.wei@example.com', role: 'operator' }
  const made = await node.control('POST', '/invitations', { token: NODE_TOKEN, body })
  return new URL(String(made.body['link'])).pathname
}

/** A channel of each shape but mail, and rules that name them. */
async function makeAlerts(node: ConsoleNode): Promise<void> {
  const make = (path: string, body: unknown) => node.control('POST', path, { token: NODE_TOKEN, body })
  const channels = [
    { kind: 'slack', name: 'torana-ops', url: 'https://hooks.example.com/services/T0/B0/x9Qdx9Qdx9Qd' },
    { kind: 'teams', name: 'platform', url: 'https://teams.example.com/workflows/a1b2c3d4e5f6a1b2' },
    { kind: 'pagerduty', name: 'on-call', routing_key: 'a1b2c3d4e5f6a1b2c3d44b7e' },
  ]
  const made = await Promise.all(channels.map((channel) => make('/alerts/channels', channel)))
  const ids = made.map(({ body }) => String(body['id']))
  const quiet = { days: [6, 7], from: '00:00', to: '24:00', zone: 'Europe/Berlin' }
  await make('/alerts/rules', { kind: 'certificate', channels: ids, quiet })
  await make('/alerts/rules', { kind: 'latency', scope: { project: 'default' }, channels: ids.slice(0, 1) })
}

/** Every page of the console, and a node that has something to show on each. */
import { BatchCaller, embeddingLines } from '../../../server/test/support/batches.ts'
import { NODE_TOKEN, startConsoleNode, type ConsoleNode } from '../../../server/test/support/console-node.ts'
import { eventually } from '../../../server/test/support/process.ts'
import { paths, SETTINGS_SECTIONS } from '../../src/app/paths.ts'
import { memberCookie } from './member.ts'
import type { Theme } from './test.ts'

export interface EveryPageOptions {
  readonly zone: string
  readonly theme: Theme
  /** Of the window, the widest first. */
  readonly widths: readonly number[]
}

export interface SeededNode {
  readonly url: string
  /** Of an admin's session. */
  readonly cookie: string
  readonly request: string
  readonly batch: string
  /** Path of an invitation that is still open. */
  readonly invitation: string
}

const KEY = 'console-test-key-every-page-0001'

export async function startSeededNode(): Promise<SeededNode> {
  const node = await startConsoleNode({
    models: {
      'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } },
      'failing-w16': { on: 'mode-failing' },
    },
    images: { 'plain-image': { on: 'plain', price: { usdPerImage: 0.04 } } },
    projects: {
      default: { budget: { usd: 50, per: 'month', hard: true }, keys: [{ name: 'k', secret: KEY }] },
    },
  })
  await node.ask({ model: 'plain-w16', input: ['cat', 'kitten', 'car'] }, { key: KEY })
  await node.provider.setMode('failing', { mode: '500' })
  await node.ask({ model: 'failing-w16', input: 'cat' }, { key: KEY })
  await node.ask(
    { model: 'plain-image', prompt: 'a lighthouse' },
    { key: KEY, path: '/v1/images/generations' },
  )
  const caller = new BatchCaller(node.url, KEY)
  const batch = await caller.create(await caller.upload(embeddingLines('plain-w16', ['one', 'two'])))
  const person = { role: 'admin', name: 'Maria Keller', email: 'maria.keller@example.com' } as const
  return {
    url: node.controlUrl,
    cookie: await memberCookie(node.controlUrl, person, NODE_TOKEN),
    request: await firstRequest(node),
    batch: batch.id,
    invitation: await invitation(node),
  }
}

/** By the pattern of its route. */
export const PAGES: Readonly<Record<string, (node: SeededNode) => readonly string[]>> = {
  '/sign-in': () => [paths.signIn()],
  '/invite/$token': (node) => [node.invitation],
  '/': () => [paths.overview(), paths.overview({ view: 'table' })],
  '/requests': () => [paths.requests()],
  '/requests/$id': ({ request }) =>
    ['waterfall', 'wire', 'headers', 'ledger'].map((tab) => paths.request(request, { tab })),
  '/batches': () => [paths.batches()],
  '/batches/$id': ({ batch }) => [paths.batch(batch)],
  '/models': () => [paths.models()],
  '/models/$id': () =>
    ['capabilities', 'prices', 'routing', 'traffic', 'space'].map((tab) => paths.model('plain-w16', { tab })),
  '/playground/embeddings': () => [paths.embeddings()],
  '/playground/images': () => [paths.images(), paths.images({ mode: 'edit' })],
  '/usage': () => [paths.usage()],
  '/budgets': () => [paths.budgets()],
  '/budgets/$scope/$name': () => [paths.budget('project:default')],
  '/unknowns': () => [paths.unknowns()],
  '/deployments': () => [paths.deployments()],
  '/deployments/$id': () =>
    ['health', 'drift', 'limits', 'capabilities', 'requests'].map((tab) =>
      paths.deployment('plain-w16/plain', { tab }),
    ),
  '/keys': () => [paths.keys(), paths.keys({ new: true })],
  '/keys/$project/$name': () => ['terms', 'requests', 'usage'].map((tab) => paths.key('default/k', { tab })),
  '/audit': () => [paths.audit()],
  '/settings/$section': () => SETTINGS_SECTIONS.map((section) => paths.settings(section)),
  '/welcome': () => [paths.welcome()],
  '/go/$id': ({ request }) => [paths.go(request)],
}

/** They open for a person who is not signed in. */
export const BEFORE_SIGN_IN: ReadonlySet<string> = new Set(['/sign-in', '/invite/$token'])

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

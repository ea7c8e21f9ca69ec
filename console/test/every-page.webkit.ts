/** Every page opens in Safari's engine: `npm run lab -- check/webkit`, where `webkit2gtk-driver` and `xvfb` are installed. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { BatchCaller, embeddingLines } from '../../server/test/support/batches.ts'
import { NODE_TOKEN, startConsoleNode } from '../../server/test/support/console-node.ts'
import { paths, SETTINGS_SECTIONS } from '../src/app/paths.ts'
import { memberCookie } from './support/member.ts'
import { startWebKit, type WebKit } from './support/webkit.ts'

/** How long a page may take to show what it has. A loaded machine needs several seconds. */
const SETTLED_WITHIN_MS = 30_000
/** What every page is before its data is there. */
const SETTLED = `return document.querySelector('h1') !== null && document.querySelector('.appearing-late') === null
  ? { title: document.querySelector('h1').innerText, text: document.body.innerText } : null`
const HAS_FRAME = `return document.querySelector('nav') !== null`
const BROKEN = /This page broke|Can't find variable|is not a function|undefined is not/

const webkit = await startWebKit()
if (webkit === undefined)
  throw new Error('WebKit is not installed: apt-get install -y webkit2gtk-driver xvfb')

const node = await startConsoleNode({
  models: { 'plain-w16': { on: 'plain', price: { usdPerMillionTokens: 10 } } },
  images: { 'plain-image': { on: 'plain', price: { usdPerImage: 0.04 } } },
  projects: {
    default: {
      budget: { usd: 50, per: 'month', hard: true },
      keys: [{ name: 'k', secret: 'console-test-key-webkit-0001' }],
    },
  },
})
const key = { key: 'console-test-key-webkit-0001' }
await node.ask({ model: 'plain-w16', input: ['cat', 'kitten', 'car'] }, key)
const caller = new BatchCaller(node.url, key.key)
const batch = await caller.create(await caller.upload(embeddingLines('plain-w16', ['one', 'two'])))
const request = await firstRequest()

const cookie = await memberCookie(node.controlUrl, {
  adminToken: NODE_TOKEN,
  role: 'admin',
  name: 'Maria Keller',
  email: 'maria.keller@example.com',
})
const { link } = await invitation()

/** By the pattern of its route. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  '/sign-in': [paths.signIn()],
  '/invite/$token': [new URL(link).pathname],
  '/': [paths.overview(), paths.overview({ view: 'table' })],
  '/requests': [paths.requests()],
  '/requests/$id': ['waterfall', 'wire', 'headers', 'ledger'].map((tab) => paths.request(request, { tab })),
  '/batches': [paths.batches()],
  '/batches/$id': [paths.batch(batch.id)],
  '/models': [paths.models()],
  '/models/$id': ['capabilities', 'prices', 'routing', 'traffic', 'space'].map((tab) =>
    paths.model('plain-w16', { tab }),
  ),
  '/playground/embeddings': [paths.embeddings()],
  '/playground/images': [paths.images(), paths.images({ mode: 'edit' })],
  '/usage': [paths.usage()],
  '/budgets': [paths.budgets()],
  '/budgets/$scope/$name': [paths.budget('project:default')],
  '/unknowns': [paths.unknowns()],
  '/deployments': [paths.deployments()],
  '/deployments/$id': ['health', 'drift', 'limits', 'capabilities', 'requests'].map((tab) =>
    paths.deployment('plain-w16/plain', { tab }),
  ),
  '/keys': [paths.keys(), paths.keys({ new: true })],
  '/keys/$project/$name': ['terms', 'requests', 'usage'].map((tab) => paths.key('default/k', { tab })),
  '/audit': [paths.audit()],
  '/settings/$section': SETTINGS_SECTIONS.map((section) => paths.settings(section)),
  '/welcome': [paths.welcome()],
  '/go/$id': [paths.go(request)],
}
const BEFORE_SIGN_IN = new Set(['/sign-in', '/invite/$token'])

test('the list below names every route of the console', () => {
  const routes = readFileSync(join(import.meta.dirname, '../src/app/routes.tsx'), 'utf8')
  const patterns = Array.from(routes.matchAll(/\bpath: '([^']+)'/g), ([, path]) => path)
  assert.deepEqual(new Set(patterns), new Set(Object.keys(PAGES)))
})

for (const [pattern, addresses] of Object.entries(PAGES))
  for (const address of addresses)
    test(`${webkit.version} opens ${address}`, async () => {
      const { title, text } = await opened(webkit, address)
      assert.doesNotMatch(text, BROKEN)
      assert.notEqual(title, '')
      if (!BEFORE_SIGN_IN.has(pattern))
        assert.equal(await webkit.evaluate(HAS_FRAME), true, 'the frame is there')
    })

test('the embeddings playground draws its map', async () => {
  await opened(webkit, paths.embeddings())
  const run = `const run = [...document.querySelectorAll('button')].find(({ innerText }) => /^Embed/.test(innerText))
    if (run === undefined || run.disabled) return null
    run.click()
    return true`
  assert.equal(await webkit.until<boolean>(run, SETTLED_WITHIN_MS), true)
  const drawn = `return document.querySelector('figure canvas, figure svg') === null ? null : document.body.innerText`
  const text = await webkit.until<string>(drawn, SETTLED_WITHIN_MS)
  assert.ok(text !== undefined, 'a map was drawn')
  assert.doesNotMatch(text, BROKEN)
})

let isSignedIn = false

async function opened(browser: WebKit, address: string): Promise<{ title: string; text: string }> {
  const isBefore = address.startsWith('/sign-in') || address.startsWith('/invite/')
  if (!isBefore && !isSignedIn) {
    await browser.addCookie(cookie)
    isSignedIn = true
  }
  await browser.open(`${node.controlUrl}${address}`)
  const page = await browser.until<{ title: string; text: string }>(SETTLED, SETTLED_WITHIN_MS)
  assert.ok(page !== undefined, 'the page showed what it has')
  return page
}

async function firstRequest(): Promise<string> {
  for (;;) {
    const { body } = await node.control('GET', '/requests?limit=1', { token: NODE_TOKEN })
    const [first] = body['data'] as { id: string }[]
    if (first !== undefined) return first.id
  }
}

async function invitation(): Promise<{ link: string }> {
  const body = { email: 'li.wei@example.com', role: 'operator' }
  const made = await node.control('POST', '/invitations', { token: NODE_TOKEN, body })
  return made.body as unknown as { link: string }
}

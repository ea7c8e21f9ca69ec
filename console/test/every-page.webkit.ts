/** Every page opens in Safari's engine: `npm run test:webkit`, where `webkit2gtk-driver` and `xvfb` are installed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BatchCaller, embeddingLines } from '../../server/test/support/batches.ts'
import { NODE_TOKEN, startConsoleNode } from '../../server/test/support/console-node.ts'
import { paths } from '../src/app/paths.ts'
import { SECTIONS } from '../src/pages/settings/sections.ts'
import type { Address } from '../src/ui/link.tsx'
import { memberCookie } from './support/member.ts'
import { hrefOf, LISTS, type PlaceOfOne } from './support/pages.ts'
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

/** Every tab of every page that shows one thing. */
const EXAMPLES: Readonly<Record<PlaceOfOne, readonly Address[]>> = {
  invite: [paths.invite(new URL(link).pathname.slice('/invite/'.length))],
  request: (['waterfall', 'wire', 'headers', 'ledger'] as const).map((tab) =>
    paths.request(request, { tab }),
  ),
  batch: [paths.batch(batch.id)],
  model: (['capabilities', 'prices', 'routing', 'traffic', 'space'] as const).map((tab) =>
    paths.model('plain-w16', { tab }),
  ),
  budget: [paths.budget('project:default')],
  deployment: (['health', 'drift', 'limits', 'capabilities', 'requests'] as const).map((tab) =>
    paths.deployment('plain-w16/plain', { tab }),
  ),
  key: (['terms', 'requests', 'usage'] as const).map((tab) => paths.key('default/k', { tab })),
  settings: SECTIONS.map(({ id }) => paths.settings(id)),
  go: [paths.go(request)],
}
const MORE = [paths.overview({ view: 'table' }), paths.images({ mode: 'edit' }), paths.keys({ new: true })]
const { signIn, ...lists } = LISTS
/** Before anybody is signed in, then the others. */
const ADDRESSES = [
  signIn!,
  ...EXAMPLES.invite.map(hrefOf),
  ...Object.values(lists),
  ...[...Object.values(EXAMPLES).flat(), ...MORE].map(hrefOf).filter((href) => !isBeforeSignIn(href)),
]

for (const address of ADDRESSES)
  test(`${webkit.version} opens ${address}`, async () => {
    const { title, text } = await opened(webkit, address)
    assert.doesNotMatch(text, BROKEN)
    assert.notEqual(title, '')
    if (!isBeforeSignIn(address)) assert.equal(await webkit.evaluate(HAS_FRAME), true, 'the frame is there')
  })

test('the embeddings playground draws its map', async () => {
  await opened(webkit, hrefOf(paths.embeddings()))
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

function isBeforeSignIn(address: string): boolean {
  return address.startsWith('/sign-in') || address.startsWith('/invite/')
}

async function opened(browser: WebKit, address: string): Promise<{ title: string; text: string }> {
  if (!isBeforeSignIn(address) && !isSignedIn) {
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

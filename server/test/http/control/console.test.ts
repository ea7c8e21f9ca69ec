/** The console on the control port, from a folder as `npm run console:build` leaves it. */
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { startControl } from '#test/support/control.ts'
import { memoryDirectory } from '#test/support/directory.ts'
import { sendRaw } from '#test/support/raw.ts'

const SCRIPT = 'export const hello = 1\n'
const PAGE =
  '<meta name="torana-base" content="./" /><script type="module" src="./assets/index-1a2b.js"></script>'
const HTML = { accept: 'text/html,*/*;q=0.8' }

const folder = mkdtempSync(join(tmpdir(), 'torana-console-'))
after(() => rmSync(folder, { recursive: true }))
mkdirSync(join(folder, 'assets'))
mkdirSync(join(folder, '.vite'))
writeFileSync(join(folder, 'index.html'), PAGE)
writeFileSync(join(folder, 'theme.js'), '// theme\n')
writeFileSync(join(folder, '.vite/manifest.json'), '{}')
writeFileSync(join(folder, 'assets/index-1a2b.js'), SCRIPT)
writeFileSync(join(folder, 'assets/index-1a2b.js.gz'), gzipSync(SCRIPT))

const atRoot = await startControl(memoryDirectory(), { console: { folder, basePath: '/' } })
const below = await startControl(memoryDirectory(), { console: { folder, basePath: '/torana/console/' } })
const notBuilt = await startControl(memoryDirectory(), {
  console: { folder: join(folder, 'nowhere'), basePath: '/' },
})

for (const path of [
  '/',
  '/requests',
  '/keys/search/indexer',
  '/models/BAAI%2Fbge-m3',
  '/models/gpt-image-1.5',
  '/requests?outcome=failed',
])
  test(`a browser that opens ${path} gets the console, never a stored copy of it`, async () => {
    const answer = await fetch(`${atRoot.url}${path}`, { headers: HTML })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.match(await answer.text(), /content="\/".*src="\/assets\/index-1a2b\.js"/)
  })

test('a hashed file is kept for ever, and compressed where the browser takes it', async () => {
  const plain = await fetch(`${atRoot.url}/assets/index-1a2b.js`, {
    headers: { 'accept-encoding': 'identity' },
  })
  assert.equal(await plain.text(), SCRIPT)
  assert.equal(plain.headers.get('content-type'), 'text/javascript; charset=utf-8')
  assert.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  assert.equal(plain.headers.get('content-encoding'), null)
  const packed = await fetch(`${atRoot.url}/assets/index-1a2b.js`, { headers: { 'accept-encoding': 'gzip' } })
  assert.equal(packed.headers.get('content-encoding'), 'gzip')
  assert.equal(packed.headers.get('vary'), 'accept-encoding')
  assert.equal(await packed.text(), SCRIPT)
})

test('a file whose name does not change is asked for again', async () => {
  const answer = await fetch(`${atRoot.url}/theme.js`)
  assert.equal(answer.headers.get('cache-control'), 'no-cache')
})

for (const path of [
  '/api',
  '/api/v1/nothing',
  '/docs/nothing',
  '/metrics/nothing',
  '/livez/nothing',
  '/readyz/nothing',
  '/assets/gone.js',
  '/assets/../index.html.js',
  '/.vite/manifest.json',
  '/assets/%2e%2e/%2e%2e/package.json',
])
  test(`${path} is never the console`, async () => {
    // Byte by byte: a client library would tidy the path up first.
    const answer = await sendRaw(atRoot.url, [
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\nconnection: close\r\n\r\n`,
    ])
    assert.ok([401, 404].includes(answer.status), `${answer.status}`)
    assert.match(String(answer.headers.get('content-type')), /^application\/json/)
  })

test('a write to an address of the console is refused', async () => {
  const answer = await fetch(`${atRoot.url}/requests`, { method: 'POST', headers: HTML })
  assert.equal(answer.status, 404)
})

test('a program that asks for an unknown path gets a fault, not a page', async () => {
  const answer = await fetch(`${atRoot.url}/requests`)
  assert.equal(answer.status, 404)
  assert.match(String(answer.headers.get('content-type')), /^application\/json/)
})

for (const prefix of ['/torana/console', ''])
  test(`below a path of its own the console works, whether a proxy passes "${prefix}" on or takes it away`, async () => {
    const page = await fetch(`${below.url}${prefix}/keys`, { headers: HTML })
    assert.match(
      await page.text(),
      /content="\/torana\/console\/".*src="\/torana\/console\/assets\/index-1a2b\.js"/,
    )
    const script = await fetch(`${below.url}${prefix}/assets/index-1a2b.js`)
    assert.equal(await script.text(), SCRIPT)
    const api = await fetch(`${below.url}${prefix}/api/v1/keys`)
    assert.equal(api.status, 401)
  })

test('an address that only begins like its path is not below it', async () => {
  const answer = await fetch(`${below.url}/torana/consoles/api/v1/keys`)
  assert.equal(answer.status, 404)
})

test('a node without a built console says how to build it', async () => {
  const answer = await fetch(`${notBuilt.url}/requests`, { headers: HTML })
  assert.equal(answer.status, 503)
  assert.match(await answer.text(), /npm run console:build/)
})

/**
 * `npm run lab -- console-images`: starts PostgreSQL, a demo node with a month of invented history and live traffic, and takes the
 * images of the console for the docs from the real one. They differ a little from run to run, as traffic does.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium, type BrowserContext, type Page } from '@playwright/test'
import sharp from 'sharp'
import { MAX_TEXTS } from '../src/pages/embeddings/texts.ts'
import { realTexts } from '../../lab/check/vector-types/recall.ts'
import { startPostgresServer } from '../../server/test/support/servers.ts'
import { CONTENTS_PATH, showContents, startContentsNode } from './support/contents-scene.ts'
import { chromiumOptions } from './support/engines.ts'
import { memberCookie, type Role } from './support/member.ts'
import { settled, watchRequests } from './support/settled.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const FOLDER = join(REPOSITORY, 'docs/pictures/console')
const ADMIN_TOKEN = 'pictures-admin-token-000000000001'
const NODE_ENVIRONMENT = {
  TORANA_SECRET: 'the secret of these pictures, long enough',
  TORANA_ADMIN_TOKEN: ADMIN_TOKEN,
  TORANA_NAME: 'eu-prod',
}
/** A whole minute after the batches of the first seconds, and before the first upstream fails. */
const CALM_SECONDS = 108
/** Long enough for a failing upstream, a drifting one and an unknown outcome to be seen. */
const TRAFFIC_SECONDS = 190
/** Length of a text that takes at most two lines of the playground's field. */
const MAX_TEXT_CHARACTERS = 60

interface Picture {
  readonly name: string
  readonly path: string
  readonly role?: Role
  /** While all upstreams are well. */
  readonly calm?: true
  /** On the node of contents-scene.ts, which has no traffic. */
  readonly quiet?: true
  /** Also at the size of a phone. */
  readonly phone?: true
  /** Also in Chinese. */
  readonly chinese?: true
  /** A selector: only this part of the page, twice as sharp. */
  readonly part?: string
  /** What is done before the picture is taken; `on` is the size of the screen. */
  readonly before?: (page: Page, on: 'desktop' | 'phone') => Promise<void>
}

const PICTURES: readonly Picture[] = [
  { name: 'overview', path: '/', role: 'operator', calm: true, phone: true, chinese: true },
  // The home page of the documentation shows the traffic alone.
  { name: 'traffic', path: '/', role: 'operator', phone: true, part: 'section:has(> header h2)' },
  { name: 'requests', path: '/requests', role: 'operator', phone: true, chinese: true, before: peek },
  { name: 'request', path: '/requests?tries=2', role: 'operator', phone: true, before: openFirst },
  {
    name: 'batches',
    path: '/batches',
    role: 'operator',
    phone: true,
    before: (page) => page.locator('tbody [data-row]').first().waitFor(),
  },
  { name: 'batch', path: '/batches?state=completed', role: 'operator', before: openFirst },
  { name: 'models', path: '/models', role: 'operator', chinese: true },
  { name: 'model', path: '/models/BAAI%2Fbge-m3', role: 'developer' },
  {
    name: 'embeddings',
    path: '/playground/embeddings?model=demo-embed&project=research',
    role: 'developer',
    chinese: true,
    phone: true,
    before: embed,
  },
  {
    name: 'embeddings-similarity',
    path: '/playground/embeddings?model=demo-embed&project=research&view=similarity',
    role: 'developer',
    before: embed,
  },
  {
    name: 'embeddings-contents',
    path: CONTENTS_PATH,
    role: 'developer',
    quiet: true,
    before: showContents,
  },
  {
    name: 'embeddings-types',
    path: '/playground/embeddings?model=demo-embed&project=research&view=types',
    role: 'developer',
    quiet: true,
    before: compareTypes,
  },
  {
    name: 'images',
    path: '/playground/images?mode=edit&model=gpt-image-2&project=studio',
    role: 'operator',
    phone: true,
    before: paint,
  },
  {
    name: 'images-result',
    path: '/playground/images?mode=edit&model=gpt-image-2&project=studio',
    role: 'operator',
    before: edit,
  },
  { name: 'usage', path: '/usage', phone: true, chinese: true },
  { name: 'budgets', path: '/budgets' },
  { name: 'unknowns', path: '/unknowns' },
  { name: 'deployments', path: '/deployments', role: 'operator', phone: true },
  {
    name: 'drift',
    path: '/deployments/text-embedding-3-large%2Fazure-us?tab=drift',
    phone: true,
    before: (page) => page.locator('figure').first().waitFor(),
  },
  { name: 'upstreams', path: '/upstreams?model=BAAI/bge-m3', phone: true },
  { name: 'keys', path: '/keys' },
  { name: 'new-key', path: '/keys?new=1' },
  { name: 'audit', path: '/audit' },
  { name: 'settings', path: '/settings/members' },
  { name: 'palette', path: '/', role: 'operator', before: openPalette },
]

/** A phone has no room beside the list. */
async function peek(page: Page, on: 'desktop' | 'phone'): Promise<void> {
  if (on === 'phone') return
  await page.locator('tbody [data-row]').nth(2).click()
  // Loaded apart: before it is there, nothing on the page moves.
  await page.locator('section:has([data-copy-id]) ul').first().waitFor()
  await settled(page)
}

async function openFirst(page: Page): Promise<void> {
  await page.locator('tbody [data-row]').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/(requests|batches)\/./)
  await settled(page)
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('azure')
  await sleep(800)
}

const LIGHTHOUSE = `<svg xmlns="http://www.w3.org/2000/svg" width="1024" height="768">
  <defs><linearGradient id="sky" x2="0" y2="1"><stop stop-color="#27406b"/><stop offset="1" stop-color="#f2b07b"/></linearGradient></defs>
  <rect width="1024" height="768" fill="url(#sky)"/><circle cx="250" cy="430" r="64" fill="#ffe3b0"/>
  <path d="M0 520Q256 480 512 520T1024 510V768H0Z" fill="#2b4f66"/><path d="M560 620Q700 500 1024 560V768H480Z" fill="#2f3b33"/>
  <path d="M722 250H798L820 590H700Z" fill="#f4efe6"/><path d="M716 340H804L808 400H712ZM708 470H812L816 530H704Z" fill="#b9402f"/>
  <rect x="712" y="196" width="96" height="58" rx="6" fill="#33424f"/><path d="M704 196L760 150L816 196Z" fill="#b9402f"/>
  <path d="M760 224L380 170V280Z" fill="#ffe9a8" opacity="0.55"/></svg>`

/** A sky is painted over. */
async function paint(page: Page): Promise<void> {
  const buffer = await sharp(Buffer.from(LIGHTHOUSE)).png().toBuffer()
  await page.getByRole('button', { name: 'Choose an image' }).waitFor()
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'lighthouse.png', mimeType: 'image/png', buffer })
  const board = page.getByRole('application')
  await board.waitFor()
  const { x, y, width, height } = (await board.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 }
  await page.mouse.move(x + width * 0.12, y + height * 0.2)
  await page.mouse.down()
  await page.mouse.move(x + width * 0.5, y + height * 0.12, { steps: 12 })
  await page.mouse.up()
  await settled(page)
}

/** The edit is looked at beside what it was made from. */
async function edit(page: Page): Promise<void> {
  await paint(page)
  await page.getByRole('textbox', { name: 'Prompt' }).fill('A flock of white birds in the evening sky')
  await page.locator('form button[type=submit]').click()
  await page.locator('[data-adherence]').waitFor({ timeout: 60_000 })
  // What it cost is written a moment after the picture.
  await sleep(2500)
  await settled(page)
}

/** The sample that stands there already, with a query on the map. */
async function embed(page: Page): Promise<void> {
  await page.keyboard.press('Control+Enter')
  await page.locator('figure').first().waitFor({ timeout: 30_000 })
  const query = page.locator('input[data-page-search]')
  if ((await query.count()) > 0) {
    await query.fill('my parcel has not arrived yet')
    await query.press('Enter')
    await page.locator('aside ol li').first().waitFor({ timeout: 30_000 })
  }
  // The curve of the slider comes after the map.
  await sleep(2500)
  await settled(page)
}

/** Sentences of the docs. */
async function compareTypes(page: Page): Promise<void> {
  const texts = realTexts().filter(({ length }) => length <= MAX_TEXT_CHARACTERS)
  const field = page.getByLabel('Texts (one per line)')
  await field.fill(texts.slice(0, MAX_TEXTS).join('\n'))
  await field.evaluate((element) => element.scrollTo(0, 0))
  await page.getByRole('button', { name: /^Embed/ }).click()
  await page.getByText('Keep at least').waitFor({ timeout: 60_000 })
  await page.mouse.move(0, 0)
}

const PEOPLE = {
  developer: ['Li Wei', 'li.wei@example.com'],
  operator: ['Maria Keller', 'maria.keller@example.com'],
  admin: ['Jonas Okafor', 'jonas.okafor@example.com'],
} as const

/** Names of pictures, where not all are wanted. */
const wanted = process.argv.slice(2)

const pictures = PICTURES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
const [quiet, busy] = [pictures.filter((one) => one.quiet), pictures.filter((one) => !one.quiet)]
const browser = await chromium.launch(chromiumOptions())
try {
  mkdirSync(FOLDER, { recursive: true })
  if (quiet.length > 0) await takeQuiet()
  if (busy.length > 0) await takeBusy()
} finally {
  await browser.close()
}

async function takeQuiet(): Promise<void> {
  const node = await startContentsNode(NODE_ENVIRONMENT)
  try {
    await takeAll(quiet, node.controlUrl)
  } finally {
    await node.stop()
  }
}

async function takeBusy(): Promise<void> {
  const postgres = await startPostgresServer({ waitsForDisk: false })
  const options = ['--history', '--minutes', '15', '--rate', '9', '--port', '0', '--control-port', '0']
  const demo = spawn(process.execPath, ['lab/demo-traffic/main.ts', ...options], {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...NODE_ENVIRONMENT, DATABASE_URL: postgres.url },
  })
  try {
    const url = await controlUrlOf(demo)
    const startedMs = performance.now()
    for (const [isCalm, fromSecond] of [
      [true, CALM_SECONDS],
      [false, TRAFFIC_SECONDS],
    ] as const) {
      const due = busy.filter(({ calm = false }) => calm === isCalm)
      if (due.length > 0) await sleep(Math.max(0, startedMs + fromSecond * 1000 - performance.now()))
      await takeAll(due, url)
    }
  } finally {
    demo.kill('SIGTERM')
    await once(demo, 'exit')
    await postgres.stop()
  }
}

async function takeAll(due: readonly Picture[], url: string): Promise<void> {
  for (const picture of due)
    await take(picture, url).catch((error: unknown) => {
      // The others are still worth having.
      console.error(picture.name, error)
      process.exitCode = 1
    })
}

/** The demo's output is read to its end, so that it never waits for us. */
function controlUrlOf(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  if (child.stdout === null) throw new Error('the demo has no output')
  createInterface({ input: child.stdout }).on('line', (line) => {
    const url = /^control (\S+)$/.exec(line)?.[1]
    if (url !== undefined) resolve(url)
  })
  child.once('exit', () => reject(new Error('the demo ended before it was ready')))
  return promise
}

async function take(picture: Picture, url: string): Promise<void> {
  const { name, path, role = 'admin', phone, chinese, part, before } = picture
  const [person, email] = PEOPLE[role]
  const member = { role, name: person, email, projects: ['search', 'research'] }
  const cookie = await memberCookie(url, member, ADMIN_TOKEN)
  for (const theme of ['light', 'dark'] as const)
    for (const [suffix, language, size] of [
      ['', 'en', 'desktop'],
      ...(chinese ? ([['-zh', 'zh', 'desktop']] as const) : []),
      ...(phone ? ([['-phone', 'en', 'phone']] as const) : []),
    ] as const) {
      const context = await browser.newContext({
        viewport: size === 'phone' ? { width: 390, height: 844 } : { width: 1440, height: 900 },
        deviceScaleFactor: size === 'phone' || part !== undefined ? 2 : 1,
        colorScheme: theme,
        reducedMotion: 'reduce',
        timezoneId: 'UTC',
      })
      await context.addInitScript((chosen) => localStorage.setItem('torana.language', chosen), language)
      await signIn(context, url, cookie)
      const page = await context.newPage()
      watchRequests(page)
      await page.goto(`${url}${path}`)
      await settled(page)
      await before?.(page, size)
      await settled(page)
      const bytes = await (part === undefined ? page : page.locator(part).first()).screenshot()
      const file = join(FOLDER, `${name}${suffix}-${theme}.png`)
      // Few colours: a palette loses nothing that one sees, and the repository stays small.
      await sharp(bytes).png({ palette: true, quality: 100, effort: 9 }).toFile(file)
      console.log(file.slice(REPOSITORY.length + 1))
      await context.close()
    }
}

async function signIn(context: BrowserContext, url: string, cookie: string): Promise<void> {
  const [name = '', value = ''] = cookie.split(/=(.*)/s)
  await context.addCookies([{ name, value, url }])
}

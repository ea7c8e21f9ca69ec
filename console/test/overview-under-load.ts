/**
 * `npm run bench:overview -- --minutes 10`: the console's Overview in a real browser, over a node that answers 200 requests a
 * second while one of two deployments fails now and then. How soon the picture follows, whether the page's memory stays, and
 * what it costs the node that the page is open. Ends with 1 when an aim is missed. Needs Chromium and the built console.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { chromium, type Browser, type Page } from '@playwright/test'
import { startPostgresServer } from '../../server/test/support/servers.ts'
import { OTHER_CORE, send, statusesOf } from '../../lab/bench/load-stage.ts'
import { loadText, median } from '../../lab/bench/parts.ts'
import { cpuMicroseconds, stopAll } from '../../lab/bench/processes.ts'
import { Report } from '../../lab/bench/report.ts'
import { chromiumOptions } from './support/engines.ts'
import {
  startProvider,
  startTorana,
  type StartedProvider,
  type StartedTorana,
} from '../../lab/bench/torana.ts'

const { values: options } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })

const PER_SECOND = 200
const GATEWAY_CORE = 0
const TOKEN = 'a-token-of-the-overview-0123456789'
/** Callers that come one after another: each is a ribbon that was not there before. */
const NEWCOMERS = 5
const AIM_FOLLOWS_MS = 2000
const AIM_GROWTH = 1.1
const AIM_CORE_SHARE = 0.01
/** Left out of the comparison of memory: the page fills its charts. */
const FIRST_MINUTES = 2
const MEGABYTE = 1024 * 1024
/** Long enough that a share of one hundredth is 200 ms of processor time. */
const WINDOW_MS = 20_000
const WINDOWS = 5

const keyOf = (name: string): string => `${name}-${'0123456789abcdef'.repeat(2)}`
const folder = mkdtempSync(join(tmpdir(), 'torana-overview-'))
const report = new Report()
const postgres = await startPostgresServer()
const browser = await chromium.launch(chromiumOptions())
try {
  await run(browser)
  if (!report.isKept) process.exitCode = 1
} finally {
  await browser.close()
  await stopAll()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function run(opened: Browser): Promise<void> {
  const provider = await startProvider(OTHER_CORE, folder)
  const torana = await startTorana({
    core: GATEWAY_CORE,
    folder,
    config: config(provider.origin),
    env: {
      LOG_LEVEL: 'silent',
      DATABASE_URL: postgres.url,
      TORANA_SECRET: 'a-secret-of-the-bench-0123456789',
      TORANA_ADMIN_TOKEN: TOKEN,
    },
  })
  const context = await opened.newContext({
    viewport: { width: 1440, height: 900 },
    extraHTTPHeaders: { authorization: `Bearer ${TOKEN}` },
  })
  const page = await context.newPage()
  const open = (): Promise<unknown> => page.goto(`http://127.0.0.1:${torana.controlPort}/`)
  const minutes = Number(options.minutes)
  const seconds = minutes * 60 + (2 * WINDOWS * WINDOW_MS) / 1000 + 60
  const load = send({
    port: torana.port,
    seconds,
    patienceMs: 10_000,
    streams: [{ key: keyOf('steady'), model: 'pair-w16', perSecond: PER_SECOND }],
  })
  await open()
  await reportFollowing(page, torana, provider)
  await reportMemory(page, provider, minutes)
  await reportCost('under load', page, open, torana)
  const [answers = []] = await load
  await reportCost('at rest', page, open, torana)
  report.figure('requests meanwhile', `${answers.length}, ${statusesOf(answers)}`)
  report.print(
    `The Overview under ${PER_SECOND} requests a second for ${options.minutes} minutes; ${loadText()}`,
  )
}

async function reportFollowing(page: Page, torana: StartedTorana, provider: StartedProvider): Promise<void> {
  const picture = page.getByRole('group', { name: /Traffic from keys/ })
  await picture.getByText('one', { exact: true }).waitFor({ timeout: 30_000 })
  const tookMs: number[] = []
  for (let index = 0; index < NEWCOMERS; index += 1) {
    const caller = { key: keyOf(`newcomer-${index}`), model: 'pair-w16', perSecond: 20 }
    const asked = send({ port: torana.port, seconds: 6, patienceMs: 5000, streams: [caller] })
    await picture.getByText(`callers/newcomer-${index}`, { exact: true }).waitFor({ timeout: 30_000 })
    const shownMs = Date.now()
    const [answers = []] = await asked
    tookMs.push(shownMs - Math.min(...answers.map(([atMs]) => atMs)))
  }
  const worstMs = Math.max(...tookMs)
  report.aim(
    'a new caller has its ribbon after, ms',
    tookMs.map((took) => took.toFixed(0)).join(', '),
    `≤ ${AIM_FOLLOWS_MS}`,
    worstMs <= AIM_FOLLOWS_MS,
  )
  await setFailing(provider, true)
  const failingMs = Date.now()
  await picture
    .locator('a', { hasText: 'one' })
    .getByText(/ejected|probing/)
    .waitFor({ timeout: 30_000 })
  const seenMs = Date.now() - failingMs
  report.aim(
    'a failing deployment is shown after, ms',
    seenMs.toFixed(0),
    `≤ ${AIM_FOLLOWS_MS}`,
    seenMs <= AIM_FOLLOWS_MS,
  )
}

/** The deployment fails every other minute. */
async function reportMemory(page: Page, provider: StartedProvider, minutes: number): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  const heaps: number[] = []
  for (let minute = 0; minute < minutes; minute += 1) {
    await setFailing(provider, minute % 2 === 0)
    await wait(60_000)
    await devtools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await devtools.send('Runtime.getHeapUsage')
    heaps.push(usedSize)
    process.stderr.write(`minute ${minute + 1}: ${(usedSize / MEGABYTE).toFixed(1)} MB\n`)
  }
  await setFailing(provider, false)
  const later = heaps.slice(Math.min(FIRST_MINUTES, heaps.length - 2))
  const half = Math.floor(later.length / 2)
  const growth = median(later.slice(half)) / median(later.slice(0, half))
  report.aim(
    'memory of the page, its second half by its first',
    `${growth.toFixed(2)} (${heaps.map((heap) => (heap / MEGABYTE).toFixed(1)).join(', ')} MB)`,
    `≤ ${AIM_GROWTH}`,
    growth <= AIM_GROWTH,
  )
}

async function reportCost(
  when: string,
  page: Page,
  open: () => Promise<unknown>,
  { pid }: StartedTorana,
): Promise<void> {
  const shareOf = async (): Promise<number> => {
    await wait(3000)
    const [before, sinceMs] = [cpuMicroseconds(pid), performance.now()]
    await wait(WINDOW_MS)
    return (cpuMicroseconds(pid) - before) / 1000 / (performance.now() - sinceMs)
  }
  const differences: number[] = []
  const shares: number[] = []
  for (let window = 0; window < WINDOWS; window += 1) {
    await page.goto('about:blank')
    const without = await shareOf()
    await open()
    const opened = await shareOf()
    shares.push(without)
    differences.push(opened - without)
  }
  const cost = median(differences)
  report.figure(`a core of the node without it, ${when}, %`, (median(shares) * 100).toFixed(1))
  report.aim(
    `an open Overview costs the node of a core, ${when}, %`,
    `${(cost * 100).toFixed(2)} (${differences.map((share) => (share * 100).toFixed(1)).join(', ')})`,
    `< ${AIM_CORE_SHARE * 100}`,
    cost < AIM_CORE_SHARE,
  )
}

async function setFailing({ origin }: StartedProvider, isFailing: boolean): Promise<void> {
  const body = JSON.stringify({ name: 'one', ...(isFailing && { mode: '500' }) })
  const answer = await fetch(`${origin}/_mode`, { method: 'POST', body })
  if (!answer.ok) throw new Error(`the fake provider takes no mode: ${await answer.text()}`)
}

function config(provider: string): object {
  const apiKey = 'sk-upstream-0123456789'
  const names = ['steady', ...Array.from({ length: NEWCOMERS }, (_, index) => `newcomer-${index}`)]
  return {
    upstreams: {
      one: { dialect: 'openai', baseUrl: `${provider}/mode-one/v1`, apiKey },
      two: { dialect: 'openai', baseUrl: `${provider}/mode-two/v1`, apiKey },
    },
    models: {
      'pair-w16': {
        kind: 'embedding',
        embedding: { dimensions: 16, maxInputTokens: 8192 },
        price: { usdPerMillionTokens: 1 },
        spaceGuard: false,
        deployments: [
          { upstream: 'one', model: 'pair-w16' },
          { upstream: 'two', model: 'pair-w16' },
        ],
      },
    },
    projects: { callers: { keys: names.map((name) => ({ name, secret: keyOf(name) })) } },
  }
}

/**
 * A real browser before a real node. A test file starts a node with `startConsoleNode` of the server's own tests, and opens
 * the console with a token of a role; both end with the file.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import assert from 'node:assert/strict'
import { AxeBuilder } from '@axe-core/playwright'
import { chromium, type BrowserContext, type Page } from '@playwright/test'
import { NODE_TOKEN, type ConsoleNode } from '../../../server/test/support/console-node.ts'
import type { Role } from './member.ts'
import { settled } from './settled.ts'

const DIST = join(import.meta.dirname, '../../dist/index.html')

/** Debian's, unless the environment names another. */
const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'

export type Theme = 'light' | 'dark'

export interface ConsoleOptions {
  /** `admin` if left out. null: no one is signed in. */
  readonly role?: Role | null
  /** What a developer may see. */
  readonly projects?: readonly string[]
  readonly theme?: Theme
  readonly language?: 'en' | 'zh'
  readonly size?: 'desktop' | 'phone'
  /** The zone of the browser, in which the console then shows times. */
  readonly zone?: string
  /** Below which path the console is opened, where not at the node's own address. */
  readonly url?: string
}

export interface OpenConsole {
  readonly page: Page
  readonly context: BrowserContext
  /** Opens an address of the console and waits until it has shown what it has to show. */
  readonly go: (path: string) => Promise<void>
  /** What the browser complained about: errors of scripts, of the content security policy, of loading. */
  readonly complaints: string[]
  /** Every address that was asked for. */
  readonly asked: string[]
}

const SIZES = {
  desktop: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true },
} as const

if (!existsSync(DIST)) throw new Error('the console is not built: run `npm run console:build`')

/** One browser a test file. */
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ['--no-sandbox', '--font-render-hinting=none'],
})
after(() => browser.close())

export async function openConsole(node: ConsoleNode, options: ConsoleOptions = {}): Promise<OpenConsole> {
  const {
    role = 'admin',
    projects,
    theme = 'light',
    language = 'en',
    size = 'desktop',
    zone,
    url = node.controlUrl,
  } = options
  const token = role === 'admin' ? NODE_TOKEN : role && (await node.tokenOf(role, projects && { projects }))
  const context = await browser.newContext({
    ...SIZES[size],
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-US',
    timezoneId: zone ?? 'UTC',
    ...(token !== null && { extraHTTPHeaders: { authorization: `Bearer ${token}` } }),
  })
  after(() => context.close())
  await context.addInitScript((chosen) => localStorage.setItem('torana.language', chosen), language)
  if (zone !== undefined) await context.addInitScript(() => localStorage.setItem('torana.zone', 'local'))
  const page = await context.newPage()
  const complaints: string[] = []
  const asked: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error.stack ?? error)))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('request', (request) => asked.push(request.url()))
  return {
    page,
    context,
    complaints,
    asked,
    go: async (path) => {
      await page.goto(`${url}${path}`)
      await settled(page)
    },
  }
}

/** Problems that keep a person from using the page; none is allowed. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze()
  const grave = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join('\n    ')}`)
  assert.deepEqual(grave, [], what)
}

/**
 * Playwright Test with a real node: `nodeOfFile` starts one for a test file, and the fixture `openConsole` opens the console
 * with the token of a role. Contexts and nodes end with the test or the file that started them.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import assert from 'node:assert/strict'
import { setInterval } from 'node:timers/promises'
import { AxeBuilder } from '@axe-core/playwright'
import {
  expect,
  test as base,
  type Browser,
  type BrowserContext,
  type BrowserType,
  type LaunchOptions,
  type Page,
} from '@playwright/test'
import { atEnd, collectEnds } from '../../../server/test/support/at-end.ts'
import { NODE_TOKEN, startConsoleNode, type ConsoleNode } from '../../../server/test/support/console-node.ts'
import type { GatewayOptions } from '../../../server/test/support/gateway.ts'
import { firefoxOptions } from './engines.ts'
import { memberCookie, type Member, type Role } from './member.ts'
import { settled } from './settled.ts'

export { expect }

const DIST = join(import.meta.dirname, '../../dist/index.html')
if (!existsSync(DIST)) throw new Error('the console is not built: run `npm run console:build`')

/** How long a browser may take to start: on a loaded machine, a Firefox of the system needs many seconds. */
const MAX_LAUNCH_MS = 120_000

export type Theme = 'light' | 'dark'

interface ConsoleOptions {
  /** `admin` if left out. null: no one is signed in. */
  readonly role?: Role | null
  /** What a developer may see. */
  readonly projects?: readonly string[]
  /** A person with a session, in place of the token of a role. */
  readonly member?: Member
  readonly theme?: Theme
  readonly language?: 'en' | 'zh'
  readonly size?: 'desktop' | 'phone'
  /** Of the browser, UTC if left out; times are shown in it. */
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

export interface Fixtures {
  readonly openConsole: (node: ConsoleNode, options?: ConsoleOptions) => Promise<OpenConsole>
  /** A node for one test. */
  readonly startNode: (options?: GatewayOptions) => Promise<ConsoleNode>
}

export const test = base.extend<Fixtures, { readonly browser: Browser }>({
  browser: [
    async ({ playwright, browserName, launchOptions }, use) => {
      const browser = await launched(playwright[browserName], launchOptions)
      await use(browser)
      await browser.close()
    },
    { scope: 'worker', timeout: MAX_LAUNCH_MS },
  ],
  openConsole: async ({ browser }, use) => {
    const contexts: BrowserContext[] = []
    await use(async (node, options = {}) => {
      const opened = await openConsole(browser, node, options)
      contexts.push(opened.context)
      return opened
    })
    for (const context of contexts) await context.close()
  },
  // eslint-disable-next-line no-empty-pattern -- Playwright reads the names of fixtures from this pattern.
  startNode: async ({}, use) => {
    const end = collectEnds()
    await use(startConsoleNode)
    await end()
  },
})

/** A node for the tests of a file, from before the first to after the last. `seed` fills it. */
export function nodeOfFile(
  options: GatewayOptions = {},
  seed: (node: ConsoleNode) => Promise<unknown> = () => Promise.resolve(),
): ConsoleNode {
  const node = {} as ConsoleNode
  let end: () => Promise<void>
  test.beforeAll(async () => {
    end = collectEnds()
    Object.assign(node, await startConsoleNode(options))
    await seed(node)
  })
  test.afterAll(() => end())
  return node
}

/** A caller that asks ten times a second while the tests of a file run, and leaves before the node ends. */
export function askSteadily(node: ConsoleNode, model: string): void {
  test.beforeAll(() => {
    const leaving = new AbortController()
    const asking = async (): Promise<void> => {
      for await (const _ of setInterval(100, undefined, { signal: leaving.signal }))
        await node.ask({ model, input: `text ${Math.random()}` }, { key: node.key })
    }
    const asked = asking().catch((error: unknown) => {
      if (!leaving.signal.aborted) throw error
    })
    atEnd(() => {
      leaving.abort()
      return asked
    })
  })
}

async function openConsole(
  browser: Browser,
  node: ConsoleNode,
  { role = 'admin', projects, member, theme = 'light', language = 'en', size, zone, url }: ConsoleOptions,
): Promise<OpenConsole> {
  const isTokenOf =
    role === 'admin' ? NODE_TOKEN : role && (await node.tokenOf(role, projects && { projects }))
  const token = member === undefined ? isTokenOf : null
  const context = await browser.newContext({
    ...SIZES[size ?? 'desktop'],
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-US',
    timezoneId: zone ?? 'UTC',
    ...(token !== null && { extraHTTPHeaders: { authorization: `Bearer ${token}` } }),
  })
  if (member !== undefined)
    await signIn(context, node.controlUrl, await memberCookie(node.controlUrl, member, NODE_TOKEN))
  await rememberInBrowser(context, 'torana.language', language)
  if (zone !== undefined) await rememberInBrowser(context, 'torana.zone', 'local')
  if (isSystemFirefox(browser)) await context.addInitScript(typeWhatIsFilled)
  if (theme === 'dark' && isSystemFirefox(browser)) await rememberInBrowser(context, 'torana.theme', 'dark')
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
      await page.goto(`${url ?? node.controlUrl}${path}`)
      await settled(page)
    },
  }
}

/** What the console kept in an earlier visit. */
export async function rememberInBrowser(context: BrowserContext, name: string, value: string): Promise<void> {
  await context.addInitScript(
    ([key, kept]) => {
      try {
        localStorage.setItem(key, kept)
      } catch {
        // The empty document of a new tab has no storage.
      }
    },
    [name, value] as const,
  )
}

export async function signIn(context: BrowserContext, url: string, cookie: string): Promise<void> {
  const [name = '', value = ''] = cookie.split(/=(.*)/s)
  await context.addCookies([{ name, value, url }])
}

/**
 * Problems that keep a person from using the page; none is allowed. Axe judges the document, which all engines share: it runs in
 * Chromium alone, as the content process of Firefox ESR 153 crashes under it on pages with an open sheet.
 */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  if (page.context().browser()?.browserType().name() !== 'chromium') return
  const { violations } = await new AxeBuilder({ page }).analyze()
  const grave = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join('\n    ')}`)
  assert.deepEqual(grave, [], what)
}

export async function launched(engine: BrowserType, options: LaunchOptions): Promise<Browser> {
  const browser = await engine.launch({ ...options, timeout: MAX_LAUNCH_MS })
  if (isSystemFirefox(browser)) leaveOutMediaFeatures(browser)
  return browser
}

const isSystemFirefox = (browser: Browser): boolean =>
  browser.browserType().name() === 'firefox' && firefoxOptions().executablePath !== undefined

interface BidiSession {
  send: (method: string, params: unknown) => Promise<unknown>
}

/**
 * Playwright sets the color scheme of every context by a command that Firefox ESR 153 does not have, and would fail. Without it
 * Firefox keeps its own preference, which is light; a test that needs dark chooses it in the console.
 */
function leaveOutMediaFeatures(browser: Browser): void {
  const { _connection: connection } = browser as unknown as {
    _connection: { toImpl: (of: Browser) => { _browserSession: BidiSession } }
  }
  // oxlint-disable-next-line no-underscore-dangle -- Playwright offers no other way to the commands that it sends.
  const sessions = Object.getPrototypeOf(connection.toImpl(browser)._browserSession) as BidiSession
  const { send } = sessions
  sessions.send = function (this: BidiSession, method, params) {
    if (method === 'emulation.setMediaFeaturesOverride') return Promise.resolve({})
    return send.call(this, method, params)
  }
}

/**
 * Runs in the page. For `fill`, Playwright sets the value of a field by script where it drives Firefox by WebDriver BiDi, and React takes no
 * notice of that. This inserts the text as an edit instead.
 */
function typeWhatIsFilled(): void {
  const insert = (text: string): void => void document.execCommand('insertText', false, text)
  Object.defineProperty(window, '__pw_bidiInsertText', {
    get: () => insert,
    set: () => {
      // Playwright's own is left out.
    },
  })
}

/** A browser that opens one page after another and says what is broken: Playwright drives it, or WebDriver. */
import type { Browser } from '@playwright/test'
import { rememberInBrowser, signIn, type Theme } from './test.ts'

export interface Visitor {
  /** Of the node, or of what stands before it. */
  readonly url: string
  readonly version: string
  readonly open: (url: string) => Promise<void>
  readonly setWidth: (width: number) => Promise<void>
  /** The value of a function that runs in the page and uses nothing from outside. */
  readonly evaluate: <Value>(inPage: () => Value) => Promise<Value>
  readonly screenshot: () => Promise<Buffer>
  /** Console errors and failed requests since the last call. */
  readonly complaints: () => Promise<string[]>
  readonly signIn: (cookie: string) => Promise<void>
  readonly close: () => Promise<void>
}

export interface VisitorOptions {
  readonly url: string
  readonly zone: string
  readonly theme: Theme
}

const PHONE_WIDTH = 390
export const heightOf = (width: number): number => (width <= PHONE_WIDTH ? 844 : 900)

/** What a browser reports of a request that a navigation ended. */
const ENDED_BY_NAVIGATION = /ERR_ABORTED|NS_BINDING_ABORTED|cancelled/i

/** For a screenshot Playwright adds the style `body {}`, and Firefox reports that the content security policy refuses it. */
const SCREENSHOT_STYLE = 'sha256-YjaKGiklmzC6wjXA513HAMmzus8VE61XCOT+SmwNZWA='

export async function playwrightVisitor(
  browser: Browser,
  { url, zone, theme }: VisitorOptions,
): Promise<Visitor> {
  const context = await browser.newContext({
    timezoneId: zone,
    locale: 'en-US',
    reducedMotion: 'reduce',
    viewport: { width: 1440, height: heightOf(1440) },
  })
  await rememberInBrowser(context, 'torana.theme', theme)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error.stack ?? error)))
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('response', (answer) => {
    if (answer.status() >= 400) complaints.push(`${answer.status()} ${answer.url()}`)
  })
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    if (!ENDED_BY_NAVIGATION.test(reason)) complaints.push(`${reason} ${request.url()}`)
  })
  return {
    url,
    version: `${browser.browserType().name()} ${browser.version()}`,
    open: async (address) => void (await page.goto(address)),
    setWidth: (width) => page.setViewportSize({ width, height: heightOf(width) }),
    evaluate: (inPage) => page.evaluate(inPage),
    screenshot: () => page.screenshot({ caret: 'initial' }),
    complaints: () => Promise.resolve(complaints.splice(0).filter((one) => !one.includes(SCREENSHOT_STYLE))),
    signIn: (cookie) => signIn(context, url, cookie),
    close: () => context.close(),
  }
}

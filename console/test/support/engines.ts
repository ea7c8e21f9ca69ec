/** Where each browser is: Debian's package, the one that the environment names, or Playwright's own build. */
import { existsSync, globSync } from 'node:fs'
import { chromium, firefox, webkit, type LaunchOptions } from '@playwright/test'

export type EngineName = 'chromium' | 'firefox' | 'webkit'

export const WEBKIT_DRIVER = '/usr/bin/WebKitWebDriver'
export const [WEBKIT_BROWSER] = globSync('/usr/lib/*/webkit2gtk-*/MiniBrowser')

const firstOf = (...paths: readonly (string | undefined)[]): string | undefined =>
  paths.find((path) => path !== undefined && path !== '' && existsSync(path))

/** Without a path, Playwright starts its own build: `npx playwright install chromium`. */
export function chromiumOptions(): LaunchOptions {
  const executablePath = firstOf(process.env['CHROMIUM_PATH'], '/usr/bin/chromium')
  return {
    ...(executablePath !== undefined && { executablePath }),
    args: ['--no-sandbox', '--font-render-hinting=none'],
  }
}

/** Playwright drives its own build, or a Firefox of the system by WebDriver BiDi. */
export function firefoxOptions(): LaunchOptions {
  const executablePath = firstOf(process.env['FIREFOX_PATH'], '/usr/bin/firefox-esr', '/usr/bin/firefox')
  const preferences = { 'ui.prefersReducedMotion': 1 }
  if (executablePath === undefined) return { firefoxUserPrefs: preferences }
  return { channel: 'moz-firefox', executablePath, firefoxUserPrefs: preferences }
}

/** Why an engine cannot run here. Undefined: it can. */
export function missingEngine(name: EngineName): string | undefined {
  const missing: Readonly<Record<EngineName, boolean>> = {
    chromium: chromiumOptions().executablePath === undefined && !existsSync(chromium.executablePath()),
    firefox: firefoxOptions().executablePath === undefined && !existsSync(firefox.executablePath()),
    webkit: !hasPlaywrightWebKit() && firstOf(WEBKIT_DRIVER) === undefined,
  }
  if (!missing[name]) return undefined
  return `${name} is not installed: see console/README.md, or run "npx playwright install ${name}"`
}

/** Playwright has a WebKit of its own for macOS and some kinds of Linux; elsewhere WebDriver drives WebKitGTK. */
export const hasPlaywrightWebKit = (): boolean => existsSync(webkit.executablePath())

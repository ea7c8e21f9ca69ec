/** Which tests run in which browser: see console/README.md. */
import { join } from 'node:path'
import {
  defineConfig,
  type PlaywrightTestOptions,
  type PlaywrightWorkerOptions,
  type Project,
} from '@playwright/test'
import type { EveryPageOptions } from './support/every-page.ts'
import { chromiumOptions, firefoxOptions, hasPlaywrightWebKit } from './support/engines.ts'

const RESULTS = join(import.meta.dirname, 'results')
const ZONES = ['UTC', 'Asia/Kolkata', 'America/Los_Angeles']

const CHROMIUM = { browserName: 'chromium', launchOptions: chromiumOptions() } as const
const FIREFOX = { browserName: 'firefox', launchOptions: firefoxOptions() } as const
const WEBKIT = { browserName: 'webkit' } as const
const ENGINES = { chromium: CHROMIUM, firefox: FIREFOX, webkit: WEBKIT }

type ConsoleProject = Project<PlaywrightTestOptions, PlaywrightWorkerOptions & EveryPageOptions>

const everyPage: ConsoleProject[] = Object.entries(ENGINES).flatMap(([engine, use]) =>
  ZONES.flatMap((zone) =>
    (['light', 'dark'] as const).map((theme) => ({
      name: ['pages', engine, zone.split('/').at(-1)!.toLowerCase(), theme].join('-'),
      testMatch: 'every-page.ts',
      use: { ...use, zone, theme, trace: 'off' },
    })),
  ),
)

const projects: ConsoleProject[] = [
  { name: 'chromium', testMatch: '*.test.ts', use: CHROMIUM },
  { name: 'firefox', testMatch: '*.test.ts', grepInvert: /@chromium/, use: FIREFOX },
  ...(hasPlaywrightWebKit()
    ? [{ name: 'webkit', testMatch: '*.test.ts', grepInvert: /@chromium/, use: WEBKIT }]
    : []),
  ...everyPage,
  // A change runs the first beside other suites, the merge the second. A test that fails on a starved machine runs again, and is listed as flaky.
  { name: 'smoke-chromium', testMatch: 'shell.test.ts', grepInvert: /@nightly/, retries: 1, use: CHROMIUM },
  {
    name: 'smoke-webkit',
    testMatch: 'every-page.ts',
    retries: 1,
    use: { ...WEBKIT, trace: 'off', widths: [1440], isBrief: true },
  },
  // A recorded run of what operators do first.
  { name: 'tasks', testMatch: '*.tasks.ts', use: { ...CHROMIUM, trace: 'on' } },
  // They measure: run them with `--workers 1` on a machine that does nothing else.
  { name: 'timing', testMatch: '*.timing.ts', use: CHROMIUM },
]

export default defineConfig<PlaywrightTestOptions, PlaywrightWorkerOptions & EveryPageOptions>({
  testDir: import.meta.dirname,
  outputDir: join(RESULTS, 'failures'),
  reporter: [['list'], ['json', { outputFile: join(RESULTS, 'report.json') }]],
  // Two browsers and two nodes keep a small machine busy.
  workers: 2,
  // A loaded machine takes its time. A test that needs longer hangs.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  forbidOnly: process.env['CI'] !== undefined,
  use: { trace: 'retain-on-failure' },
  projects,
})

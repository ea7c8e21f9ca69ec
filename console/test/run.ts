/**
 * `npm run test:console`: every test of the console in every browser, then those that measure time, alone. `smoke` is the part that
 * a change runs; options of Playwright choose others: `npm run test:console -- keys --project firefox`.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const EVERYTHING = [
  ['--project', 'chromium', '--project', 'firefox', '--project', 'pages-*'],
  ['--project', 'tasks', '--workers', '1'],
  ['--project', 'timing', '--workers', '1'],
]
const SMOKE = [['--project', 'smoke-chromium']]

const given = process.argv.slice(2)
const runs = given.length === 0 ? EVERYTHING : given[0] === 'smoke' ? SMOKE : [given]
for (const options of runs) {
  const { status } = spawnSync(
    'npx',
    ['playwright', 'test', '--config', join(import.meta.dirname, 'playwright.config.ts'), ...options],
    {
      stdio: 'inherit',
      // Node strips the types, in tests as everywhere; Playwright would compile the whole server with Babel.
      env: { ...process.env, PW_DISABLE_TS_ESM: '1' },
    },
  )
  if (status !== 0) process.exitCode = 1
}

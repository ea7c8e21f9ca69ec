/**
 * `npm run lab -- check/site`: what a reader of the built site would notice. No page links to itself or to nothing, the searches of
 * `searches.ts` find the right page first, and nothing is wider than a phone.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { browserPath } from '../import/diagrams.ts'
import { linkProblems, readSite } from './links.ts'
import { blindChecks } from './planted.ts'
import { searchProblems } from './searches.ts'
import { serve } from './server.ts'
import { widthProblems } from './widths.ts'

const folder = join(import.meta.dirname, '../dist')
if (!existsSync(folder)) throw new Error('the site is not built: npm run site:build')

/** The path below which the site is served, with a slash at both ends. */
const base = process.env['SITE_BASE'] ?? '/'
const pages = readSite(folder)
const problems = linkProblems(pages, base)
// The build itself fails on links; the rest needs a browser and a minute.
if (!process.argv.includes('--links')) problems.push(...(await browserProblems()))
for (const problem of problems) console.log(problem)
console.log(`${pages.length} pages, ${problems.length} problems`)
process.exitCode = problems.length > 0 ? 1 : 0

async function browserProblems(): Promise<string[]> {
  const server = await serve(folder)
  const browser = await chromium.launch({
    executablePath: browserPath(),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  try {
    const paths = pages.map(({ path }) => path)
    return [
      ...(await blindChecks(browser, server.url)),
      ...(await searchProblems(browser, server.url)),
      ...(await widthProblems(browser, server.url, paths)),
    ]
  } finally {
    await browser.close()
    server.close()
  }
}

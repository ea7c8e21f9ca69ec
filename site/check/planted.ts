/** Violations on purpose: each check must find its own, or it would pass whatever the site is like. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { linkProblems, readSite } from './links.ts'
import { searchProblems } from './searches.ts'
import { serve } from './server.ts'
import { widthProblems } from './widths.ts'

const PAGES: Readonly<Record<string, string>> = {
  'self.html': '<a href="/self.html">this page</a>',
  'lost.html': '<a href="/nowhere/">lost</a>',
  'anchor.html': '<a href="/self.html#nothing">lost</a>',
  'table.html': '<table style="width: 500px"><tr><td>wide</td></tr></table>',
  'fine.html':
    '<a href="/self.html">another page</a><pre style="overflow-x: auto"><code style="width: 900px; display: block">x</code></pre>',
}

/** Checks that found nothing. `url` is the real site, whose search has no page below `/planted/`. */
export async function blindChecks(browser: Browser, url: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'planted-'))
  for (const [file, html] of Object.entries(PAGES)) writeFileSync(join(folder, file), html)
  const server = await serve(folder)
  try {
    const found = [
      ...linkProblems(readSite(folder), '/'),
      ...(await widthProblems(
        browser,
        server.url,
        Object.keys(PAGES).map((file) => `/${file}`),
      )),
      ...(await searchProblems(browser, url, { invalid_api_key: '/planted/' })),
    ]
    const isFound = (part: string): boolean => found.some((problem) => problem.includes(part))
    return [
      ...['/self.html', '/lost.html', '/anchor.html', '/table.html', '/planted/']
        .filter((part) => !isFound(part))
        .map((part) => `the check does not find the planted violation of ${part}`),
      ...(isFound('/fine.html') ? ['the check finds a violation in a page that has none'] : []),
    ]
  } finally {
    server.close()
    rmSync(folder, { recursive: true })
  }
}

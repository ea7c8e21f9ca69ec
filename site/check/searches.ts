/** What readers search for, and the page that they need. */
import type { Browser } from 'playwright-core'

const EXPECTED: Readonly<Record<string, string>> = {
  invalid_api_key: '/errors/#invalid_api_key',
  'budget exhausted': '/errors/#budget_exhausted',
  '412': '/errors/#space_mismatch',
  ToranaStoreAway: '/on-call/',
  helm: '/kubernetes/',
  pgvector: '/recipes/pgvector/',
  langchain: '/connect-your-sdk/',
  'disk full': '/on-call/',
  TORANA_DATA_DIR: '/configuration/',
  drift: '/space-guard/',
  price: '/prices/',
  litellm: '/moving-from-litellm/',
}
const MAX_WAIT_MS = 15_000

/** `fits('/on-call/#toranastoreaway', '/on-call/')`: a section of the right page is the right page. */
export function fits(found: string, expected: string): boolean {
  return expected.includes('#') ? found === expected : found.replace(/#.*$/, '') === expected
}

export async function searchProblems(
  browser: Browser,
  url: string,
  searches: Readonly<Record<string, string>> = EXPECTED,
): Promise<string[]> {
  const page = await browser.newPage()
  await page.goto(url)
  await page.keyboard.press('Control+k')
  const problems: string[] = []
  for (const [query, expected] of Object.entries(searches)) {
    await page.fill('dialog.search input', '')
    await page.locator('.search-results:empty').waitFor({ state: 'attached' })
    await page.fill('dialog.search input', query)
    await page.locator('.search-results :is(.hit, .search-nothing)').first().waitFor({ timeout: MAX_WAIT_MS })
    const found = await page.evaluate<string>(
      `(([first]) => first === undefined ? 'nothing' : first.pathname + first.hash)(document.querySelectorAll('.search-results a.hit'))`,
    )
    if (!fits(found, expected)) problems.push(`a search for "${query}" finds ${found} first, not ${expected}`)
  }
  await page.close()
  return problems
}

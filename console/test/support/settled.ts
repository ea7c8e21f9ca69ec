import type { Page } from '@playwright/test'

const SETTLED_WITHIN_MS = 10_000

/** Until no grey bars of loading are left, and fonts are there. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  await page.evaluate(async () => {
    await document.fonts.ready
  })
  await page.waitForFunction(() => document.querySelector('.appearing-late') === null, undefined, {
    timeout: SETTLED_WITHIN_MS,
  })
}

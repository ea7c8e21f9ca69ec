import { setTimeout as sleep } from 'node:timers/promises'
import type { Page, Request } from '@playwright/test'

const SETTLED_WITHIN_MS = 10_000
/** A page asks for the next thing within this time of an answer. */
const QUIET_MS = 400
const LOOK_MS = 50

/** What watched pages wait for. */
const openRequests = new WeakMap<Page, Set<Request>>()

/** From here on the page is settled only when nothing that it asked for is on its way. The stream of events never ends. */
export function watchRequests(page: Page): void {
  const open = new Set<Request>()
  openRequests.set(page, open)
  page.on('request', (request) => request.resourceType() !== 'eventsource' && open.add(request))
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))
}

/** Until the page has taken the place of the frame that came with the HTML, no grey bars of loading are left, and fonts are there. */
export async function settled(page: Page): Promise<void> {
  await page.locator('[data-first-frame]').waitFor({ state: 'detached' })
  await page.locator('h1').first().waitFor()
  await page.evaluate(async () => {
    await document.fonts.ready
  })
  await answered(page)
  await page.waitForFunction(() => document.querySelector('.appearing-late') === null, undefined, {
    timeout: SETTLED_WITHIN_MS,
  })
}

async function answered(page: Page): Promise<void> {
  const open = openRequests.get(page)
  if (open === undefined) return
  const endMs = performance.now() + SETTLED_WITHIN_MS
  for (let quietMs = 0; quietMs < QUIET_MS; quietMs += LOOK_MS) {
    if (open.size > 0) quietMs = 0
    if (performance.now() > endMs)
      throw new Error(`still on their way: ${Array.from(open, (request) => request.url()).join(', ')}`)
    await sleep(LOOK_MS)
  }
}

/** Fifty visits to each playground leave nothing behind: no worker, no object URL, no growing heap. Chromium alone tells these. */
import assert from 'node:assert/strict'
import type { Page } from '@playwright/test'
import { expect, nodeOfFile, test } from './support/test.ts'

const VISITS = 50
/** The first visits load code and fill caches. */
const WARM_VISITS = 10
const SAMPLE_EVERY = 5
/** Growth of the heap for each visit. One result that stays in memory weighs several times as much. */
const MAX_GROWTH_KB = 30
/** One may stay for the next visit. */
const MAX_WORKERS = 1
const MAX_TEST_MS = 900_000

const node = nodeOfFile({
  models: { 'plain-w256': { on: 'plain' } },
  images: { 'a-painter': { on: 'plain', capabilities: { stream: true }, price: { usdPerImage: 0.04 } } },
})

interface Playground {
  readonly link: string
  readonly run: (page: Page) => Promise<void>
  readonly result: (page: Page) => Promise<void>
}

const PLAYGROUNDS: Readonly<Record<string, Playground>> = {
  embeddings: {
    link: 'Embeddings',
    run: (page) => page.getByRole('button', { name: /^Embed / }).click(),
    result: (page) => expect(page.locator('figure canvas').first()).toBeVisible(),
  },
  images: {
    link: 'Images',
    run: (page) => page.locator('form button[type=submit]').click(),
    result: (page) => expect(page.locator('main img[src^="blob:"]').first()).toBeVisible(),
  },
}

for (const [name, { link, run, result }] of Object.entries(PLAYGROUNDS))
  test(`${VISITS} visits to the playground of ${name} leave nothing behind @chromium`, async ({
    openConsole,
  }) => {
    test.setTimeout(MAX_TEST_MS)
    const { page, context, go } = await openConsole(node)
    await countObjectUrls(page)
    await go('/')
    const devtools = await context.newCDPSession(page)
    const samples: { visit: number; heapKb: number; workers: number; objectUrls: number }[] = []
    for (let visit = 1; visit <= VISITS; visit += 1) {
      await page.getByRole('navigation').getByRole('link', { name: link, exact: true }).click()
      await run(page)
      // Every other visit ends before its result is there.
      if (visit % 2 === 0) await result(page)
      await page.getByRole('navigation').getByRole('link', { name: 'Overview', exact: true }).click()
      await expect(page.locator('h1')).toHaveText('Overview')
      if (visit % SAMPLE_EVERY !== 0) continue
      // What is still on its way arrives, and finds no page.
      await page.waitForTimeout(1000)
      await devtools.send('HeapProfiler.collectGarbage')
      const { usedSize } = await devtools.send('Runtime.getHeapUsage')
      const objectUrls = await page.evaluate(
        () => (globalThis as unknown as { toranaUrls: Set<string> }).toranaUrls.size,
      )
      samples.push({ visit, heapKb: usedSize / 1024, workers: page.workers().length, objectUrls })
    }
    const growthKb = slopeOf(samples.filter(({ visit }) => visit > WARM_VISITS))
    console.log(
      `${name}: ${growthKb.toFixed(1)} KB for each visit; heap ${samples.map(({ heapKb }) => (heapKb / 1024).toFixed(1)).join(' ')} MB; ` +
        `workers ${samples.map(({ workers }) => workers).join(' ')}; object URLs ${samples.map(({ objectUrls }) => objectUrls).join(' ')}`,
    )
    assert.ok(
      samples.every(({ workers }) => workers <= MAX_WORKERS),
      'workers of earlier visits have ended',
    )
    assert.equal(samples.at(-1)?.objectUrls, 0, 'no object URL is left')
    assert.ok(growthKb < MAX_GROWTH_KB, `the heap grows by ${growthKb} KB for each visit`)
  })

async function countObjectUrls(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const urls = new Set<string>()
    Object.assign(globalThis, { toranaUrls: urls })
    const create = URL.createObjectURL.bind(URL)
    const revoke = URL.revokeObjectURL.bind(URL)
    URL.createObjectURL = (of) => {
      const url = create(of)
      urls.add(url)
      return url
    }
    URL.revokeObjectURL = (url) => {
      urls.delete(url)
      revoke(url)
    }
  })
}

/** Least squares: the growth for each visit. */
function slopeOf(samples: readonly { readonly visit: number; readonly heapKb: number }[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const meanVisit = mean(samples.map(({ visit }) => visit))
  const meanHeap = mean(samples.map(({ heapKb }) => heapKb))
  const rise = samples.reduce((sum, { visit, heapKb }) => sum + (visit - meanVisit) * (heapKb - meanHeap), 0)
  return rise / samples.reduce((sum, { visit }) => sum + (visit - meanVisit) ** 2, 0)
}

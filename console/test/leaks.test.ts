/** Fifty visits to each playground leave nothing behind: no worker, no object URL, no element, no growing heap. Chromium alone reports these. */
import assert from 'node:assert/strict'
import type { Page } from '@playwright/test'
import { chromiumOptions } from './support/engines.ts'
import { expect, nodeOfFile, test } from './support/test.ts'

const VISITS = 50
/** The first visits load code and fill caches. */
const WARM_VISITS = 10
const SAMPLE_EVERY = 5
/** Growth of the heap per visit. One result that stays in memory weighs several times as much. */
const MAX_GROWTH_KB = 15
/** Growth of DOM nodes, and of event listeners, per visit. A page that stays in memory has hundreds of both. */
const MAX_GROWTH = 5
/** One may stay for the next visit. */
const MAX_WORKERS = 1
const MAX_TEST_MS = 900_000

// Compiled code and what the compiler notes about types are part of the heap, and grow with use. Without the compiler, what grows is
// what the console keeps.
const withoutCompiler = chromiumOptions()
test.use({
  launchOptions: { ...withoutCompiler, args: [...(withoutCompiler.args ?? []), '--js-flags=--jitless'] },
})

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

interface Sample {
  readonly visit: number
  readonly heapKb: number
  readonly nodes: number
  readonly listeners: number
  readonly workers: number
  readonly objectUrls: number
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
    await devtools.send('Performance.enable')
    const samples: Sample[] = []
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
      const { metrics } = await devtools.send('Performance.getMetrics')
      const metric = (of: string): number => metrics.find((one) => one.name === of)?.value ?? Number.NaN
      samples.push({
        visit,
        heapKb: Math.round(usedSize / 1024),
        nodes: metric('Nodes'),
        listeners: metric('JSEventListeners'),
        workers: page.workers().length,
        objectUrls,
      })
    }
    console.log(name)
    console.table(samples)
    assert.ok(
      samples.every(({ workers }) => workers <= MAX_WORKERS),
      'workers of earlier visits have ended',
    )
    assert.equal(samples.at(-1)?.objectUrls, 0, 'no object URL is left')
    for (const [what, most] of [
      ['heapKb', MAX_GROWTH_KB],
      ['nodes', MAX_GROWTH],
      ['listeners', MAX_GROWTH],
    ] as const) {
      const growth = growthOf(samples, what)
      console.log(`${what} grow by ${growth} per visit`)
      assert.ok(growth <= most, `${what} grow by ${growth} per visit`)
    }
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

/** The median growth per visit between two samples. A leak grows between all of them; a cache that doubles, between two. */
function growthOf(samples: readonly Sample[], what: 'heapKb' | 'nodes' | 'listeners'): number {
  const values = samples.filter(({ visit }) => visit >= WARM_VISITS).map((sample) => sample[what])
  const growths = values.slice(1).map((value, at) => (value - values[at]!) / SAMPLE_EVERY)
  return growths.toSorted((one, other) => one - other)[Math.floor(growths.length / 2)]!
}

/** Ten thousand requests: few of them are in the page, and none of its work is felt while they are scrolled. */
import assert from 'node:assert/strict'
import { expect, nodeOfFile, test } from './support/test.ts'

const ROWS = 10_000
/** Larger than the server's pages: what is measured is scrolling, not loading. */
const PAGE_ROWS = 2500

const node = nodeOfFile({ models: { 'plain-w16': { on: 'plain' } } })

/** A page of the list as the server sends it, of rows that never were: the browser is what is measured here. */
function pageFrom(first: number): object {
  const data = Array.from({ length: Math.min(PAGE_ROWS, ROWS - first) }, (_, index) => ({
    id: `01a1e008-2f4c-7d1e-b0aa-${String(first + index).padStart(12, '0')}`,
    at: new Date(Date.UTC(2026, 10, 15, 16) - (first + index) * 137).toISOString(),
    kind: 'embedding',
    status: index % 19 === 0 ? 502 : 200,
    fault: index % 19 === 0 ? 'upstream_unreachable' : null,
    outcome: index % 19 === 0 ? 'failed' : 'answered',
    project: 'search',
    key: 'search/indexer',
    model: 'text-embedding-3-small',
    deployments: ['text-embedding-3-small/openai'],
    calls: 1 + (index % 3),
    inputs: 640,
    hits: 412,
    tokens: 32_596,
    images: null,
    cost_usd: '0.000651920',
    unpriced: false,
    usage: 'upstream',
    duration_ms: 258.9,
    own_ms: 19.1,
    waited_ms: 0,
    node: 'gateway-2',
    asset: null,
  }))
  const next = first + PAGE_ROWS
  return { data, has_more: next < ROWS, next: next < ROWS ? String(next) : null }
}

test('of ten thousand rows at most a hundred are in the page, and no task takes more than 50 ms while they are scrolled', async ({
  openConsole,
}) => {
  const { page, go } = await openConsole(node)
  await page.route(/\/api\/v1\/requests\?/, async (route) => {
    const after = new URL(route.request().url()).searchParams.get('after')
    await route.fulfill({ json: pageFrom(after === null ? 0 : Number(after)) })
  })
  await go('/requests')
  const list = page.getByRole('region', { name: 'Requests' })
  await expect(list.getByRole('row').nth(5)).toBeVisible({ timeout: 15_000 })
  // All pages are loaded first: what is measured is scrolling.
  await expect
    .poll(
      async () => {
        await list.evaluate((element) => (element.scrollTop = element.scrollHeight))
        return Number(await list.getByRole('table').getAttribute('aria-rowcount'))
      },
      { timeout: 90_000, intervals: [50] },
    )
    .toBeGreaterThan(ROWS)
  await list.evaluate((element) => (element.scrollTop = 0))
  const { longest, most } = await list.evaluate(async (element) => {
    const tasks: number[] = []
    const observer = new PerformanceObserver((entries) => {
      for (const { duration } of entries.getEntries()) tasks.push(duration)
    })
    observer.observe({ entryTypes: ['longtask'] })
    let drawn = 0
    const frame = (): Promise<void> => new Promise((resolve) => requestAnimationFrame(() => resolve()))
    for (let step = 0; step < 200; step += 1) {
      element.scrollTop += 480
      await frame()
      drawn = Math.max(drawn, element.querySelectorAll('tbody tr').length)
    }
    observer.disconnect()
    return { longest: Math.max(0, ...tasks), most: drawn }
  })
  assert.ok(most <= 100, `${most} rows in the page`)
  assert.ok(longest <= 50, `a task of ${longest} ms`)
})

/**
 * Every page opens in each engine, light and dark, at every width, in three time zones, and nothing of it is broken. Screenshots
 * are in console/test/results/pages. A light page is loaded wide and made narrow, a dark one the other way round.
 */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import { collectEnds } from '../../server/test/support/at-end.ts'
import { hasPlaywrightWebKit, missingEngine } from './support/engines.ts'
import {
  BEFORE_SIGN_IN,
  PAGES,
  startSeededNode,
  type EveryPageOptions,
  type SeededNode,
} from './support/every-page.ts'
import { faultsOfView, isSettled, partsOfView } from './support/faults.ts'
import { launched, test as base } from './support/test.ts'
import { playwrightVisitor, type Visitor } from './support/visitor.ts'
import { webkitVisitor } from './support/webkit.ts'

const WIDTHS = [1440, 1280, 1024, 390]
/** How long a page may take to show what it has. A loaded machine needs several seconds. */
const SETTLED_WITHIN_MS = 30_000
/** A page draws its charts again, and asks for what comes next, within this time. */
const QUIET_MS = 400
/** Ten addresses at four widths, on a loaded machine. */
const MAX_PATTERN_MS = 600_000

interface Site {
  readonly node: SeededNode
  readonly visitor: Visitor
}

const test = base.extend<object, EveryPageOptions & { readonly site: Site }>({
  zone: ['UTC', { scope: 'worker', option: true }],
  theme: ['light', { scope: 'worker', option: true }],
  widths: [WIDTHS, { scope: 'worker', option: true }],
  isBrief: [false, { scope: 'worker', option: true }],
  site: [
    async ({ playwright, browserName, launchOptions, zone, theme }, use) => {
      const missing = missingEngine(browserName)
      if (missing !== undefined) throw new Error(missing)
      const end = collectEnds()
      const node = await startSeededNode()
      const options = { url: node.url, zone, theme }
      if (browserName === 'webkit' && !hasPlaywrightWebKit()) {
        const visitor = await webkitVisitor(options)
        await use({ node, visitor })
        await visitor.close()
      } else {
        const browser = await launched(playwright[browserName], launchOptions)
        const visitor = await playwrightVisitor(browser, options)
        await use({ node, visitor })
        await browser.close()
      }
      await end()
    },
    { scope: 'worker', timeout: 120_000 },
  ],
})

/** The only one that a page before the sign-in asks for without a session. */
const EXPECTED_BEFORE_SIGN_IN = /401/
/** WebKit asks for it when it leaves a page before that page's own icon is loaded. The console's icon is mark.svg. */
const OF_THE_BROWSER = /404 \/favicon\.ico$/

for (const [pattern, addressesOf] of Object.entries(PAGES))
  test(pattern, async ({ site: { node, visitor }, theme, widths, isBrief }, { project }) => {
    test.setTimeout(MAX_PATTERN_MS)
    const isBefore = BEFORE_SIGN_IN.has(pattern)
    const faults: string[] = []
    const order = theme === 'light' ? widths : widths.toReversed()
    if (!isBefore) await visitor.signIn(node.cookie)
    await visitor.complaints()
    for (const address of isBrief ? addressesOf(node).slice(0, 1) : addressesOf(node)) {
      await visitor.setWidth(order[0]!)
      await visitor.open(`${visitor.url}${address}`)
      for (const width of order) {
        await visitor.setWidth(width)
        if (!(await settles(visitor))) faults.push(`${address} at ${width} px: still loading`)
        const seen = [...(await visitor.evaluate(faultsOfView)), ...(await visitor.complaints())]
        faults.push(
          ...seen
            .filter(
              (fault) => !OF_THE_BROWSER.test(fault) && !(isBefore && EXPECTED_BEFORE_SIGN_IN.test(fault)),
            )
            .map((fault) => `${address} at ${width} px: ${fault}`),
        )
        await keep(await visitor.screenshot(), project.name, `${address}-${width}`)
      }
    }
    assert.deepEqual(faults, [], visitor.version)
  })

async function settles(visitor: Visitor): Promise<boolean> {
  let parts = 0
  for (const endMs = performance.now() + SETTLED_WITHIN_MS; performance.now() < endMs;) {
    await sleep(QUIET_MS)
    const before = parts
    parts = await visitor.evaluate(partsOfView)
    if (parts === before && (await visitor.evaluate(isSettled))) return true
  }
  return false
}

/** Ids differ from run to run; the file has the same name each time. */
async function keep(bytes: Buffer, folder: string, name: string): Promise<void> {
  const at = join(import.meta.dirname, 'results/pages', folder)
  mkdirSync(at, { recursive: true })
  const plain = name
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|batch_\w+|(?<=invite\/)[\w-]{43}/g, 'id')
    .replaceAll(/[^\w.-]+/g, '_')
  writeFileSync(join(at, `${plain}.webp`), await sharp(bytes).webp({ quality: 70, effort: 1 }).toBuffer())
}

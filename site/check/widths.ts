/** What is wider than a phone: a reader would have to scroll the page sideways. Only code and diagrams may scroll, in their frames. */
import type { Browser } from 'playwright-core'

const PHONE = { width: 390, height: 844 }
/** Widths are fractions: half a pixel is no problem. */
const TOLERANCE_PX = 1

/** In the page: elements that end right of the screen, without those inside of a frame that scrolls. */
const WIDE = `[...document.body.querySelectorAll('*')].filter((element) => {
  if (element.closest('pre, .diagram-view, [role=tablist], dialog, svg, .sr') && !element.matches('pre, .diagram-view, [role=tablist]')) return false
  const { left, right, width } = element.getBoundingClientRect()
  return width > 0 && (right > ${PHONE.width + TOLERANCE_PX} || left < -${TOLERANCE_PX})
}).map((element) => {
  const { left, right } = element.getBoundingClientRect()
  const name = element.tagName.toLowerCase() + (element.className && typeof element.className === 'string' ? '.' + element.className.split(' ')[0] : '')
  return name + ' from ' + Math.round(left) + ' to ' + Math.round(right) + ': ' + (element.textContent ?? '').trim().slice(0, 50)
})`

export async function widthProblems(
  browser: Browser,
  url: string,
  paths: readonly string[],
): Promise<string[]> {
  const page = await browser.newPage({ viewport: PHONE })
  const problems: string[] = []
  for (const path of paths) {
    await page.goto(`${url}${path}`, { waitUntil: 'domcontentloaded' })
    // Rows of wide tables are folded: the rest of each must fit too.
    await page.evaluate(
      `document.querySelectorAll('table.wide tr').forEach((row) => row.classList.add('open')), document.querySelectorAll('details').forEach((one) => { one.open = !one.classList.contains('toc-bar') }), document.fonts.ready.then(() => undefined)`,
    )
    const wide = await page.evaluate<string[]>(WIDE)
    if (wide.length > 0) problems.push(`${path} is wider than a phone: ${wide.slice(0, 3).join(' | ')}`)
  }
  await page.close()
  return problems
}

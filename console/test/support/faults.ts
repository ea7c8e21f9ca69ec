/** What is broken on the page that is open. Both run in the page, and use nothing from outside. */

/** Before its data is there, a page has no title, or grey bars. */
export function isSettled(): boolean {
  return document.querySelector('h1') !== null && document.querySelector('.appearing-late') === null
}

/** Changes while a part of the page is still to come. */
export function partsOfView(): number {
  return document.querySelectorAll('body *').length
}

export function faultsOfView(): string[] {
  const faults: string[] = []
  const describe = (element: Element): string =>
    `<${element.tagName.toLowerCase()} ${(element.textContent ?? '').trim().slice(0, 40)}>`
  const isShown = (element: Element): boolean => {
    const { width, height } = element.getBoundingClientRect()
    return width > 1 && height > 1 && getComputedStyle(element).visibility === 'visible'
  }
  /** Whether a part of the page that scrolls, or a dialog, hides this place. */
  const isScrolledOut = (element: Element, x: number, y: number): boolean => {
    for (let around = element.parentElement; around !== null; around = around.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(around)
      const { left, right, top, bottom } = around.getBoundingClientRect()
      if (/auto|scroll/.test(overflowX) && (x < left + 1 || x > right - 1)) return true
      if (/auto|scroll/.test(overflowY) && (y < top + 1 || y > bottom - 1)) return true
    }
    return false
  }

  const broken =
    /This page broke|Can't find variable|is not a function|undefined is not|\bNaN\b|Invalid Date|\[object Object\]/
  const [said] = broken.exec(document.body.innerText) ?? []
  if (said !== undefined) faults.push(`the page says “${said}”`)

  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth) faults.push(`${scrollWidth - clientWidth} px wider than the window`)

  for (const part of document.querySelectorAll('aside, [data-scroll]')) {
    const over = part.scrollWidth - part.clientWidth
    if (over > 1) faults.push(`${describe(part)} is ${over} px wider than its place`)
  }
  for (const chart of document.querySelectorAll('figure svg.overflow-visible')) {
    const [width, room] = [chart.getBoundingClientRect().width, chart.parentElement?.clientWidth ?? 0]
    if (isShown(chart) && Math.abs(width - room) > 1) faults.push(`a chart is ${width} of ${room} px wide`)
  }

  const main = document.querySelector('main')
  const hasDialog = document.querySelector('[role=dialog], [role=alertdialog]') !== null
  for (const element of document.querySelectorAll('main :is(a, button, input, h1, h2, h3)')) {
    const { left, right, top, width, height } = element.getBoundingClientRect()
    const [x, y] = [left + width / 2, top + height / 2]
    if (hasDialog || !isShown(element) || isScrolledOut(element, x, y)) continue
    if (right > clientWidth + 1 && !isScrolledOut(element, right, y)) {
      faults.push(`${describe(element)} is cut off: from ${left.toFixed(0)} to ${right.toFixed(0)} px`)
      continue
    }
    const at = document.elementFromPoint(x, y)
    if (at !== null && !at.contains(element) && !element.contains(at) && at.closest('label') === null)
      faults.push(`${describe(at)} covers ${describe(element)}`)
  }
  for (const bar of document.querySelectorAll('nav')) {
    if (main === null || main.contains(bar) || !isShown(bar)) continue
    const [place, page] = [bar.getBoundingClientRect(), main.getBoundingClientRect()]
    const across = Math.min(place.right, page.right) - Math.max(place.left, page.left)
    const down = Math.min(place.bottom, page.bottom) - Math.max(place.top, page.top)
    if (across > 1 && down > 1) faults.push(`the page overlaps the navigation by ${across} × ${down} px`)
    if (hasDialog) continue
    for (const link of bar.querySelectorAll('a, button')) {
      const { left, top, width, height } = link.getBoundingClientRect()
      const at = document.elementFromPoint(left + width / 2, top + height / 2)
      if (at !== null && isShown(link) && !bar.contains(at) && !at.contains(link))
        faults.push(`${describe(at)} covers ${describe(link)} of the navigation`)
    }
  }
  return faults
}

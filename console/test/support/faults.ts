/** What is broken on the page that is open. Both run in the page, and use nothing from outside. */

/** Before its data is there, a page has no title, or grey bars. */
export function isSettled(): boolean {
  return document.querySelector('h1') !== null && document.querySelector('.appearing-late') === null
}

export function faultsOfView(): string[] {
  const faults: string[] = []
  const describe = (element: Element): string =>
    `<${element.tagName.toLowerCase()} ${(element.textContent ?? '').trim().slice(0, 40)}>`
  const isShown = (element: Element): boolean => {
    const { width, height } = element.getBoundingClientRect()
    return width > 1 && height > 1 && getComputedStyle(element).visibility === 'visible'
  }
  const scrolls = (element: Element): boolean =>
    element !== document.documentElement &&
    (/auto|scroll/.test(getComputedStyle(element).overflowX) ||
      (element.parentElement !== null && scrolls(element.parentElement)))

  const broken =
    /This page broke|Can't find variable|is not a function|undefined is not|\bNaN\b|Invalid Date|\[object Object\]/
  const [said] = broken.exec(document.body.innerText) ?? []
  if (said !== undefined) faults.push(`the page says “${said}”`)

  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth) faults.push(`${scrollWidth - clientWidth} px wider than the window`)
  for (const element of document.querySelectorAll('main :is(a, button, input, h1, h2, h3)')) {
    const { left, right } = element.getBoundingClientRect()
    if ((right > clientWidth + 1 || left < -1) && isShown(element) && !scrolls(element))
      faults.push(`${describe(element)} is cut off: from ${left.toFixed(0)} to ${right.toFixed(0)} px`)
  }

  const main = document.querySelector('main')
  const hasDialog = document.querySelector('[role=dialog], [role=alertdialog]') !== null
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

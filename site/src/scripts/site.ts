/** What pages do in the browser: copy, theme, menu, contents, tabs, filter. Without it every page can still be read. */
import './search.ts'

const root = document.documentElement
const all = <T extends Element>(selector: string): T[] => [...document.querySelectorAll<T>(selector)]
const COPIED_MS = 1_600

async function copied(button: Element, text: string): Promise<void> {
  const label = button.querySelector('span') ?? button.lastChild
  const before = label?.textContent ?? ''
  let said = 'Copied'
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    said = 'Select and copy'
  }
  if (label === null || label === undefined) return
  label.textContent = said
  setTimeout(() => (label.textContent = before), COPIED_MS)
}

for (const button of all('.copy'))
  button.addEventListener('click', () => {
    const frame = button.closest('.code, .tabs')
    const code =
      frame?.querySelector('[role=tabpanel]:not([hidden]) pre.copied, pre.copied') ??
      frame?.querySelector('[role=tabpanel]:not([hidden]) pre, pre')
    void copied(button, (code?.textContent ?? '').replace(/\n$/, ''))
  })

for (const link of all<HTMLAnchorElement>('[data-copy-page]'))
  link.addEventListener('click', (event) => {
    event.preventDefault()
    void fetch(link.href).then(async (answer) => copied(link, await answer.text()))
  })

for (const button of all('[data-theme-toggle]'))
  button.addEventListener('click', () => {
    const theme = root.dataset['theme'] === 'dark' ? 'light' : 'dark'
    root.dataset['theme'] = theme
    store('starlight-theme', theme)
  })

const menu = document.querySelector('[data-menu-toggle]')
menu?.addEventListener('click', () => {
  const isOpen = root.toggleAttribute('data-menu')
  menu.setAttribute('aria-expanded', String(isOpen))
})
addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape' || !root.hasAttribute('data-menu')) return
  root.removeAttribute('data-menu')
  menu?.setAttribute('aria-expanded', 'false')
})

/** The last heading above the upper third of the screen is the current one. */
function markCurrent(): void {
  const headings = all('.text h2[id]')
  const current = headings.findLast((one) => one.getBoundingClientRect().top < innerHeight / 3) ?? headings[0]
  for (const link of all<HTMLAnchorElement>('[data-toc] a')) {
    const isCurrent = link.hash === `#${current?.id ?? ''}`
    link.classList.toggle('current', isCurrent)
  }
  const label = document.querySelector('[data-current]')
  if (label) label.textContent = current?.textContent ?? ''
}
if (document.querySelector('[data-toc]') !== null) {
  let isWaiting = false
  addEventListener(
    'scroll',
    () => {
      if (isWaiting) return
      isWaiting = true
      requestAnimationFrame(() => {
        isWaiting = false
        markCurrent()
      })
    },
    { passive: true },
  )
  markCurrent()
  for (const link of all('.toc-bar a'))
    link.addEventListener('click', () => link.closest('details')?.removeAttribute('open'))
}

/** A choice of a language holds for all pages. */
function choose(name: string): void {
  for (const tab of all<HTMLElement>('[role=tab]')) {
    const tabs = tab.closest('.tabs')
    if (![...(tabs?.querySelectorAll('[role=tab]') ?? [])].some((one) => one.textContent === name)) continue
    const isChosen = tab.textContent === name
    tab.setAttribute('aria-selected', String(isChosen))
    document.getElementById(tab.getAttribute('aria-controls') ?? '')?.toggleAttribute('hidden', !isChosen)
  }
}
for (const tab of all<HTMLElement>('[role=tab]'))
  tab.addEventListener('click', () => {
    choose(tab.textContent)
    if (tab.closest('.tabs')?.hasAttribute('data-remember')) store('torana-language', tab.textContent)
  })
const language = stored('torana-language')
if (language !== null) choose(language)

for (const filter of all<HTMLInputElement>('.filter')) {
  filter.hidden = document.querySelector('.text table') === null
  filter.addEventListener('input', () => {
    const words = filter.value.toLowerCase().split(/\s+/)
    for (const row of all<HTMLElement>('.text tbody tr'))
      row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word))
  })
}

/** On a phone, a row of a wide table shows its first cells; a tap shows the rest. */
for (const row of all('table.wide tbody tr'))
  row.addEventListener('click', () => row.classList.toggle('open'))

function stored(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value)
  } catch {
    // A browser that forbids storage forgets the choice with the page.
  }
}

/** The search: names that match exactly come first, then Pagefind's results by kind of page. */

interface Name {
  readonly key: string
  readonly title: string
  readonly page: string
  readonly url: string
  readonly group: string
}
interface Found {
  readonly url: string
  readonly excerpt: string
  readonly meta: { readonly title?: string; readonly group?: string }
  readonly sub_results: readonly { readonly title: string; readonly url: string; readonly excerpt: string }[]
}
interface Pagefind {
  init(): Promise<void>
  options(options: object): Promise<void>
  debouncedSearch(
    query: string,
    options: object,
    ms: number,
  ): Promise<{ results: { data(): Promise<Found> }[] } | null>
}
interface Hit {
  readonly title: string
  readonly page: string
  readonly url: string
  readonly excerpt: string
  readonly isNested: boolean
}

const GROUPS = ['Guides', 'Errors', 'On call', 'Commands and settings', 'API']
const EXACT = 'Exact match'
const MAX_EXACT = 5
const MAX_RESULTS = 24
const MAX_OF_GROUP = 5
const MAX_AT_FIRST = 8
const MAX_HEADINGS = 2
const TYPING_MS = 120

const dialog = document.querySelector<HTMLDialogElement>('[data-search]')
if (dialog !== null) start(dialog)

function start(dialog: HTMLDialogElement): void {
  const input = dialog.querySelector('input')
  const list = dialog.querySelector('.search-results')
  if (input === null || list === null) return
  const base = dialog.dataset['base'] ?? '/'
  let loaded: Promise<{ names: readonly Name[]; pagefind: Pagefind }> | undefined
  const load = (): Promise<{ names: readonly Name[]; pagefind: Pagefind }> => (loaded ??= loadIndex(base))

  const open = (): void => {
    if (!dialog.open) dialog.showModal()
    input.select()
    void load()
  }
  for (const button of document.querySelectorAll('[data-search-open]')) button.addEventListener('click', open)
  dialog.querySelector('[data-search-close]')?.addEventListener('click', () => dialog.close())
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || (target instanceof Element && target.closest('a') !== null)) dialog.close()
  })
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select')
    if (((event.ctrlKey || event.metaKey) && event.key === 'k') || (event.key === '/' && !isTyping)) {
      event.preventDefault()
      open()
    }
    if (dialog.open && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault()
      step(event.key === 'ArrowDown' ? 1 : -1)
    }
    if (dialog.open && event.key === 'Enter' && event.target === input) list.querySelector('a')?.click()
  })
  const step = (by: number): void => {
    const links = [...list.querySelectorAll<HTMLElement>('a')]
    const at = links.indexOf(document.activeElement as HTMLElement)
    ;(links[at + by] ?? input).focus()
  }
  input.addEventListener('input', () => {
    void load().then(async ({ names, pagefind }) => {
      const query = input.value.trim()
      const answer = query === '' ? null : await pagefind.debouncedSearch(query, {}, TYPING_MS)
      if (query !== input.value.trim()) return
      if (query === '') list.replaceChildren()
      if (answer === null) return
      const pages = await Promise.all(answer.results.slice(0, MAX_RESULTS).map((one) => one.data()))
      show(list, query, names, pages, dialog.dataset['issues'] ?? '')
    })
  })
}

async function loadIndex(base: string): Promise<{ names: readonly Name[]; pagefind: Pagefind }> {
  const [names, pagefind] = await Promise.all([
    fetch(`${base}names.json`).then((answer) => answer.json() as Promise<readonly Name[]>),
    import(/* @vite-ignore */ `${base}pagefind/pagefind.js`) as Promise<Pagefind>,
  ])
  await pagefind.options({ ranking: { metaWeights: { title: 10 }, termSimilarity: 2, pageLength: 0.5 } })
  await pagefind.init()
  return { names, pagefind }
}

/** As `import/names.ts` writes its keys. */
function keyOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ')
    .trim()
}

function show(
  list: Element,
  query: string,
  names: readonly Name[],
  pages: readonly Found[],
  issues: string,
): void {
  const key = keyOf(query)
  const exact = [
    ...new Set([...caseNames(query, key, names), ...names.filter((name) => isNamed(name, key))]),
  ].slice(0, MAX_EXACT)
  const groups = new Map<string, Hit[]>()
  if (exact.length > 0)
    groups.set(
      EXACT,
      exact.map(({ title, page, url }) => ({ title, page, url, excerpt: '', isNested: false })),
    )
  // The kind of the best page comes first, the others in their order.
  const best = pages[0]?.meta.group ?? ''
  for (const group of [best, ...GROUPS.filter((name) => name !== best)]) {
    const found = pages.filter(({ meta }) => meta.group === group).slice(0, MAX_OF_GROUP)
    if (found.length > 0) groups.set(group, found.flatMap(hitsOf))
  }
  const known = new Set(exact.map(({ url }) => url))
  const sections = [...groups].map(([name, hits]) => ({
    name,
    hits: name === EXACT ? hits : hits.filter(({ url }) => !known.has(url)),
  }))
  list.replaceChildren()
  if (sections.length === 0) list.append(nothing(key, names, issues))
  let shown = 0
  for (const { name, hits } of sections.filter(({ hits: some }) => some.length > 0)) {
    const title = document.createElement('p')
    title.className = 'search-group'
    title.textContent = name
    const items = hits.map((hit) => {
      const item = link(hit)
      if (!hit.isNested) shown += 1
      item.hidden = shown > MAX_AT_FIRST
      return item
    })
    title.hidden = items.every(({ hidden }) => hidden)
    list.append(title, ...items)
  }
  if (shown > MAX_AT_FIRST) {
    const more = document.createElement('button')
    more.type = 'button'
    more.className = 'search-more'
    more.textContent = `Show ${shown - MAX_AT_FIRST} more`
    more.addEventListener('click', () => {
      for (const hidden of list.querySelectorAll<HTMLElement>('[hidden]')) hidden.hidden = false
      more.remove()
    })
    list.append(more)
  }
}

/** The name itself, its plural, or a section of a guide that begins with it: `LangChain for Python`. */
function isNamed(name: Name, key: string): boolean {
  if (name.key === key || name.key === `${key}s`) return true
  return (
    name.group === 'Guides' &&
    name.url.includes('#') &&
    /^[ .]/.test(name.key.startsWith(key) ? name.key.slice(key.length) : '')
  )
}

/** Who describes a symptom in words is on call: a case with all of them comes before an error code. */
function caseNames(query: string, key: string, names: readonly Name[]): readonly Name[] {
  const words = key.split(' ')
  if (words.length < 2 || query.includes('_')) return []
  return names.filter(
    (name) => name.group === 'On call' && words.every((word) => name.key.split(' ').includes(word)),
  )
}

function hitsOf({ url, meta, excerpt, sub_results: parts }: Found): Hit[] {
  const page = { title: meta.title ?? url, page: '', url, excerpt, isNested: false }
  const headings = parts
    .filter((part) => part.url.includes('#') && !part.url.endsWith('#_top'))
    .slice(0, MAX_HEADINGS)
  return [page, ...headings.map((part) => ({ ...part, page: '', isNested: true }))]
}

function link({ title, page, url, excerpt, isNested }: Hit): HTMLAnchorElement {
  const item = document.createElement('a')
  item.href = url
  item.className = isNested ? 'hit nested' : 'hit'
  const name = document.createElement('b')
  name.textContent = title
  const about = document.createElement('span')
  // Pagefind escapes the text of pages, and adds only `<mark>`.
  if (page === '') about.innerHTML = excerpt
  else about.textContent = page === title ? '' : page
  item.append(name, about)
  return item
}

function nothing(key: string, names: readonly Name[], issues: string): HTMLElement {
  const words = new Set(names.map((name) => name.key))
  const nearest = [...words]
    .map((word) => ({ word, far: distance(word, key) }))
    .toSorted((a, b) => a.far - b.far)
  const text = document.createElement('p')
  text.className = 'search-nothing'
  const ask = document.createElement('a')
  ask.href = issues
  ask.textContent = 'Ask on GitHub'
  const found = nearest.slice(0, 3).map(({ word }) => names.find((name) => name.key === word))
  text.append('No page has these words. Nearest: ')
  for (const name of found) {
    if (name === undefined) continue
    const item = document.createElement('a')
    item.href = name.url
    item.textContent = name.title
    text.append(item, ' · ')
  }
  text.append(ask)
  return text
}

/** Letters to change, add or drop until one word is the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1)
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
        ),
      )
    row = next
  }
  return row[b.length] ?? 0
}

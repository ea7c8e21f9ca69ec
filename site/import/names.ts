/** Exact names that a reader pastes into the search: error codes, alerts, variables, metrics, commands, headings. */
import GithubSlugger from 'github-slugger'
import { plainText, type Page } from './pages.ts'

export interface Name {
  /** In small letters, words joined by one space. */
  readonly key: string
  readonly title: string
  readonly page: string
  readonly url: string
  readonly group: string
}

export const GUIDES = 'Guides'
/** The group of a page in the results. Pages that are not named here are guides. */
const GROUPS: Readonly<Record<string, string>> = {
  errors: 'Errors',
  'on-call': 'On call',
  cli: 'Commands and settings',
  configuration: 'Commands and settings',
  metrics: 'Commands and settings',
  headers: 'Commands and settings',
  'image-models': 'Commands and settings',
}

export function groupOf(slug: string): string {
  return GROUPS[slug] ?? GUIDES
}

/** As `search.js` writes a query: `Budget_exhausted` and `budget exhausted` are one. */
export function keyOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ')
    .trim()
}

/** In the order in which the search shows them. `sources` is the order of the pages in `docs/README.md`. */
export function namesOf(pages: readonly Page[], sources: readonly string[], base: string): Name[] {
  const names = pages
    .filter(({ source }) => /^docs\/(?:[^/]+|recipes\/[^/]+)$/.test(source))
    .toSorted((a, b) => sources.indexOf(a.source) - sources.indexOf(b.source))
    .flatMap((page) => [...headingsOf(page, base), ...rowsOf(page, base)])
  const found = new Map<string, Name>()
  // A page that describes a name comes before one whose heading happens to be the same word.
  for (const name of names.toSorted((a, b) => order(a) - order(b)))
    if (!found.has(`${name.key} ${name.url}`)) found.set(`${name.key} ${name.url}`, name)
  return [...found.values()]
}

/** Within guides, a page comes before a section of another. */
function order({ group, url }: Name): number {
  const kinds = ['Errors', 'On call', 'Commands and settings', GUIDES]
  return kinds.indexOf(group) * 2 + (url.includes('#') ? 1 : 0)
}

function headingsOf({ slug, title, body }: Page, base: string): Name[] {
  const slugger = new GithubSlugger()
  const page = { page: title, group: groupOf(slug) }
  const names: Name[] = [{ key: keyOf(title), title, url: `${base}${slug}/`, ...page }]
  for (const line of outsideOfBlocks(body).split('\n')) {
    const [, text] = /^#{2,4} (.+)$/.exec(line) ?? []
    if (text !== undefined) {
      const plain = plainText(text)
      const url = `${base}${slug}/#${slugger.slug(plain)}`
      names.push({ key: keyOf(plain), title: plain, url, ...page })
      // `torana keys create` is found as `keys create` too.
      if (slug === 'cli')
        names.push({ key: keyOf(plain.replace(/^torana /, '')), title: plain, url, ...page })
    }
    // An alert is named below the heading of its section.
    const [, alert] = /^Alert `(Torana\w+)`/.exec(line) ?? []
    const last = names.at(-1)
    if (alert !== undefined && last !== undefined) names.push({ ...last, key: keyOf(alert) })
  }
  return names
}

/** The first cells of generated tables: metrics, variables, settings; and statuses of errors. */
function rowsOf({ slug, title, body }: Page, base: string): Name[] {
  const page = { page: title, group: groupOf(slug) }
  if (slug === 'errors')
    return [...body.matchAll(/^\| \[`(\w+)`\]\(#(\w+)\) \| (\d{3})/gm)].map(
      ([, code = '', anchor = '', status = '']) => ({
        key: status,
        title: code,
        url: `${base}${slug}/#${anchor}`,
        ...page,
      }),
    )
  if (page.group !== 'Commands and settings') return []
  return [...body.matchAll(/^\| `([\w.-]+)`/gm)].map(([, name = '']) => ({
    key: keyOf(name),
    title: name,
    url: `${base}${slug}/#${name}`,
    ...page,
  }))
}

function outsideOfBlocks(markdown: string): string {
  return markdown.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
}

/** What becomes a page, where it is found on the site, and in which section of the sidebar. `docs/README.md` is the plan. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export interface Page {
  /** In the repository: `docs/access.md`. */
  readonly source: string
  /** On the site, between two slashes: `access`, `inside/money`, `decisions/2026-11-15-dependencies`. */
  readonly slug: string
  readonly title: string
  /** Without its first heading, which is the title. */
  readonly body: string
}

export interface Section {
  readonly name: string
  readonly entries: readonly SectionEntry[]
}

export interface SectionEntry {
  readonly label: string
  /** As it stands in `docs/README.md`: `access.md`, `billing.md#budgets`, `../SECURITY.md`. */
  readonly target: string
  readonly purpose: string
}

const INDEX = 'docs/README.md'
/** Pages that lie beside the documentation. */
const BESIDE = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']

export function readPages(root: string): Page[] {
  const sources = [
    ...globSync('docs/*.md', { cwd: root }).filter((source) => source !== INDEX),
    ...globSync('docs/{decisions,inside}/*.md', { cwd: root }),
    ...BESIDE,
  ]
  return sources.toSorted().map((source) => readPage(root, source))
}

function readPage(root: string, source: string): Page {
  const text = readFileSync(join(root, source), 'utf8')
  const heading = /^# (.+)$/m.exec(text)
  if (heading === null) throw new Error(`${source} has no first heading: it is the title of the page`)
  const body = text.slice(0, heading.index) + text.slice(heading.index + heading[0].length)
  return { source, slug: slugOf(source), title: (heading[1] ?? '').replaceAll('`', ''), body }
}

function slugOf(source: string): string {
  const name = basename(source, '.md').toLowerCase()
  if (source === 'SECURITY.md') return 'security-policy'
  const [, folder] = /^docs\/(decisions|inside)\//.exec(source) ?? []
  return folder === undefined ? name : `${folder}/${name}`
}

/** The sections of `docs/README.md`: a heading each, and a table whose first column links to a page. */
export function readSections(root: string): Section[] {
  const parts = readFileSync(join(root, INDEX), 'utf8').split(/^## /m).slice(1)
  return parts.map((part) => ({
    name: part.slice(0, part.indexOf('\n')).trim(),
    entries: part.split('\n').flatMap((line) => {
      const [, links = '', purpose = ''] = /^\| (\[.*?) \| (.*?) \|$/.exec(line) ?? []
      return [...links.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, label = '', target = '']) => ({
        label,
        target,
        purpose,
      }))
    }),
  }))
}

/** A page that no section names would be found by nobody. */
export function unlisted(pages: readonly Page[], sections: readonly Section[]): string[] {
  const listed = new Set(
    sections.flatMap(({ entries }) => entries.map(({ target }) => target.replace(/#.*$/, ''))),
  )
  return pages
    .filter(({ source }) => source.startsWith('docs/') && !source.startsWith('docs/decisions/'))
    .map(({ source }) => source)
    .filter((source) => !listed.has(source.slice('docs/'.length)))
}

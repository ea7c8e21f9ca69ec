/** Which files become pages, their addresses, and their sections. `docs/README.md` is the plan. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'

export interface Page {
  /** In the repository: `docs/access.md`. */
  readonly source: string
  /** On the site, between two slashes: `access`, `recipes/pgvector`, `decisions/2026-11-15-dependencies`. */
  readonly slug: string
  readonly title: string
  /** The first paragraph as plain text, for search engines and link previews. */
  readonly description: string
  /** Without its first heading, which is the title, and without its last line, which names the next page. */
  readonly body: string
  /** The target of the line `Next: [page](page.md)`. */
  readonly next: { readonly label: string; readonly target: string } | undefined
  /** The day of the last commit that changed the source. Undefined outside of a repository. */
  readonly updated: string | undefined
}

export interface Section {
  readonly name: string
  readonly entries: readonly SectionEntry[]
}

export interface SectionEntry {
  readonly label: string
  /** As `docs/README.md` links to it: `access.md`, `billing.md#budgets`, `../SECURITY.md`. */
  readonly target: string
  readonly purpose: string
}

const INDEX = 'docs/README.md'
/** Pages outside of `docs/`. */
const OUTSIDE = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']
/** Search engines cut a description after about this length. */
const MAX_DESCRIPTION_CHARACTERS = 180

export function readPages(root: string): Page[] {
  const sources = [
    ...globSync('docs/*.md', { cwd: root }).filter((source) => source !== INDEX),
    ...globSync('docs/{recipes,decisions,inside}/*.md', { cwd: root }),
    ...OUTSIDE,
  ]
  const days = lastCommits(root)
  return sources.toSorted().map((source) => readPage(root, source, days.get(source)))
}

function readPage(root: string, source: string, updated: string | undefined): Page {
  const text = readFileSync(join(root, source), 'utf8')
  const heading = /^# (.+)$/m.exec(text)
  if (heading === null) throw new Error(`${source} has no first heading: it is the title of the page`)
  const whole = text.slice(0, heading.index) + text.slice(heading.index + heading[0].length)
  const last = /\nNext: \[([^\]]+)\]\(([^)]+)\)\.?\s*$/.exec(whole)
  return {
    source,
    slug: slugOf(source),
    title: (heading[1] ?? '').replaceAll('`', ''),
    description: descriptionOf(whole),
    body: last === null ? whole : whole.slice(0, last.index),
    next: last === null ? undefined : { label: last[1] ?? '', target: last[2] ?? '' },
    updated,
  }
}

function slugOf(source: string): string {
  const name = basename(source, '.md').toLowerCase()
  if (source === 'SECURITY.md') return 'security-policy'
  const [, folder] = /^docs\/(recipes|decisions|inside)\//.exec(source) ?? []
  return folder === undefined ? name : `${folder}/${name}`
}

function descriptionOf(body: string): string {
  const first = body
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .find((part) => part !== '' && !/^(?:[#|<>!`-]|\d+\.)/.test(part))
  const plain = plainText(first ?? '').replaceAll(/\s+/g, ' ')
  if (plain.length <= MAX_DESCRIPTION_CHARACTERS) return plain
  const sentence = plain.slice(0, MAX_DESCRIPTION_CHARACTERS).lastIndexOf('. ')
  if (sentence > 60) return plain.slice(0, sentence + 1)
  return `${plain.slice(0, plain.lastIndexOf(' ', MAX_DESCRIPTION_CHARACTERS))} …`
}

/** Markdown of one line without its marks. */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]|<[^>]+>/g, '')
    .trim()
}

/** One walk over the history: the first commit that names a file is its last. */
function lastCommits(root: string): ReadonlyMap<string, string> {
  const days = new Map<string, string>()
  if (!existsSync(join(root, '.git'))) return days
  const log = execFileSync('git', ['log', '--format=%n%cs', '--name-only', '--', 'docs', ...OUTSIDE], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: MAX_LOG_BYTES,
  })
  let day = ''
  for (const line of log.split('\n'))
    if (/^\d{4}-\d\d-\d\d$/.test(line)) day = line
    else if (line !== '' && !days.has(line)) days.set(line, day)
  return days
}
/** Names of files of every commit: a few megabytes after years. */
const MAX_LOG_BYTES = 64_000_000

/** The sections of `docs/README.md`: a heading each, and a table that links to a page in its first column. */
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

/** The section of each page, by source. */
export function sectionsBySource(sections: readonly Section[]): ReadonlyMap<string, string> {
  return new Map(
    sections.flatMap(({ name, entries }) =>
      entries.map(({ target }) => [posix.join('docs', target.replace(/#.*$/, '')), name] as const),
    ),
  )
}

/** Pages that no section names: no reader would find them. */
export function unlisted(pages: readonly Page[], sections: readonly Section[]): string[] {
  const listed = sectionsBySource(sections)
  return pages
    .map(({ source }) => source)
    .filter((source) => source.startsWith('docs/') && !source.startsWith('docs/decisions/'))
    .filter((source) => !listed.has(source))
}

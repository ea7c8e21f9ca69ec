/** `docs/` stays plain Markdown that GitHub shows; this writes it as the pages that Starlight builds the site from. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { withTitles } from './blocks.ts'
import { cardName, drawCards, type Card } from './cards.ts'
import { drawDiagrams, drawnFiles, sizeOf, withPictures, type Diagram } from './diagrams.ts'
import { folderSlug, linksOf, rewritten } from './links.ts'
import { llmsFullText, llmsText } from './llms.ts'
import { groupOf, namesOf } from './names.ts'
import { withSteps } from './on-call.ts'
import { pagesThatRan } from './ran.ts'
import { readPages, readSections, sectionsBySource, unlisted, type Page } from './pages.ts'
import { sidebarOf } from './sidebar.ts'

const site = join(import.meta.dirname, '..')
const root = join(site, '..')
const content = join(site, 'src/content/docs')
const published = join(site, 'public')
/** The path below which the site is served, with a slash at both ends. */
const base = process.env['SITE_BASE'] ?? '/'
/** The card of pages that have none of their own. */
const HOME_CARD: Card = {
  title: 'The gateway for embeddings and images',
  line: 'Self-hosted and OpenAI-compatible. Your applications keep their SDK and change one base URL.',
}

const pages = readPages(root)
const sections = readSections(root)
const sectionOf = sectionsBySource(sections)
const lost = unlisted(pages, sections)
if (lost.length > 0) throw new Error(`no section of docs/README.md names ${lost.join(', ')}`)
const links = linksOf(root, base, pages)
const runPages = pagesThatRan(root)

rmSync(content, { recursive: true, force: true })
rmSync(published, { recursive: true, force: true })

const diagrams: Diagram[] = []
const cards: Card[] = [HOME_CARD]
const texts = new Map<string, string>()
for (const page of pages) {
  const { source, slug, body } = page
  const stepped = source === 'docs/on-call.md' ? withSteps(body) : body
  const pictured = withPictures(withTitles(rewritten(stepped, source, links)), base)
  diagrams.push(...pictured.diagrams)
  texts.set(`${slug}.md`, `${frontMatter(page)}${pictured.text}`)
}
const decisions = pages.filter(({ source }) => source.startsWith('docs/decisions/'))
texts.set(
  'decisions/index.md',
  listing('Decisions', [
    'Why things are as they are, each on the day it was decided.\n',
    ...decisions.map(
      ({ slug, title }) =>
        `- [${title}](${base}${slug}/) (${slug.slice('decisions/'.length, 'decisions/'.length + 10)})`,
    ),
  ]),
)
for (const [folder, files] of links.folders)
  texts.set(
    `${folderSlug(folder)}/index.md`,
    listing(
      folder,
      files.map((file) => `- [${file}](${base}files/${file})`),
    ),
  )

const cache = join(site, '.cache/diagrams')
await drawDiagrams(diagrams, cache)
for (const file of drawnFiles(diagrams)) move(join(cache, file), join('diagrams', file))
await drawCards(cards, join(site, '.cache/cards'), join(root, 'console'))
for (const card of cards) move(join(site, '.cache/cards', cardName(card)), join('cards', cardName(card)))

for (const [file, text] of texts) write(join(content, file), withSizes(text))
for (const file of links.files) copy(file, join('files', file))
copy('console/public/mark.svg', 'favicon.svg')
for (const theme of ['light', 'dark'])
  for (const name of ['traffic', 'traffic-phone'])
    copy(`docs/pictures/console/${name}-${theme}.png`, `${name}-${theme}.png`)
for (const { source, slug } of pages) copy(source, `${slug}.md`)
for (const contract of ['gateway.openapi.json', 'control.openapi.json', 'torana.schema.json'])
  copy(`contract/${contract}`, contract)
write(
  join(published, 'llms.txt'),
  llmsText(sections, (target) => links.resolve('docs/README.md', target).replace(/\/(?:#.*)?$/, '.md')),
)
write(join(published, 'llms-full.txt'), llmsFullText(pages))
write(join(published, 'names.json'), JSON.stringify(namesOf(pages, [...sectionOf.keys()], base)))
write(
  join(site, '.cache/site.json'),
  JSON.stringify({ sidebar: sidebarOf(sections, pages), homeCard: cardName(HOME_CARD) }, null, 2),
)
process.stdout.write(`${pages.length} pages, ${diagrams.length} diagrams, ${links.files.size} files\n`)

function frontMatter(page: Page): string {
  const { source, slug, title, description, updated, next } = page
  const isListed = sectionOf.has(source)
  const card = { title, line: description }
  if (isListed) cards.push(card)
  return yaml({
    title,
    description,
    slug,
    source,
    section: sectionOf.get(source),
    group: groupOf(slug),
    updated,
    isRun: runPages.has(source),
    card: isListed ? cardName(card) : undefined,
    // Decisions and the changelog explain the past: a search is for what holds today.
    pagefind: isListed,
    ...(next && { next: { label: next.label, link: links.resolve(source, next.target) } }),
  })
}

function listing(title: string, lines: readonly string[]): string {
  return `${yaml({ title, pagefind: false })}\n${lines.join('\n')}\n`
}

/** JSON is YAML. */
function yaml(fields: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(fields).filter(([, value]) => value !== undefined)
  return `---\n${lines.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join('\n')}\n---\n`
}

/** The size of each drawing is in the page, so that nothing jumps when it is loaded. */
function withSizes(text: string): string {
  return text.replaceAll(/src="[^"]*diagrams\/(\w+-(?:light|dark)\.svg)"/g, (attribute, file: string) => {
    const { width, height } = sizeOf(join(cache, file))
    return `${attribute} width="${width}" height="${height}" style="--width: ${width}px"`
  })
}

function move(from: string, to: string): void {
  mkdirSync(dirname(join(published, to)), { recursive: true })
  cpSync(from, join(published, to))
}

function copy(from: string, to: string): void {
  write(join(published, to), readFileSync(join(root, from)))
}

function write(path: string, text: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

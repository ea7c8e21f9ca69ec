/** `docs/` stays plain Markdown that GitHub shows; this writes it as the pages that Starlight builds the site from. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { drawDiagrams, drawnFiles, sizeOf, withPictures, type Diagram } from './diagrams.ts'
import { folderSlug, linksOf, rewritten } from './links.ts'
import { llmsFullText, llmsText } from './llms.ts'
import { readPages, readSections, unlisted } from './pages.ts'
import { sidebarOf } from './sidebar.ts'

const site = join(import.meta.dirname, '..')
const root = join(site, '..')
const content = join(site, 'src/content/docs')
const published = join(site, 'public')
/** The path below which the site is served, with a slash at both ends. */
const base = process.env['SITE_BASE'] ?? '/'

const pages = readPages(root)
const sections = readSections(root)
const lost = unlisted(pages, sections)
if (lost.length > 0) throw new Error(`no section of docs/README.md names ${lost.join(', ')}`)
const links = linksOf(root, base, pages)

rmSync(content, { recursive: true, force: true })
rmSync(published, { recursive: true, force: true })

const diagrams: Diagram[] = []
const texts = new Map<string, string>()
for (const { source, slug, title, body } of pages) {
  const pictured = withPictures(rewritten(body, source, links), base)
  diagrams.push(...pictured.diagrams)
  texts.set(`${slug}.md`, `---\ntitle: ${JSON.stringify(title)}\nslug: ${slug}\n---\n${pictured.text}`)
}
const decisions = pages.filter(({ source }) => source.startsWith('docs/decisions/'))
texts.set(
  'decisions/index.md',
  `---\ntitle: Decisions\n---\n\nWhy things are as they are, each on the day it was decided.\n\n${decisions
    .map(
      ({ slug, title }) =>
        `- [${title}](${base}${slug}/) (${slug.slice('decisions/'.length, 'decisions/'.length + 10)})`,
    )
    .join('\n')}\n`,
)

for (const [folder, files] of links.folders) {
  const list = files.map((file) => `- [${file}](${base}files/${file})`)
  texts.set(
    `${folderSlug(folder)}/index.md`,
    `---\ntitle: ${JSON.stringify(folder)}\n---\n\n${list.join('\n')}\n`,
  )
}

const cache = join(site, '.cache/diagrams')
await drawDiagrams(diagrams, cache)
mkdirSync(join(published, 'diagrams'), { recursive: true })
for (const file of drawnFiles(diagrams)) cpSync(join(cache, file), join(published, 'diagrams', file))

// The first page is written by hand; its links need the path of the site.
write(join(content, 'index.mdx'), readFileSync(join(site, 'home.mdx'), 'utf8').replaceAll('BASE/', base))
for (const [file, text] of texts) write(join(content, file), withSizes(text))
for (const file of links.files) copy(file, join('files', file))
copy('console/public/mark.svg', 'favicon.svg')
for (const theme of ['light', 'dark'])
  copy(`docs/pictures/console/overview-${theme}.png`, `overview-${theme}.png`)
for (const { source, slug } of pages) copy(source, `${slug}.md`)
for (const contract of ['gateway.openapi.json', 'control.openapi.json', 'torana.schema.json'])
  copy(`contract/${contract}`, contract)
write(
  join(published, 'llms.txt'),
  llmsText(sections, (target) => links.resolve('docs/README.md', target).replace(/\/(?:#.*)?$/, '.md')),
)
write(join(published, 'llms-full.txt'), llmsFullText(pages))
write(join(site, '.cache/sidebar.json'), JSON.stringify(sidebarOf(sections, pages), null, 2))
process.stdout.write(`${pages.length} pages, ${diagrams.length} diagrams, ${links.files.size} files\n`)

/** The size of each drawing stands in the page, so that nothing jumps when it is loaded. */
function withSizes(text: string): string {
  return text.replaceAll(/src="[^"]*diagrams\/(\w+-(?:light|dark)\.svg)"/g, (attribute, file: string) => {
    const { width, height } = sizeOf(join(cache, file))
    return `${attribute} width="${width}" height="${height}" style="--width: ${width}px"`
  })
}

function copy(from: string, to: string): void {
  write(join(published, to), readFileSync(join(root, from)))
}

function write(path: string, text: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

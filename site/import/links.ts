/** Links between files of the repository become links between pages of the site. */
import { existsSync, globSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Page } from './pages.ts'

export interface Links {
  /** The address on the site of what a file links to. */
  resolve(from: string, target: string): string
  /** Files that pages link to and that are no pages themselves: they are published as they are. */
  readonly files: ReadonlySet<string>
  /** Folders that pages link to, with their files: each gets a page with a list of them. */
  readonly folders: ReadonlyMap<string, readonly string[]>
}

/** `base` starts and ends with a slash. */
export function linksOf(root: string, base: string, pages: readonly Page[]): Links {
  const slugs = new Map(pages.map(({ source, slug }) => [source, slug]))
  const files = new Set<string>()
  const folders = new Map<string, readonly string[]>()
  return {
    files,
    folders,
    resolve(from, target) {
      if (/^(?:[a-z]+:|#|\/)/.test(target)) return target
      const [path = '', anchor] = target.split('#', 2)
      const source = posix.join(posix.dirname(from), path).replace(/\/$/, '')
      const hash = anchor === undefined ? '' : `#${anchor}`
      if (source === 'docs/README.md' || source === 'docs') return base
      // The home page and the quick start replace the README. A page never links to itself.
      if (source === 'README.md')
        return hash === '' || from === 'docs/quick-start.md' ? base : `${base}quick-start/`
      if (source === 'docs/decisions') return `${base}decisions/`
      const slug = slugs.get(source)
      if (slug !== undefined) return `${base}${slug}/${hash}`
      if (!existsSync(join(root, source)))
        throw new Error(`${from} links to ${target}, which is no file of the repository`)
      if (statSync(join(root, source)).isDirectory()) {
        const inside = globSync(`${source}/**/*.*`, { cwd: root }).toSorted()
        for (const file of inside) files.add(file)
        folders.set(source, inside)
        return `${base}${folderSlug(source)}/`
      }
      files.add(source)
      return `${base}files/${source}`
    },
  }
}

/** `docs/examples/upstreams` → `examples/upstreams`. */
export function folderSlug(folder: string): string {
  return folder.replace(/^docs\//, '')
}

/** Markdown with every link and picture outside of code rewritten. */
export function rewritten(markdown: string, from: string, links: Links): string {
  return outsideOfCode(markdown, (text) =>
    text
      .replaceAll(/\]\(([^)\s]+)\)/g, (_, target: string) => `](${links.resolve(from, target)})`)
      .replaceAll(
        /\b(src|srcset|href)="([^"]+)"/g,
        (_, attribute: string, target: string) => `${attribute}="${links.resolve(from, target)}"`,
      ),
  )
}

function outsideOfCode(markdown: string, change: (text: string) => string): string {
  return markdown
    .split(/(^ *```[\s\S]*?^ *```$|`[^`\n]+`)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('')
}

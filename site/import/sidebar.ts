/** The sidebar has the sections of `docs/README.md`, in their order and with their words. */
import { posix } from 'node:path'
import type { Page, Section } from './pages.ts'

export interface SidebarGroup {
  readonly label: string
  readonly items: readonly { readonly label: string; readonly link: string }[]
}

export function sidebarOf(sections: readonly Section[], pages: readonly Page[]): SidebarGroup[] {
  const slugs = new Map(pages.map(({ source, slug }) => [source, slug]))
  return sections.map(({ name, entries }) => ({
    label: name,
    items: entries.map(({ label, target }) => {
      const [path = '', anchor] = target.split('#', 2)
      const source = posix.join('docs', path)
      const slug = source === 'docs/decisions' ? 'decisions' : slugs.get(source)
      if (slug === undefined) throw new Error(`docs/README.md links to ${target}, which is no page`)
      return { label, link: `/${slug}/${anchor === undefined ? '' : `#${anchor}`}` }
    }),
  }))
}

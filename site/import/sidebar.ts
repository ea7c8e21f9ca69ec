/** The sidebar has the sections of `docs/README.md`, in their order and with their words. */
import { posix } from 'node:path'
import type { Page, Section } from './pages.ts'

export interface SidebarLink {
  readonly label: string
  readonly link: string
}
export interface SidebarGroup {
  readonly label: string
  readonly items: readonly SidebarLink[]
}

/** Decisions explain the past; readers of a task do not need them. */
const LEFT_OUT = new Set(['decisions', '../SECURITY.md'])

export function sidebarOf(sections: readonly Section[], pages: readonly Page[]): SidebarGroup[] {
  const slugs = new Map(pages.map(({ source, slug }) => [source, slug]))
  return sections.map(({ name, entries }) => ({
    label: name,
    items: entries
      .filter(({ target }) => !LEFT_OUT.has(target))
      .map(({ label, target }) => {
        const [path = '', anchor] = target.split('#', 2)
        const slug = slugs.get(posix.join('docs', path))
        if (slug === undefined) throw new Error(`docs/README.md links to ${target}, which is no page`)
        return { label, link: `/${slug}/${anchor === undefined ? '' : `#${anchor}`}` }
      }),
  }))
}

/** Links of the built pages. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface BuiltPage {
  /** On the site: `/quick-start/`. */
  readonly path: string
  readonly folder: string
  readonly html: string
}

export function readSite(folder: string): BuiltPage[] {
  return globSync('**/*.html', { cwd: folder })
    .toSorted()
    .map((file) => ({
      path: `/${file.replaceAll('\\', '/').replace(/index\.html$/, '')}`,
      folder,
      html: readFileSync(join(folder, file), 'utf8'),
    }))
}

/** `base` starts and ends with a slash. */
export function linkProblems(pages: readonly BuiltPage[], base: string): string[] {
  const ids = new Map(pages.map(({ path, html }) => [path, new Set(idsOf(html))]))
  return pages.flatMap(({ path, folder, html }) =>
    [...new Set(linksOf(html))].flatMap((link) => {
      if (!/^[/#]/.test(link)) return []
      const { pathname, hash } = new URL(link, `http://site${path}`)
      if (link.startsWith('/') && !pathname.startsWith(base))
        return [`${path} links to ${link}, which is outside of ${base}`]
      const target = decodeURIComponent(link.startsWith('/') ? pathname.slice(base.length - 1) : pathname)
      const anchor = decodeURIComponent(hash.slice(1))
      if (target === path && anchor === '' && link !== '#_top')
        return [`${path} links to itself: ${textOf(html, link)}`]
      const known = ids.get(target)
      if (known === undefined)
        return existsSync(join(folder, target)) ? [] : [`${path} links to ${link}, which does not exist`]
      return anchor === '' || known.has(anchor)
        ? []
        : [`${path} links to ${link}, an anchor that does not exist`]
    }),
  )
}

function linksOf(html: string): string[] {
  return [...html.matchAll(/<a\b[^>]*?\bhref="([^"]*)"/g)].map(([, link = '']) =>
    link.replaceAll('&amp;', '&').replaceAll('&#38;', '&'),
  )
}

function idsOf(html: string): string[] {
  return [...html.matchAll(/\b(?:id|name)="([^"]+)"/g)].map(([, id = '']) => id)
}

/** The words of a link, so that its writer finds it. */
function textOf(html: string, link: string): string {
  const [, text = ''] =
    new RegExp(`<a\\b[^>]*href="${RegExp.escape(link)}"[^>]*>([\\s\\S]*?)</a>`).exec(html) ?? []
  return text.replaceAll(/<[^>]+>/g, '').trim()
}

/** Modules made when the console is built: `virtual:docs` lists the documentation by its titles, `virtual:contract/…` is an OpenAPI document. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const DOCS = join(import.meta.dirname, '../docs')
const MODULES: Readonly<Record<string, () => string>> = {
  'virtual:docs': () => `export const DOCS = ${JSON.stringify(docPages())}`,
  'virtual:contract/gateway': () => contractOf('gateway'),
  'virtual:contract/control': () => contractOf('control'),
}
/** Folders of pages for readers; the others are for those who change Torana. */
const FOLDERS = ['', 'recipes']

export interface DocPage {
  /** `routing`, `recipes/rag`. */
  readonly path: string
  readonly title: string
  /** Anchor and text of each heading of the second level. */
  readonly headings: readonly (readonly [anchor: string, text: string])[]
}

export function docsIndex(): Plugin {
  return {
    name: 'docs-index',
    resolveId: (id) => (Object.hasOwn(MODULES, id) ? `\0${id}` : undefined),
    load: (id) => MODULES[id.slice(1)]?.(),
  }
}

/** A browser reads JSON faster than code. */
function contractOf(name: string): string {
  const text = readFileSync(join(DOCS, '../contract', `${name}.openapi.json`), 'utf8')
  return `export const CONTRACT = JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(text)))})`
}

function docPages(): readonly DocPage[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(DOCS, folder))
      .filter((name) => name.endsWith('.md') && name !== 'README.md')
      .toSorted()
      .map((name) => pageOf(join(folder, name))),
  )
}

function pageOf(file: string): DocPage {
  const markdown = readFileSync(join(DOCS, file), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
  const textOf = (heading: string): string =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[`*]/g, '')
      .trim()
  return {
    path: file.replace(/\.md$/, ''),
    title: textOf(/^# (.*)$/m.exec(markdown)?.[1] ?? file),
    headings: Array.from(markdown.matchAll(/^## (.*)$/gm), ([, heading = '']) => {
      const text = textOf(heading)
      return [anchorOf(text), text] as const
    }),
  }
}

/** As GitHub makes it. */
function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

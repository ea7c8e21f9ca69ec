/** The documentation as a list of titles, made when the console is built: `import { DOCS } from 'virtual:docs'`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const DOCS = join(import.meta.dirname, '../docs')
const ID = 'virtual:docs'
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
    resolveId: (id) => (id === ID ? `\0${ID}` : undefined),
    load: (id) => (id === `\0${ID}` ? `export const DOCS = ${JSON.stringify(docPages())}` : undefined),
  }
}

export function docPages(): readonly DocPage[] {
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

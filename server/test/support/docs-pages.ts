/** README and the pages of docs/, as the checks of the documentation read them. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const REPOSITORY = join(import.meta.dirname, '../../..')

export interface Page {
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
}

/** Made whole by `npm run generate`: their words are the code's, and the tests of the code check their names. */
const GENERATED = /^docs\/(?:cli|configuration|errors|image-models|metrics)\.md$/

export function docsPages(): readonly Page[] {
  const paths = ['README.md', ...globSync('docs/{,recipes/}*.md', { cwd: REPOSITORY }).toSorted()]
  return paths.map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), 'utf8') }))
}

export function isGenerated({ path }: Page): boolean {
  return GENERATED.test(path)
}

const FENCE = /^ *```[\s\S]*?^ *```$/gm
/** A part that `npm run generate` or a program of the lab fills in. */
const FILLED = /<!-- (generated|fig)\b[\s\S]*?<!-- \/\1 -->/g
const COMMENT = /<!--[\s\S]*?-->/g

/** Without code blocks and comments. Code within a sentence stays. */
export function proseOf(text: string): string {
  return text.replaceAll(FENCE, '').replaceAll(COMMENT, '')
}

/** Without code within sentences, addresses of links and filled parts, too: the words that a person wrote. */
export function wordsOf(text: string): string {
  return proseOf(text.replaceAll(FILLED, ''))
    .replaceAll(/`[^`\n]*`/g, '')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/https?:\/\/\S+/g, '')
    .replaceAll(/<[^>]+>/g, '')
}

/** Every `code` of the prose. */
export function inlineCodesOf(text: string): readonly string[] {
  return [...proseOf(text).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
}

/** Words that a person wrote, code blocks included, without blocks that repeat an example and without filled parts. */
export function handWrittenWords(text: string, examples: readonly string[]): number {
  const own = text
    .replaceAll(FILLED, '')
    .replaceAll(/^```\w*\n([\s\S]*?)^```$/gm, (block, body: string) =>
      examples.some((example) => example.includes(body.trim())) ? '' : block,
    )
    .replaceAll(COMMENT, '')
  return own.split(/\s+/).filter(Boolean).length
}

/** The texts of docs/examples, which pages repeat word for word. */
export function exampleTexts(): readonly string[] {
  return globSync('docs/examples/**/*.*', { cwd: REPOSITORY }).map((path) =>
    readFileSync(join(REPOSITORY, path), 'utf8'),
  )
}

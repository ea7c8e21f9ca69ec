/** The code blocks of README and documentation: which ones are commands, what they print, and why one is not run. */
import { docsPages, isGenerated, type Page } from './docs-pages.ts'

export interface Block {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly text: string
  /** The sentences since the last shell block of the page. */
  readonly before: string
  /** From `<!-- not run: reason -->` on the line before. Empty: the mark has no reason. */
  readonly notRun: string | undefined
  /** The recorded output: a `json` or `text` block directly after, or after one line that ends with a colon. */
  readonly output: Block | undefined
}

const FENCE = /^( *)```(\w*)[^\n]*\n([\s\S]*?)^ *```$/gm
const MARK = /<!-- not run\b:? *(.*?) *-->\s*$/
/** Between a command and its output, at most. */
const LEAD = /^\s*(?:[^\n]+:\s*)?$/

export function docsBlocks(pages: readonly Page[] = docsPages()): Block[] {
  return pages.flatMap((page) => blocksOf(page))
}

export function blocksOf({ path, text }: Page): Block[] {
  const found = [...text.matchAll(FENCE)]
  const blocks: Block[] = []
  for (const [index, match] of found.entries()) {
    const [, indent = '', language = '', body = ''] = match
    const last = found[index - 1]
    const gap = text.slice(last === undefined ? 0 : last.index + last[0].length, match.index)
    const previous = blocks.at(-1)
    const isOutput = /^(?:json|text)$/.test(language) && previous?.language === 'sh' && LEAD.test(gap)
    const block: Block = {
      page: path,
      line: text.slice(0, match.index).split('\n').length,
      language,
      text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      before: previous === undefined || previous.language === 'sh' ? gap : previous.before + gap,
      notRun: MARK.exec(gap)?.[1],
      output: undefined,
    }
    if (isOutput) blocks[blocks.length - 1] = { ...previous, output: block }
    blocks.push(block)
  }
  return blocks
}

/** Commands of the pages that people write. The tests of the code run the examples of generated pages. */
export function shellBlocks(pages: readonly Page[] = docsPages()): Block[] {
  return docsBlocks(pages.filter((page) => !isGenerated(page))).filter(({ language }) => language === 'sh')
}

/** Programs that no machine of the tests has, or may use. */
const FOREIGN =
  /^(?:sudo )?(?:apt-get|docker|helm|kubectl|podman|podman-compose|psql|redis-cli|systemctl|timedatectl|journalctl)\b/m
const OTHER_SHELLS = new Set(['bash', 'console', 'shell', 'shellsession', 'zsh'])

/** Why blocks of a page would neither be run nor say why not. */
export function unrunBlocks(page: Page): string[] {
  if (isGenerated(page)) return []
  return blocksOf(page).flatMap((block) => {
    const where = `${page.path}:${block.line}`
    if (OTHER_SHELLS.has(block.language))
      return [`${where}: write \`sh\`, with the output in a block of its own`]
    if (block.notRun === '') return [`${where}: "not run" needs a reason`]
    if (block.language !== 'sh')
      return block.notRun === undefined ? [] : [`${where}: "not run" belongs to a shell block`]
    const foreign = FOREIGN.exec(block.text)?.[0]
    if (foreign !== undefined && block.notRun === undefined)
      return [`${where}: no test has ${foreign}; write <!-- not run: reason --> on the line before`]
    return []
  })
}

/** The file that a page asks its reader to write, with this block in it. */
export function savedAs({ language, before }: Block): string | undefined {
  if (language !== 'yaml') return undefined
  return /\b(?:write|save)\b[^\n]*`([\w./-]+\.yaml)`[^\n`]*:\s*$/i.exec(before)?.[1]
}

/** A command that starts Torana and keeps the terminal: the last one of its block. */
const START = /(?:^|&& )(?:[A-Z_]+=\S+ )*(?:npx )?torana(?: (?:start|demo)\b[^&|]*)?(?: +#.*)?$/

export function startsTorana({ text }: Block): boolean {
  return START.test(text.trimEnd().split('\n').at(-1) ?? '')
}

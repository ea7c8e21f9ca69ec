/** The code blocks of README and documentation, and which of their commands a test can run. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const REPOSITORY = join(import.meta.dirname, '../../..')

export interface Block {
  readonly page: string
  readonly line: number
  readonly language: string
  readonly text: string
  /** Why no test can run it, from the line before: `<!-- not run: reason -->`. */
  readonly notRun: string | undefined
  /** The next block, with at most a sentence in between: usually the output of the command. */
  readonly next: Block | undefined
}

/** More than that between two blocks, and the second is about something else. */
const NEAR_CHARACTERS = 120

export function docsBlocks(): Block[] {
  const pages = ['README.md', ...globSync('docs/{,recipes/}*.md', { cwd: REPOSITORY }).toSorted()]
  return pages.flatMap(blocksOf)
}

/** `page`: its path from the root of the repository. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(REPOSITORY, page), 'utf8')
  const found = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
  const blocks: Block[] = []
  for (const match of found.toReversed()) {
    const [whole, language = '', body = ''] = match
    const [next] = blocks
    const end = match.index + whole.length
    const nextAt = next === undefined ? Infinity : (found[found.indexOf(match) + 1]?.index ?? Infinity)
    blocks.unshift({
      page,
      line: text.slice(0, match.index).split('\n').length,
      language,
      text: body,
      notRun: /<!-- not run: ([^>]+) -->\n$/.exec(text.slice(0, match.index))?.[1],
      next: nextAt - end < NEAR_CHARACTERS ? next : undefined,
    })
  }
  return blocks
}

/** Commands that no test of the documentation runs, and why. `npm run lab -- check/docs` runs everything else. */
export const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [
    /\bnpm (?:ci|install|uninstall)\b|torana import litellm|git clone/,
    'installs: the tests of the package and of the import do',
  ],
  [/npx torana(?: +#.*| &)?$/m, 'starts a node: e2e/first-start.test.ts does'],
  [/^torana (?:start|demo)\b/m, 'starts a node: e2e/first-start.test.ts does'],
  [/^(?:[A-Z_]+=\S.*\n)+$/, 'settings, no command'],
  [/npm run lab -- (?:bench|chaos)/, 'minutes of load'],
  [
    /01a1[0-9a-f]{4}|<request>|"\$url"|\/proc\/4711|assets-spool/,
    'has an id or a link of somebody else in it',
  ],
  [
    /api\/v1\/(?:upstreams|prices)|\$CONTROL|credentials set|deployments test|only=model|BAAI\/bge-m3/,
    'needs an upstream with a credential',
  ],
  [/completion (?:zsh|fish)/, "writes into the shell's own folders"],
  [/nodes end/, 'ends a node that is gone'],
  [
    /\b(?:podman|docker|helm|kubectl|systemctl) |apt-get/,
    'needs a container engine, a cluster or root: deploy/ has their checks',
  ],
  [/pg_dump|psql|DATABASE_URL=postgres/, 'needs a PostgreSQL of its own'],
]

/** Pages made from code, whose examples the tests of that code run. */
const GENERATED = new Set(['docs/cli.md', 'docs/errors.md'])

export function reasonNotToRun(block: Block): string | undefined {
  if (GENERATED.has(block.page)) return 'made from code'
  if (block.page.startsWith('docs/recipes/')) return 'run by npm run lab -- check/recipes'
  if (block.notRun !== undefined) return block.notRun
  const commands = commandsOf(block)
  return NOT_RUN.find(([pattern]) => pattern.test(commands))?.[1]
}

/** The commands that a person types: of a session with its output, the lines after `$`, without those for Python. */
export function commandsOf({ language, text }: Block): string {
  if (language !== 'console') return text
  const typed = text.split('\n').flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []))
  return typed.filter((line) => !line.startsWith('python ')).join('\n')
}

export function shellBlocks(): Block[] {
  return docsBlocks().filter(({ language }) => language === 'sh' || language === 'console')
}

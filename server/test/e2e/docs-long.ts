/**
 * Every command of README and documentation, run as written and in order, page by page, in a fresh clone of the working tree:
 * `npm run lab -- check/docs [page…]`. README and quick start begin with nothing. Install builds and installs the package; all
 * other pages use that `torana`, with the demo models running unless the page starts Torana itself. What is printed is compared
 * with the page, value by value. `--smoke` runs README and quick start only, with linked modules instead of `npm ci`.
 *
 * `docs-report.json` says which pages are green; the site marks only those.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parseArgs } from 'node:util'
import { blocksOf, shellBlocks, startsTorana, type Block } from '#test/support/docs-blocks.ts'
import { docsPages, REPOSITORY, type Page } from '#test/support/docs-pages.ts'
import { Reader, setUpDesk, tidyUp } from '#test/support/docs-reader.ts'
import { temporaryFolder } from '#test/support/process.ts'
import { freePort } from '#test/support/servers.ts'

const { values, positionals } = parseArgs({
  options: { smoke: { type: 'boolean', default: false } },
  allowPositionals: true,
})

const BEFORE_INSTALL = ['README.md', 'docs/quick-start.md']
const INSTALL = 'docs/install.md'

/** They need packages of other languages: `npm run lab -- check/recipes` runs their commands. */
const RECIPES = 'docs/recipes/'

const withCommands = docsPages().filter(
  (page) => !page.path.startsWith(RECIPES) && shellBlocks([page]).some(isRun),
)
const wanted = values.smoke ? BEFORE_INSTALL : positionals
const chosen = withCommands.filter(({ path }) => wanted.length === 0 || wanted.includes(path))
const unknown = wanted.filter((path) => !withCommands.some((page) => page.path === path))
assert.deepEqual(unknown, [], 'no pages with a command that is run')

const root = temporaryFolder()
const desk = setUpDesk(root, {
  ports: { publicPort: await freePort(), controlPort: await freePort() },
  isQuick: values.smoke,
})
let clone: string | undefined

interface Outcome {
  /** Every shell block of the page ran, and printed what the page shows. */
  readonly isGreen: boolean
  readonly run: number
  readonly failed: number
  readonly notRun: number
  /** Of the page's text: a page that changed since has no outcome. */
  readonly sha256: string
}
const outcomes: Record<string, Outcome> = {}

const pagesAt = (isWanted: (path: string) => boolean): Page[] => chosen.filter(({ path }) => isWanted(path))
const later = pagesAt((path) => !BEFORE_INSTALL.includes(path) && path !== INSTALL)
const install = withCommands.filter(({ path }) => path === INSTALL)
const isInstalling = later.length > 0 || chosen.some(({ path }) => path === INSTALL)

for (const page of pagesAt((path) => BEFORE_INSTALL.includes(path)))
  testPage(page, async () => {
    const folder = join(desk.home, page.path.replaceAll('/', '-'))
    mkdirSync(folder)
    const problems = await readThrough(page, new Reader(desk, folder))
    rmSync(folder, { recursive: true, force: true })
    return problems
  })

for (const page of isInstalling ? install : [])
  testPage(page, async () => {
    const problems = await readThrough(page, new Reader(desk, desk.home))
    clone = join(desk.home, 'torana')
    return problems
  })

for (const page of later)
  testPage(page, async () => {
    assert.ok(clone !== undefined, 'Install failed')
    tidyUp(clone)
    const startsIt = shellBlocks([page]).some((block) => isRun(block) && startsTorana(block))
    return readThrough(page, new Reader(desk, clone), { isToranaRunning: !startsIt })
  })

after(() => {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: REPOSITORY, encoding: 'utf8' }).trim()
  const report = { commit, at: new Date().toISOString(), pages: outcomes }
  writeFileSync(join(REPOSITORY, 'docs-report.json'), `${JSON.stringify(report, null, 2)}\n`)
})

function isRun({ notRun }: Block): boolean {
  return notRun === undefined
}

function testPage(page: Page, read: () => Promise<readonly string[]>): void {
  test(`${page.path}: every command runs, and prints what the page shows`, async () => {
    const blocks = shellBlocks([page])
    const run = blocks.filter(isRun).length
    const notRun = blocks.length - run
    const sha256 = createHash('sha256').update(page.text).digest('hex')
    outcomes[page.path] = { isGreen: false, run, failed: run, notRun, sha256 }
    const problems = await read()
    const failed = problems.length
    outcomes[page.path] = { isGreen: failed + notRun === 0, run, failed, notRun, sha256 }
    for (const problem of problems) console.log(`${problem}\n`)
    assert.equal(problems.length, 0, `${page.path}: ${problems.length} of ${run} blocks`)
  })
}

/** A later block is tried even if one failed: all mistakes of a page show at once. */
async function readThrough(
  page: Page,
  reader: Reader,
  { isToranaRunning = false } = {},
): Promise<readonly string[]> {
  const problems: string[] = []
  try {
    if (isToranaRunning) await reader.startTorana()
    for (const block of blocksOf(page)) {
      const problem = await reader.follow(block)
      if (problem !== undefined) problems.push(problem)
    }
  } finally {
    await reader.close()
  }
  return problems
}

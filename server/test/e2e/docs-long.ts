/**
 * Every command of README and documentation is run as written, page by page, on a node with the demo models: `npm run lab --
 * check/docs`. Commands that can't be run are in `NOT_RUN`, with the reason. Answers are compared with what the page prints.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { commandsOf, reasonNotToRun, REPOSITORY, shellBlocks, type Block } from '#test/support/docs-blocks.ts'
import { startTorana, temporaryFolder } from '#test/support/process.ts'
import { freePort } from '#test/support/servers.ts'

const MARK = '\u{1e}'
const folder = temporaryFolder()
for (const name of ['docs', 'server', 'node_modules', 'package.json'])
  symlinkSync(join(REPOSITORY, name), join(folder, name))
mkdirSync(join(folder, 'bin'))
writeFileSync(join(folder, 'bin/torana'), `#!/bin/sh\nexec node ${REPOSITORY}/server/bin/torana.js "$@"\n`, {
  mode: 0o755,
})

// Commands find the socket of their node by its port.
const CONTROL_PORT = String(await freePort())
const torana = await startTorana({ folder, env: { DATABASE_URL: '', CONTROL_PORT } })
/** Readers see them before anything is installed: `torana` alone is no command yet. */
const IN_A_CHECKOUT = new Set(['README.md', 'docs/quick-start.md'])
const env = {
  HOME: folder,
  TORANA_BASE_URL: `${torana.url}/v1`,
  TORANA_KEY: readFileSync(join(folder, '.torana/demo.key'), 'utf8').trim(),
  TORANA_ADMIN_TOKEN: readFileSync(join(folder, '.torana/admin.token'), 'utf8').trim(),
  CONTROL_PORT,
}

// A key of another gateway, which one page moves.
await bash('torana key > old-key.txt', { isInstalled: true })

const blocks = shellBlocks().filter((block) => reasonNotToRun(block) === undefined)
assert.ok(blocks.length > 30, 'found too few commands: the checks would pass vacuously')

for (const [page, ofPage] of Map.groupBy(blocks, ({ page: name }) => name)) {
  test(`${page}: every command runs, and answers what the page shows`, async () => {
    // One shell per page: variables exported above are used below.
    const steps = ofPage.map(
      (block) => `status=0\n${here(commandsOf(block))}\nprintf '${MARK}%s${MARK}' $status\n`,
    )
    const script = `set -o pipefail; trap 'status=$?' ERR\n${steps.join('')}`
    const printed = (await bash(script, { isInstalled: !IN_A_CHECKOUT.has(page) })).split(MARK)
    ofPage.forEach((block, index) => {
      const where = `${page}:${block.line}`
      const output = printed[index * 2] ?? ''
      assert.equal(printed[index * 2 + 1], '0', `${where}\n${output}`)
      compare(block, output, where)
    })
  })
}

/** The addresses of the pages, at the ports of this node. */
function here(commands: string): string {
  return commands
    .replaceAll('http://127.0.0.1:8080', torana.url)
    .replaceAll('http://127.0.0.1:8081', torana.controlUrl)
}

async function bash(script: string, { isInstalled }: { readonly isInstalled: boolean }): Promise<string> {
  const PATH = `${isInstalled ? `${join(folder, 'bin')}:` : ''}${process.env['PATH']}`
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    env: { ...env, PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  await once(child, 'close')
  return output
}

/** Compares JSON by shape, an HTTP answer by status. An error is only right where the page shows one. */
function compare({ next }: Block, output: string, where: string): void {
  const answer = parsed(output)
  const shown = next?.language === 'json' ? parsed(next.text) : undefined
  if (answer !== undefined && shown !== undefined) assert.deepEqual(shapeOf(answer), shapeOf(shown), where)
  const isError = typeof answer === 'object' && answer !== null && 'error' in answer
  if (isError) assert.match(next?.text ?? '', /error/, `${where}\n${output}`)
  const status = /^HTTP\/1\.1 (\d+)/.exec(next?.text ?? '')?.[1]
  if (status !== undefined) assert.match(output, new RegExp(`^HTTP/1\\.1 ${status}`), where)
}

function parsed(text: string): unknown {
  try {
    // Pages leave out the middle of long lists and texts.
    return JSON.parse(text.replaceAll(/,?\s*…\s*(?=[\]},])/g, '')) as unknown
  } catch {
    return undefined
  }
}

/** Names and kinds, not values. The first entry of a list represents all. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, inner]) => [name, shapeOf(inner)]),
  )
}

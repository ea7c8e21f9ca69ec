/** Runs the commands of a recipe's page in order, in a folder with its scripts, and compares what they print with the page. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { blocksOf, type Block } from '../../server/test/support/docs-blocks.ts'
import { REPOSITORY } from '../../server/test/support/docs-pages.ts'
import { bareEnvironment, PROGRAM, startTorana, temporaryFolder } from '../../server/test/support/process.ts'

/** Between the outputs of two blocks. */
const MARK = '\u{1e}'
/** Time for the commands of a page: Maven's first run downloads 200 MB. */
const MAX_PAGE_MS = 600_000

type Gateway = Readonly<Record<'TORANA_BASE_URL' | 'TORANA_KEY', string>>

/** A node as a reader starts it, without a configuration. */
export async function demoGateway(): Promise<Gateway> {
  const folder = temporaryFolder()
  const { url } = await startTorana({ folder })
  const key = readFileSync(join(folder, '.torana/demo.key'), 'utf8').trim()
  return { TORANA_BASE_URL: `${url}/v1`, TORANA_KEY: key }
}

export interface RecipeOptions {
  /** In the folder of examples: its files are copied to where the commands run. */
  readonly scripts: string
  readonly env: Readonly<Record<string, string>>
  /** Folders of further programs, such as those of a virtual environment. */
  readonly path?: readonly string[]
}

/** The folder in which a reader runs the commands of a recipe. */
export class Recipe {
  readonly folder: string = temporaryFolder()
  readonly #env: Readonly<Record<string, string>>

  constructor({ scripts, env, path = [] }: RecipeOptions) {
    cpSync(join(REPOSITORY, 'docs/examples/recipes', scripts), this.folder, { recursive: true })
    symlinkSync(join(REPOSITORY, 'node_modules'), join(this.folder, 'node_modules'))
    const programs = temporaryFolder()
    const torana = `#!/bin/sh\nexec ${process.execPath} ${PROGRAM} "$@"\n`
    writeFileSync(join(programs, 'torana'), torana, { mode: 0o755 })
    const bare = bareEnvironment()
    this.#env = { ...bare, ...env, PATH: [...path, programs, bare['PATH']].join(delimiter) }
  }

  /** What a command prints, errors included, and the code it ends with. */
  async run(command: string): Promise<{ readonly output: string; readonly code: number | null }> {
    const child = spawn('bash', ['-c', `exec 2>&1\n${command}`], {
      cwd: this.folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: MAX_PAGE_MS,
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    const [code] = (await once(child, 'close')) as [number | null]
    return { output: stripVTControlCharacters(output), code }
  }

  /** All commands of a page, or of some of its sections, in one shell: each succeeds, and prints what the page shows. */
  async follow(page: string, isMeant: (heading: string) => boolean = () => true): Promise<void> {
    const path = `docs/recipes/${page}.md`
    const text = readFileSync(join(REPOSITORY, path), 'utf8')
    const lines = text.split('\n')
    const headingOf = ({ line }: Block): string =>
      lines.slice(0, line).findLast((one) => one.startsWith('## ')) ?? ''
    const blocks = blocksOf({ path, text }).filter(
      (block) => block.language === 'sh' && block.notRun === undefined && isMeant(headingOf(block).slice(3)),
    )
    assert.ok(blocks.length > 0, `${path}: found no command`)
    const { output } = await this.run(
      blocks.map((block) => `(set -e; ${block.text})\nprintf '${MARK}%s${MARK}' $?`).join('\n'),
    )
    const printed = output.split(MARK)
    for (const [index, block] of blocks.entries()) {
      const where = `${path}:${block.line}`
      const shown = printed[index * 2]?.trim() ?? ''
      assert.equal(printed[index * 2 + 1], '0', `${where}\n${shown}`)
      if (block.output?.language === 'text') assert.equal(shown, block.output.text.trim(), where)
      if (block.output?.language === 'json')
        assert.deepEqual(lasting(shown), lasting(block.output.text), where)
    }
  }
}

/** An answer without what differs from run to run. */
function lasting(json: string): unknown {
  return JSON.parse(json, (name, value: unknown) =>
    name === 'request_id' || name === 'doc_url' ? undefined : value,
  )
}

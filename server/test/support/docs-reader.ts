/** A reader at a desk: a fresh clone, a first terminal, and a second one while Torana runs in the first. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { type Block, savedAs, startsTorana } from './docs-blocks.ts'
import { atPorts, difference, type Place } from './docs-output.ts'
import { REPOSITORY } from './docs-pages.ts'
import { Terminal, type Ran } from './terminal.ts'

const ADDRESS = 'https://github.com/torana/torana.git'
/** The banner ends with an empty line. */
const READY = /Torana is ready\.[\s\S]*Metrics[\s\S]*\n\n/
/** The page asks for the first terminal back. */
const STOPS = /Ctrl-C|\bstop Torana\b|\bfirst terminal\b/i

export interface Desk {
  readonly home: string
  readonly scratch: string
  readonly ports: Omit<Place, 'folder'>
  /** `npm ci` becomes hard links to the modules of this checkout, and its console is copied: seconds instead of a minute. */
  readonly isQuick: boolean
}

/** A home folder whose git clones this working tree, with what is not committed, wherever a page clones the project. */
export function setUpDesk(root: string, options: Pick<Desk, 'ports' | 'isQuick'>): Desk {
  const [home, scratch, origin] = ['home', 'scratch', 'origin'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [home, scratch, origin]) mkdirSync(folder)
  const listed = execFileSync('git', ['ls-files', '-coz', '--exclude-standard'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
    maxBuffer: 100_000_000,
  })
  for (const file of listed.split('\0').filter((name) => name !== '' && existsSync(join(REPOSITORY, name))))
    cpSync(join(REPOSITORY, file), join(origin, file), { verbatimSymlinks: true })
  writeFileSync(
    join(home, '.gitconfig'),
    `[user]\nname = Ada\nemail = ada@example.com\n[url "${origin}"]\ninsteadOf = ${ADDRESS}\n`,
  )
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'the working tree'],
  ])
    execFileSync('git', args, { cwd: origin, env: { ...process.env, HOME: home } })
  return { home, scratch, ...options }
}

/** What a reader's shell has. Nothing of this checkout is on its path. */
function environment({ home, ports }: Desk): Record<string, string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const own = folders.filter((folder) => !/node_modules[/\\]\.bin|node-gyp-bin/.test(folder))
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
  const { NODE_COMPILE_CACHE } = process.env
  return {
    ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
    HOME: home,
    PATH: [join(home, '.npm/bin'), dirname(process.execPath), ...own].join(delimiter),
    LANG: 'C.UTF-8',
    PORT: String(ports.publicPort),
    CONTROL_PORT: String(ports.controlPort),
    npm_config_prefix: join(home, '.npm'),
    npm_config_cache: cache,
    npm_config_prefer_offline: 'true',
    npm_config_ignore_scripts: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
    // `npx torana` is the code of the clone, never a package of that name from a registry.
    npm_config_yes: 'false',
  }
}

/** One page, from its first block to its last. */
export class Reader {
  readonly #desk: Desk
  readonly #env: Record<string, string>
  readonly #first: Terminal
  #second: Terminal | undefined

  constructor(desk: Desk, folder: string) {
    this.#desk = desk
    this.#env = environment(desk)
    this.#first = new Terminal({ folder, env: this.#env, scratch: desk.scratch })
  }

  get folder(): string {
    return this.#first.folder
  }

  /** Torana with its demo models, as a reader of any page after the installation has it. */
  async startTorana(): Promise<void> {
    const { output, status } = await this.#first.run('torana start\n', { until: READY })
    if (status !== undefined) throw new Error(output)
    const secret = (name: string): string => readFileSync(join(this.folder, '.torana', name), 'utf8').trim()
    this.#env['TORANA_BASE_URL'] = `http://127.0.0.1:${this.#desk.ports.publicPort}/v1`
    this.#env['TORANA_KEY'] = secret('demo.key')
    this.#env['TORANA_ADMIN_TOKEN'] = secret('admin.token')
  }

  /** Undefined: it ran, and printed what the page shows. */
  async follow(block: Block): Promise<string | undefined> {
    const file = savedAs(block)
    if (file !== undefined) writeFileSync(join(this.folder, file), block.text)
    if (block.language !== 'sh' || block.notRun !== undefined) return undefined
    if (this.#first.isBusy && STOPS.test(block.before)) await this.#first.interrupt()
    const until = startsTorana(block) ? { until: READY } : {}
    const ran = await this.#terminal().run(this.#commandsOf(block), until)
    const problem = this.#judge(block, ran)
    return problem === undefined ? undefined : `${block.page}:${block.line}\n${problem}`
  }

  async close(): Promise<void> {
    await this.#second?.close()
    await this.#first.close()
  }

  #terminal(): Terminal {
    if (!this.#first.isBusy) return this.#first
    const { scratch } = this.#desk
    this.#second ??= new Terminal({ folder: this.folder, env: this.#env, scratch })
    return this.#second
  }

  #commandsOf({ text }: Block): string {
    const commands = atPorts(text, { ...this.#desk.ports, folder: this.folder })
    if (!this.#desk.isQuick) return commands
    const withModules = commands.replaceAll(/\bnpm ci\b/g, linkModules)
    return existsSync(CONSOLE) ? withModules.replaceAll('npm run console:build', copyConsole) : withModules
  }

  #judge({ output: shown }: Block, { output, status }: Ran): string | undefined {
    if (status !== 0 && status !== undefined && shown === undefined) return `ended with ${status}:\n${output}`
    if (shown === undefined) return /^\s*\{\s*"error"/.test(output) ? `an error:\n${output}` : undefined
    const printed = status === undefined ? bannerOf(output) : output
    const found = difference(shown.text, printed, { ...this.#desk.ports, folder: this.folder })
    if (found === undefined) return undefined
    return `${found}\nIf the page is wrong, write the lines with + into ${shown.page}:${shown.line}, with … for a part that may differ.`
  }
}

/** What Torana prints for a person, without the log and without what ran before it. */
function bannerOf(output: string): string {
  return output.replace(/^[\s\S]*?(?=^ +Torana \S+ is starting)/m, '').replaceAll(/^\{.*\n/gm, '')
}

/** The console as this checkout built it: CI has just done so. */
const CONSOLE = join(REPOSITORY, 'console/dist')

function copyConsole(): string {
  return `cp -r ${CONSOLE} console/dist`
}

function linkModules(): string {
  const folders = globSync('{,*/,*/*/}node_modules', {
    cwd: REPOSITORY,
    exclude: ['node_modules/**', 'site/**'],
  })
  return folders.map((folder) => `cp -al ${join(REPOSITORY, folder)} ${folder}`).join(' && ')
}

/** The clone as it was after the installation: no data folder, no files of other pages. */
export function tidyUp(folder: string): void {
  rmSync(join(folder, '.torana'), { recursive: true, force: true })
  for (const args of [
    ['clean', '-fdq'],
    ['checkout', '-q', '.'],
  ])
    execFileSync('git', args, { cwd: folder })
}

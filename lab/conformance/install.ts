/** Brings the clients' libraries into the cache folder, once: a stamp tells what the last installation was made from. */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Toolchain } from './clients.ts'
import { cacheFolder, sourceFolder, tiktokenFolder } from './folders.ts'
import { writeRanks } from './tiktoken-ranks.ts'

/** A first build of openai-go takes two minutes on two cores; whatever takes this long hangs. */
const installTimeoutMs = 600_000
const LOOK_AGAIN_MS = 200

/** Two suites that begin at once would remove each other's packages: one installs, the other waits. */
export async function install(needed: ReadonlySet<Toolchain>): Promise<void> {
  mkdirSync(cacheFolder, { recursive: true })
  const lock = join(cacheFolder, 'installing')
  await taken(lock)
  try {
    await installAll(needed)
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

/** A folder is made by one alone. One that is older than any installation was left by one that died. */
async function taken(lock: string): Promise<void> {
  while (!isMade(lock)) {
    const { mtimeMs = Date.now() } = statSync(lock, { throwIfNoEntry: false }) ?? {}
    if (Date.now() - mtimeMs > installTimeoutMs) rmSync(lock, { recursive: true, force: true })
    else await wait(LOOK_AGAIN_MS)
  }
}

function isMade(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function installAll(needed: ReadonlySet<Toolchain>): Promise<void> {
  // Python's tiktoken gets its ranks from a package of the node clients.
  if (needed.has('node') || needed.has('python')) await installNode()
  if (needed.has('python')) {
    await installPython('python', 'requirements.txt')
    await writeRanks(join(cacheFolder, 'node'), tiktokenFolder)
  }
  if (needed.has('python-0.28')) await installPython('python-0.28', 'requirements-0.28.txt')
  if (needed.has('python-llama-index')) {
    await installPython('python-llama-index', 'requirements-llama-index.txt')
  }
  if (needed.has('python-recipes')) await installPython('python-recipes', 'requirements-recipes.txt')
  if (needed.has('python-contents')) await installPython('python-contents', 'requirements-contents.txt')
  if (needed.has('go')) await installGo()
  if (needed.has('java')) await installJava()
}

/** What a machine may lack that runs everything else; undefined when it is there. */
export function missingFor(toolchain: Toolchain): string | undefined {
  if (toolchain !== 'java') return undefined
  const missing = [
    ['java', '-version'],
    ['mvn', '--version'],
  ].find(([command = '', ...args]) => spawnSync(command, args, { stdio: 'ignore' }).status !== 0)
  return missing && `${missing[0]} is not installed; it takes a JDK of 17 or newer and Maven`
}

async function installNode(): Promise<void> {
  const folder = join(cacheFolder, 'node')
  const source = join(sourceFolder, 'node')
  // The programs stand beside their packages, or they would find those of the repository instead.
  copy(source, folder)
  await unlessStamped(folder, source, ['package.json', 'package-lock.json', '.npmrc'], () =>
    run('npm', ['ci'], { cwd: folder, hint: 'npm comes with Node.js' }),
  )
}

/** Each in a virtual environment of its own: they need different versions of one library. */
async function installPython(name: string, requirements: string): Promise<void> {
  const folder = join(cacheFolder, name)
  const source = join(sourceFolder, 'python')
  await unlessStamped(folder, source, [requirements], async () => {
    await run('python3', ['-m', 'venv', folder], { hint: 'install Python 3.10 or newer' })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements]
    await run(join(folder, 'bin', 'python'), pip, { cwd: source })
  })
}

async function installGo(): Promise<void> {
  const folder = join(cacheFolder, 'go')
  const source = join(sourceFolder, 'go')
  await unlessStamped(folder, source, readdirSync(source), async () => {
    const env = {
      ...process.env,
      GOMODCACHE: join(folder, 'modules'),
      GOCACHE: join(folder, 'build'),
      // Go write-protects its modules by default, and then the cache folder can't be removed.
      GOFLAGS: '-modcacherw -buildvcs=false',
    }
    await run('go', ['build', '-o', join(folder, 'client'), '.'], {
      cwd: source,
      env,
      hint: 'install Go 1.26 or newer',
    })
  })
}

async function installJava(): Promise<void> {
  const folder = join(cacheFolder, 'java')
  const source = join(sourceFolder, 'java')
  const files = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(source, join(entry.parentPath, entry.name)))
  await unlessStamped(folder, source, files, async () => {
    cpSync(source, folder, { recursive: true })
    const maven = ['--quiet', '--batch-mode', `-Dmaven.repo.local=${join(folder, 'repository')}`]
    await run('mvn', [...maven, 'compile', 'dependency:copy-dependencies'], {
      cwd: folder,
      hint: 'install a JDK of 17 or newer and Maven',
    })
  })
}

/** Installs when one of the named files differs from those of the last complete installation. */
async function unlessStamped(
  folder: string,
  source: string,
  names: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const hash = createHash('sha256')
  for (const name of names) hash.update(readFileSync(join(source, name)))
  const wanted = hash.digest('hex')
  const stamp = join(folder, 'installed')
  if (textOf(stamp) === wanted) return
  console.error(`installing ${folder.slice(cacheFolder.length + 1)} clients …`)
  mkdirSync(folder, { recursive: true })
  rmSync(stamp, { force: true })
  await work()
  writeFileSync(stamp, wanted)
}

function copy(source: string, folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    if (entry.isFile()) cpSync(join(source, entry.name), join(folder, entry.name))
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function run(
  command: string,
  args: readonly string[],
  { cwd, env = process.env, hint }: { cwd?: string; env?: NodeJS.ProcessEnv; hint?: string } = {},
): Promise<void> {
  // Its standard output must not mix with the matrix.
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 2, 2], timeout: installTimeoutMs })
  let status: unknown[]
  try {
    status = await once(child, 'exit')
  } catch (error) {
    throw new Error(
      `${command} could not be started${hint === undefined ? '' : `: ${hint}`}, or choose others with --clients.`,
      {
        cause: error,
      },
    )
  }
  const [code, signal] = status
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${String(code ?? signal)}.`)
}

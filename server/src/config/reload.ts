/** Notices when the configuration file or a secret file that it names changes, and never lets a faulty one replace a good one. */
import { createHash } from 'node:crypto'
import { readFileSync, statSync, type BigIntStats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { ConfigError } from './file/problem.ts'
import { referencesIn } from './file/interpolate.ts'
import { reasonOf, type Environment } from './file/variable.ts'

/** The file, and the secret files that it names, as they were at one moment. */
export interface FileLook {
  /** Inode, time and size of each: while they stay, no content is read. */
  readonly stamp: string
  readonly digest: string
  /** The same for the content of the secret files. */
  readonly secretsDigest: string
  /** Paths: the value of `NAME_FILE` for each `${NAME}` in the file. */
  readonly secretFiles: readonly string[]
}

export interface WatchOptions<Config> {
  readonly file: string
  /** Names the secret files. */
  readonly env: Environment
  /** The file before the first load. Any difference from it is a change. */
  readonly since: FileLook
  /** Reads and checks the file; throws a `ConfigError` when it is faulty. */
  readonly load: () => Config | Promise<Config>
  /** The next load waits for it. */
  readonly onGood: (loaded: Config) => void | Promise<void>
  /** The earlier configuration stays in force. Each faulty version of the file is reported once. */
  readonly onBad: (problems: readonly string[]) => void
  /** Short: the person who saved the file is looking at the screen, and a stat costs microseconds. */
  readonly intervalMs?: number
}

export interface ConfigWatch {
  /** Loads now, whether or not the file looks changed. */
  reload(): void
  close(): void
}

/**
 * Checks the files every second. `fs.watch` is not used: it follows the inode, and a mounted ConfigMap or Secret changes by
 * swapping a symbolic link several folders up, as editors do by renaming a new file over the old one. A write between the
 * first load and the beginning of the watch is a change too: a start takes seconds.
 */
export function watchConfig<Config>(options: WatchOptions<Config>): ConfigWatch {
  const { file, env, since, load, onGood, onBad, intervalMs = 1000 } = options
  const stop = new AbortController()

  let last = Promise.resolve()

  /** One after another: the last version read must be the one in force. */
  function reload(): void {
    last = last.then(loadNow)
  }

  async function loadNow(): Promise<void> {
    let loaded: Config
    try {
      if (stop.signal.aborted) return
      loaded = await load()
    } catch (error) {
      if (!stop.signal.aborted)
        onBad(error instanceof ConfigError ? error.problems : [`${file}: ${reasonOf(error)}`])
      return
    }
    if (!stop.signal.aborted) await onGood(loaded)
  }

  async function watch(): Promise<void> {
    let last = since
    let tried = contentOf(since)
    while (await pause(intervalMs, stop.signal)) {
      const now = await look(file, env, last)
      // A file cut off at the end of a line is often valid YAML: a change counts once the file no longer changes.
      if (now.stamp === last.stamp && contentOf(now) !== tried && !stop.signal.aborted) {
        tried = contentOf(now)
        reload()
      }
      last = now
    }
  }

  void watch()
  return { reload, close: () => stop.abort() }
}

/** Whether to go on. The timer keeps no process alive. */
async function pause(delayMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await setTimeout(delayMs, undefined, { ref: false, signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return !signal.aborted
}

function contentOf({ digest, secretsDigest }: FileLook): string {
  return `${digest} ${secretsDigest}`
}

/** To be called before the file is loaded. */
export function lookAt(file: string, env: Environment): FileLook {
  const main = stateOf(file)
  return lookOf(main, secretFilesIn(main, env).map(stateOf))
}

/** Stats each file, and reads them only if one has changed. */
async function look(file: string, env: Environment, before: FileLook): Promise<FileLook> {
  const stamps = await Promise.all([file, ...before.secretFiles].map(stampNow))
  if (stamps.join('\n') === before.stamp) return before
  const main = await stateNow(file)
  return lookOf(main, await Promise.all(secretFilesIn(main, env).map(stateNow)))
}

function lookOf(main: FileState, secrets: readonly FileState[]): FileLook {
  return {
    stamp: [main, ...secrets].map(({ stamp }) => stamp).join('\n'),
    digest: main.digest,
    secretsDigest: secrets.map(({ digest }) => digest).join(' '),
    secretFiles: secrets.map(({ file }) => file),
  }
}

function secretFilesIn({ content }: FileState, env: Environment): readonly string[] {
  const names = content === undefined ? [] : referencesIn(content.toString('utf8'))
  return [...new Set(names.flatMap((name) => env[`${name}_FILE`] || []))]
}

interface FileState {
  readonly file: string
  readonly stamp: string
  /** Of the content, or why there is none: loading the file will say it. */
  readonly digest: string
  readonly content?: Buffer
}

function stateOf(file: string): FileState {
  try {
    return stateWith(file, statSync(file, { bigint: true }), readFileSync(file))
  } catch (error) {
    return stateWithout(file, error)
  }
}

async function stateNow(file: string): Promise<FileState> {
  try {
    return stateWith(file, await stat(file, { bigint: true }), await readFile(file))
  } catch (error) {
    return stateWithout(file, error)
  }
}

async function stampNow(file: string): Promise<string> {
  try {
    return stampOf(await stat(file, { bigint: true }))
  } catch {
    return NO_STAMP
  }
}

/** Of a file that cannot be read. */
const NO_STAMP = ''

function stateWith(file: string, stats: BigIntStats, content: Buffer): FileState {
  return { file, stamp: stampOf(stats), digest: createHash('sha256').update(content).digest('hex'), content }
}

/** A deleted file is a change like any other. */
function stateWithout(file: string, error: unknown): FileState {
  return { file, stamp: NO_STAMP, digest: reasonOf(error) }
}

function stampOf({ ino, mtimeNs, size }: BigIntStats): string {
  return `${ino} ${mtimeNs} ${size}`
}

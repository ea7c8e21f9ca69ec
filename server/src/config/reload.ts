/** Notices when the configuration file changes, and never lets a faulty one replace a good one. */
import { createHash } from 'node:crypto'
import { readFileSync, statSync, type BigIntStats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { ConfigError } from './file/problem.ts'
import { reasonOf } from './file/variable.ts'

/** The file as it was at one moment. */
export interface FileLook {
  /** Inode, time and size: while they stay, the content is not read. */
  readonly stamp: string
  readonly digest: string
}

export interface WatchOptions<Config> {
  readonly file: string
  /** The file before the first load. Whatever differs from it is a change. */
  readonly since: FileLook
  /** Reads and checks the file; throws a `ConfigError` when it is faulty. */
  readonly load: () => Config | Promise<Config>
  /** The next load waits for it. */
  readonly onGood: (loaded: Config) => void | Promise<void>
  /** What was loaded before stays in force. Each faulty version of the file is told once. */
  readonly onBad: (problems: readonly string[]) => void
  /** Short: the person who saved the file is looking at the screen, and a stat costs microseconds. */
  readonly intervalMs?: number
}

export interface ConfigWatch {
  /** Loads now, whether or not the file looks changed: secrets that it names in files may have. */
  reload(): void
  close(): void
}

/**
 * Looks at the file every second. `fs.watch` is not used: it follows the inode, and a mounted ConfigMap changes by
 * swapping a symbolic link several folders up, as editors do by renaming a new file over the old one. What was written between
 * the first load and the beginning of the watch is a change too: a start takes seconds.
 */
export function watchConfig<Config>(options: WatchOptions<Config>): ConfigWatch {
  const { file, since, load, onGood, onBad, intervalMs = 1000 } = options
  const stop = new AbortController()

  let last = Promise.resolve()

  /** One after another: what was read last must be what stays. */
  function reload(): void {
    last = last.then(loadAnew)
  }

  async function loadAnew(): Promise<void> {
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
    let tried = since.digest
    while (await pause(intervalMs, stop.signal)) {
      const now = await look(file, last)
      // A file cut off at the end of a line is often good YAML: a change counts once it is quiet.
      if (now.stamp === last.stamp && now.digest !== tried && !stop.signal.aborted) {
        tried = now.digest
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

/** To be called before the file is loaded. */
export function lookAt(file: string): FileLook {
  try {
    return { stamp: stampOf(statSync(file, { bigint: true })), digest: digestOf(readFileSync(file)) }
  } catch (error) {
    return lookWithout(error)
  }
}

async function look(file: string, before: FileLook): Promise<FileLook> {
  try {
    const stamp = stampOf(await stat(file, { bigint: true }))
    if (before.stamp === stamp) return before
    return { stamp, digest: digestOf(await readFile(file)) }
  } catch (error) {
    return lookWithout(error)
  }
}

/** A file that is gone is a change like any other; loading it will say why it can't be read. */
function lookWithout(error: unknown): FileLook {
  return { stamp: '', digest: reasonOf(error) }
}

function stampOf({ ino, mtimeNs, size }: BigIntStats): string {
  return `${ino} ${mtimeNs} ${size}`
}

function digestOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Notices when the configuration file changes, and never lets a faulty one replace a good one. */
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { ConfigError } from './file/problem.ts'
import { reasonOf } from './file/variable.ts'

export interface WatchOptions<Config> {
  readonly file: string
  /** Reads and checks the file; throws a `ConfigError` when it is faulty. */
  readonly load: () => Config
  readonly onGood: (loaded: Config) => void
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
 * swapping a symbolic link several folders up, as editors do by renaming a new file over the old one. Start watching
 * before the first load, so that nothing written in between is missed.
 */
export function watchConfig<Config>(options: WatchOptions<Config>): ConfigWatch {
  const { file, load, onGood, onBad, intervalMs = 1000 } = options
  const stop = new AbortController()

  function reload(): void {
    let loaded: Config
    try {
      loaded = load()
    } catch (error) {
      onBad(error instanceof ConfigError ? error.problems : [`${file}: ${reasonOf(error)}`])
      return
    }
    onGood(loaded)
  }

  async function watch(): Promise<void> {
    let last = await look(file, undefined)
    let tried = last.digest
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

interface Look {
  /** Inode, time and size: while they stay, the content is not read. */
  readonly stamp: string
  readonly digest: string
}

async function look(file: string, before: Look | undefined): Promise<Look> {
  try {
    const { ino, mtimeNs, size } = await stat(file, { bigint: true })
    const stamp = `${ino} ${mtimeNs} ${size}`
    if (before?.stamp === stamp) return before
    return {
      stamp,
      digest: createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
    }
  } catch (error) {
    // A file that is gone is a change like any other; loading it will say why it can't be read.
    return { stamp: '', digest: reasonOf(error) }
  }
}

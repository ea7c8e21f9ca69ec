/**
 * The state of a run, in a folder beside its output. Each step is recorded before the next one depends on it, so a run killed at
 * any moment resumes: nothing is paid twice, and nothing is lost.
 */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { CommandProblem } from '../command-problem.ts'
import type { NumberType, VectorEnding } from '../vectors/vector-format.ts'

/** Terms that must match for a run to resume. */
export interface RunTerms {
  readonly url: string
  readonly corpus: string
  readonly corpusBytes: number
  readonly corpusChangedMs: number
  readonly model: string
  readonly dimensions: number | null
  readonly type: NumberType
  readonly ending: VectorEnding
  readonly textColumn: string | null
  readonly idColumn: string | null
  /** Absent in a run of texts. */
  readonly imageColumn?: string | undefined
}

/** A batch sent for a slice. A slice gets another one only after the first expired or was cancelled. */
interface SliceBatch {
  readonly fileId: string
  /** Undefined until the gateway has confirmed the batch. */
  readonly batchId?: string
}

/** Consecutive rows of the corpus that become one batch. */
export interface Slice {
  readonly number: number
  readonly firstRow: number
  readonly rows: number
  /** Rows that have something to embed. */
  readonly requests: number
  readonly batches: readonly SliceBatch[]
  /** Its last batch was cancelled, which ended that run; the next run sends the remaining rows. */
  readonly isCancelled?: true
}

/** Progress of the output. */
interface Written {
  readonly slices: number
  readonly rows: number
  readonly vectors: number
  readonly errors: number
  readonly bytes: number
  readonly errorBytes: number
  /** Cost of the written slices, as the gateway reports it; text, since JSON has no integers of any size. */
  readonly costNanoUsd: string
  readonly tokens: number
  /** State of the format, needed for the tail of the file. */
  readonly memory?: unknown
}

interface RunState {
  /** Since 2, the gateway makes the type. */
  readonly version: 1 | 2
  /** Part of the metadata and the idempotency keys of all its batches. */
  readonly id: string
  readonly terms: RunTerms
  /** Slices begun but not written, in corpus order. */
  readonly open: readonly Slice[]
  /** First row of the next slice. */
  readonly nextRow: number
  readonly nextSlice: number
  /** Whether the corpus has been read to its end. */
  readonly isRead: boolean
  /** Undefined until the first vector arrives. */
  readonly dimensions?: number
  readonly space?: string
  readonly written: Written
}

const NOTHING: Written = {
  slices: 0,
  rows: 0,
  vectors: 0,
  errors: 0,
  bytes: 0,
  errorBytes: 0,
  costNanoUsd: '0',
  tokens: 0,
}

export class RunFolder {
  readonly path: string
  #state: RunState

  private constructor(path: string, state: RunState) {
    this.path = path
    this.#state = state
  }

  /** Resumes the run of this folder, or begins a new one. */
  static open(path: string, terms: RunTerms): RunFolder {
    mkdirSync(path, { recursive: true })
    lock(path)
    const found = readState(path)
    if (found !== undefined) refuseOther(found.terms, terms, path)
    if (found?.version === 1 && terms.type === 'float16')
      throw new CommandProblem(
        `An earlier version of Torana began this run, and it made float16 in another way. Finish it with that version, or delete the folder ${path} to begin again.`,
      )
    const folder = new RunFolder(
      path,
      found ?? {
        version: 2,
        id: randomUUID(),
        terms,
        open: [],
        nextRow: 0,
        nextSlice: 0,
        isRead: false,
        written: NOTHING,
      },
    )
    folder.keep({})
    return folder
  }

  get state(): RunState {
    return this.#state
  }

  file(name: string): string {
    return join(this.path, name)
  }

  sliceFile({ number }: Pick<Slice, 'number'>, ending: string): string {
    return this.file(`slice-${number}${ending}`)
  }

  /** The change is on disk when this returns. */
  keep(changes: Partial<RunState>): void {
    this.#state = { ...this.#state, ...changes }
    writeDurably(this.file('state.json'), JSON.stringify(this.#state))
  }

  keepSlice(slice: Slice): void {
    this.keep({ open: this.#state.open.map((one) => (one.number === slice.number ? slice : one)) })
  }

  /** For a finished run. */
  static remove(path: string): void {
    rmSync(path, { recursive: true, force: true })
  }

  unlock(): void {
    rmSync(this.file(LOCK), { force: true })
  }
}

/** A file has either its old content or the new one, whatever dies in between. */
export function writeDurably(path: string, text: string): void {
  const next = `${path}.next`
  const file = openSync(next, 'w')
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(next, path)
}

function readState(path: string): RunState | undefined {
  try {
    return JSON.parse(readFileSync(join(path, 'state.json'), 'utf8')) as RunState
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CommandProblem(`${join(path, 'state.json')} can't be read: ${(error as Error).message}`)
  }
}

const TERMS: Readonly<Record<keyof RunTerms, string>> = {
  url: 'the gateway',
  corpus: 'the corpus',
  corpusBytes: 'the size of the corpus',
  corpusChangedMs: 'the time at which the corpus was changed',
  model: '--model',
  dimensions: '--dimensions',
  type: '--type',
  ending: 'the format',
  textColumn: '--text',
  idColumn: '--id',
  imageColumn: '--image',
}

function refuseOther(before: RunTerms, now: RunTerms, path: string): void {
  for (const [name, what] of Object.entries(TERMS) as [keyof RunTerms, string][])
    if (before[name] !== now[name])
      throw new CommandProblem(
        `${path} is a run that has begun with other terms: ${what} was ${String(before[name] ?? null)} and is ${String(now[name] ?? null)}. Run it as it was begun, choose another --out, or delete the folder to start again (you then pay again for what its batches have cost).`,
      )
}

const LOCK = 'lock'

/** Two processes would overwrite each other's files. The lock of a dead process does not count. */
function lock(path: string): void {
  const file = join(path, LOCK)
  try {
    const holder = Number(readFileSync(file, 'utf8'))
    if (holder !== process.pid && isAlive(holder))
      throw new CommandProblem(`The process ${holder} is working on ${path} already.`)
  } catch (error) {
    if (error instanceof CommandProblem) throw error
  }
  writeDurably(file, String(process.pid))
}

function isAlive(pid: number): boolean {
  try {
    return Number.isInteger(pid) && pid > 0 && process.kill(pid, 0)
  } catch (error) {
    // A process of another user is alive, too.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

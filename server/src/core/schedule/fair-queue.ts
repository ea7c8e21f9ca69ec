/**
 * A queue that is fair to projects. Each project has its own line, and the lines are served in turn, so that a thousand
 * entries of one project delay an entry of another by one place. Every operation takes constant time, except for entries of
 * batches, of which a node has few: within the line of a project, batches take turns too.
 *
 * The queue is bounded twice: in entries, since each holds a request in memory, and in expected wait, since a caller that
 * would wait in vain is better refused at once. When the queue is full, the longest line loses its newest entry: the oldest
 * entries keep their places, and the project with the most entries is refused first.
 */
import { append, emptyList, insertBefore, unlink, type Linked, type List } from '../structure/linked-list.ts'

export interface FairQueueLimits {
  /** Entries of all projects. */
  readonly maxEntries: number
  /** An entry with a longer expected wait is refused. */
  readonly maxWaitMs: number
}

/** A place in the queue, which can be given up. */
export interface Place<Entry> {
  readonly entry: Entry
  readonly project: string
  readonly sinceMs: number
}

export type JoinResult<Entry> =
  | {
      readonly kind: 'waiting'
      readonly place: Place<Entry>
      /** The entry that lost its place to this one. */
      readonly pushedOut: Place<Entry> | undefined
    }
  /** The entry would be served in about `expectedWaitMs`. */
  | { readonly kind: 'refused'; readonly why: 'full' | 'tooLong'; readonly expectedWaitMs: number }

interface HeldPlace<Entry> extends Place<Entry>, Linked<HeldPlace<Entry>> {
  line: Line<Entry> | undefined
  /** The batch of the entry. Undefined: none. */
  readonly batch: string | undefined
}

interface Line<Entry> extends Linked<Line<Entry>> {
  readonly project: string
  readonly entries: List<HeldPlace<Entry>>
}

/** The weight of one interval between two served entries. */
const GAIN = 0.1
/** Multiple of the usual interval that counts as a standstill: it says little about the rate before and after. */
const STANDSTILL = 4
/** Shorter pauses are no standstill: the host of this node pauses that long occasionally. */
const PAUSE_MS = 30
/** Interval before any measurement. */
const START_INTERVAL_MS = 1

export class FairQueue<Entry> {
  readonly #limits: FairQueueLimits
  readonly #lines = new Map<string, Line<Entry>>()
  /** The lines in the order in which they are served. */
  readonly #turns: List<Line<Entry>> = emptyList()
  /** Lines by length, so that the longest is found without a search. */
  readonly #byLength: Set<Line<Entry>>[] = []
  #longest = 0
  #size = 0
  #intervalMs: number
  /** When an entry was last served, or began to wait in an empty queue. */
  #servedAtMs = 0

  /** `intervalMs`: the measured interval of an earlier queue for the same entries. */
  constructor(limits: FairQueueLimits, intervalMs = START_INTERVAL_MS) {
    this.#limits = limits
    this.#intervalMs = intervalMs
  }

  get size(): number {
    return this.#size
  }

  /** Time between two served entries, lately. */
  get intervalMs(): number {
    return this.#intervalMs
  }

  join(project: string, entry: Entry, nowMs: number, batch?: string): JoinResult<Entry> {
    const expectedWaitMs = this.expectedWaitMs(project, nowMs)
    if (expectedWaitMs > this.#limits.maxWaitMs) return { kind: 'refused', why: 'tooLong', expectedWaitMs }
    const isFull = this.#size >= this.#limits.maxEntries
    const own = this.#lines.get(project)?.entries.length ?? 0
    if (isFull && own + 1 >= this.#longest) return { kind: 'refused', why: 'full', expectedWaitMs }
    const pushedOut = isFull ? this.#pushOut() : undefined
    if (this.#size === 0) this.#servedAtMs = nowMs
    const place = this.#append(project, entry, nowMs, batch)
    return { kind: 'waiting', place, pushedOut }
  }

  /** The next entry in turn. */
  peek(): Place<Entry> | undefined {
    return this.#turns.first?.entries.first
  }

  /** Serves the next entry. Its line comes again after all others. */
  take(nowMs: number): Place<Entry> | undefined {
    const line = this.#turns.first
    const held = line?.entries.first
    if (!line || !held) return undefined
    const passedMs = Math.min(nowMs - this.#servedAtMs, this.#intervalMs * STANDSTILL + 1)
    this.#intervalMs += (passedMs - this.#intervalMs) * GAIN
    this.#servedAtMs = nowMs
    this.#remove(held, line)
    if (line.entries.length > 0) {
      unlink(this.#turns, line)
      append(this.#turns, line)
    }
    return held
  }

  /** Gives up a place: the caller left, or waited long enough. False when it was served, pushed out or given up before. */
  leave(place: Place<Entry>): boolean {
    const held = place as HeldPlace<Entry>
    if (!held.line) return false
    this.#remove(held, held.line)
    return true
  }

  /**
   * Expected wait of a new entry of a project: for its own line, and for as many entries of each other line, at the recent
   * rate. A queue that has not moved for a while may stay so for the same time again.
   */
  expectedWaitMs(project: string, nowMs: number): number {
    if (this.#size === 0) return 0
    const line = this.#lines.get(project)
    const own = line?.entries.length ?? 0
    const lines = this.#lines.size + (line ? 0 : 1)
    const ahead = Math.min(this.#size, (own + 1) * lines - 1)
    return (ahead + 1) * this.#intervalMs + Math.max(0, nowMs - this.#servedAtMs - PAUSE_MS)
  }

  #append(project: string, entry: Entry, sinceMs: number, batch: string | undefined): HeldPlace<Entry> {
    const line = this.#lines.get(project) ?? this.#open(project)
    const neighbours = { before: undefined, after: undefined }
    const held: HeldPlace<Entry> = { entry, project, sinceMs, line, batch, ...neighbours }
    this.#byLength[line.entries.length]?.delete(line)
    const next = batch === undefined ? undefined : nextInTurn(line, batch)
    if (next === undefined) append(line.entries, held)
    else insertBefore(line.entries, held, next)
    this.#file(line)
    this.#size += 1
    return held
  }

  #open(project: string): Line<Entry> {
    const line: Line<Entry> = { project, entries: emptyList(), before: undefined, after: undefined }
    this.#lines.set(project, line)
    append(this.#turns, line)
    return line
  }

  #remove(held: HeldPlace<Entry>, line: Line<Entry>): void {
    this.#byLength[line.entries.length]?.delete(line)
    unlink(line.entries, held)
    held.line = undefined
    this.#size -= 1
    if (line.entries.length > 0) this.#file(line)
    else {
      unlink(this.#turns, line)
      this.#lines.delete(line.project)
    }
    // The shortened line was the only one of its length, and is now one entry shorter.
    if (this.#longest > 0 && !this.#byLength[this.#longest]?.size) this.#longest -= 1
  }

  #file(line: Line<Entry>): void {
    const { length } = line.entries
    this.#byLength[length] ??= new Set()
    this.#byLength[length].add(line)
    this.#longest = Math.max(this.#longest, length)
  }

  #pushOut(): Place<Entry> | undefined {
    const [line] = this.#byLength[this.#longest] ?? []
    const newest = line?.entries.last
    if (!line || !newest) return undefined
    this.#remove(newest, line)
    return newest
  }
}

/** The first entry of a line that comes after the next one of this batch: of another batch, which has had more turns by then. */
function nextInTurn<Entry>({ entries }: Line<Entry>, batch: string): HeldPlace<Entry> | undefined {
  let own = 0
  for (let held = entries.first; held !== undefined; held = held.after) if (held.batch === batch) own += 1
  const turns = new Map<string | undefined, number>()
  for (let held = entries.first; held !== undefined; held = held.after) {
    const turn = turns.get(held.batch) ?? 0
    if (turn > own) return held
    turns.set(held.batch, turn + 1)
  }
  return undefined
}

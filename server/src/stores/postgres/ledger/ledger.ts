import { DatabaseError } from 'pg'
import { windowOf } from '#core/money/budget.ts'
import {
  counted,
  hourOf,
  lateEntry,
  livingEntry,
  mayComeLate,
  standingWith,
  type CountedEntry,
  type LedgerEntry,
  type Standing,
} from '#core/money/ledger.ts'
import {
  NodeEnded,
  type Heartbeat,
  type NodeReport,
  type LedgerStore,
  type OpenCall,
  type RetriedEntries,
  type StartedNode,
  type Unknown,
  type UnknownResolution,
} from '#ports/ledger.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { plainArray, textArray } from '../arrays.ts'
import { reachable } from '../unreachable.ts'
import { writeAudit } from '../audit.ts'
import type { Database, Sql, Transaction } from '../database.ts'
import {
  appendStatement,
  type AppendForm,
  BRING_HOME,
  HOLD_NODE,
  LOCK_BUDGETS,
  LOCK_SHARED_CALLS,
  LOCK_STANDING,
  OPEN_UNKNOWNS,
  STANDING,
  START_NODE,
} from './ledger-sql.ts'
import { entryOf, type EntryRow } from './entry-row.ts'
import { heartbeat } from './heartbeat.ts'
import { LabelRegistry, type CountedLabels } from './label-registry.ts'
import { bucketsOf, parametersOf, standingValues } from './ledger-parameters.ts'
import { accepted, holdRefused, retryRefused, setAside, takeBack } from './refused.ts'
import { rollUpDay } from './roll-up.ts'

/** Entries per statement: more take longer without more throughput. */
const PAGE_ENTRIES = 1000

/** An entry is in the ledger already. */
const UNIQUE_VIOLATION = '23505'

interface Appended {
  /** Live nodes with the id: one or none. */
  readonly nodes: number
  /** Nothing was written: an entry is late. */
  readonly is_late?: boolean
}

/** Texts of the forms, by the name under which each is prepared. */
const forms = new Map<string, string>()

function prepared(form: AppendForm): readonly [text: string, name: string] {
  const { isUsual, isFenced, isLabelled, isBatched } = form
  const name = `ledger-append-${[isUsual, isFenced, isLabelled, isBatched].map(Number).join('')}`
  const text = forms.get(name) ?? appendStatement(form)
  forms.set(name, text)
  return [text, name]
}

export class PostgresLedger implements LedgerStore {
  readonly #database: Database
  readonly #labels: LabelRegistry

  constructor(database: Database) {
    this.#database = database
    this.#labels = new LabelRegistry(database)
  }

  async startNode({ id, host, version, role = 'all' }: StartedNode): Promise<void> {
    await reachable(this.#database.query(START_NODE, [id, host, version, role]))
  }

  heartbeat(nodeId: string, report: NodeReport = {}): Promise<Heartbeat> {
    return heartbeat(this.#database, nodeId, report)
  }

  register(entries: readonly LedgerEntry[]): Promise<void> | undefined {
    return this.#labels.register(entries)
  }

  async append(nodeId: string, entries: readonly LedgerEntry[], lane = 0): Promise<void> {
    const distinct = once(entries)
    const [row] = await accepted(
      distinct.some(mayComeLate)
        ? this.#alone(distinct.filter(mayComeLate), (sql) =>
            this.#appendCarefully(sql, nodeId, distinct, lane),
          )
        : this.#appendUsual(nodeId, distinct.map(counted), lane),
    )
    if (row?.nodes !== 1) throw new NodeEnded(`node ${nodeId} has been ended`)
  }

  async appendLate(nodeId: string, entries: readonly LedgerEntry[]): Promise<void> {
    await accepted(this.#alone(entries, (sql) => this.#appendLate(sql, nodeId, entries)))
  }

  /** A transaction in which no one else writes about these calls. */
  #alone<Result>(
    calls: readonly Pick<LedgerEntry, 'requestId'>[],
    work: (sql: Transaction) => Promise<Result>,
  ): Promise<Result> {
    return this.#database.transaction(async (sql) => {
      await sql.query(LOCK_SHARED_CALLS, [plainArray(bucketsOf(calls))])
      return work(sql)
    })
  }

  async setAside(nodeId: string, entry: LedgerEntry, reason: string): Promise<void> {
    await accepted(
      this.#alone([entry], async (sql) => {
        const [late] = await differences(sql, [entry], lateEntry)
        if (late !== undefined) await setAside(sql, nodeId, { entry, added: late.entry, reason })
      }),
    )
  }

  retryRefused(): Promise<RetriedEntries> {
    return retryRefused(this.#database, (nodeId, entries) =>
      this.#alone(entries, async (sql) => {
        const waiting = await holdRefused(sql, entries)
        await this.#appendLate(sql, nodeId, waiting)
        await takeBack(sql, nodeId, waiting)
        return waiting.length
      }),
    )
  }

  async endNode(nodeId: string, openCalls: readonly OpenCall[]): Promise<void> {
    await accepted(
      this.#alone(openCalls, async (sql) => {
        // Waits for a batch of that node that is being written; a later one finds the node ended.
        await sql.query('SELECT 1 FROM nodes WHERE node_id = $1 FOR UPDATE', [nodeId])
        // No one else writes about its calls now, so budgets may be locked before entries, and all at once.
        await sql.query(LOCK_BUDGETS, [nodeId, textArray(budgetsOf(openCalls))])
        for (let at = 0; at < openCalls.length; at += PAGE_ENTRIES)
          await this.#appendLate(sql, nodeId, openCalls.slice(at, at + PAGE_ENTRIES))
        await sql.query(BRING_HOME, [nodeId])
        await sql.query('UPDATE nodes SET ended_at = coalesce(ended_at, now()) WHERE node_id = $1', [nodeId])
      }),
    )
  }

  async openUnknowns({ limit, after }: Parameters<LedgerStore['openUnknowns']>[0]): Promise<Unknown[]> {
    const values = [limit, after?.requestId ?? null, after?.attempt ?? null]
    const rows = await reachable(this.#database.query<EntryRow>(OPEN_UNKNOWNS, values))
    return rows.map((row) => ({ ...entryOf(row), writtenAtMs: row.written_at.getTime() }))
  }

  async resolveUnknown(resolution: UnknownResolution): Promise<boolean> {
    const project = await reachable(this.#resolveUnknown(resolution))
    if (project === undefined) return false
    // The person who resolved it looks at the day next, and days are only summed from time to time.
    const { startMs } = windowOf('day', hourOf(resolution.requestId))
    await reachable(rollUpDay(this.#database, startMs, project)).catch((error: unknown) => {
      // It is resolved. The day follows when days are summed next.
      if (!(error instanceof StoreUnreachable)) throw error
    })
    return true
  }

  /** The project of the call. Undefined: there is nothing to resolve. */
  #resolveUnknown(resolution: UnknownResolution): Promise<string | undefined> {
    const { requestId, attempt, kind, actor } = resolution
    return this.#alone([resolution], async (sql) => {
      const [row] = await sql.query<EntryRow>(
        `SELECT * FROM usage_events WHERE request_id = $1 AND attempt = $2 AND kind = 'unknown'`,
        [requestId, attempt],
      )
      if (row === undefined) return undefined
      const unknown = entryOf(row)
      await sql.query(HOLD_NODE, [row.node_id])
      const kinds = (await standingOf(sql, [unknown])).get(attemptOf(unknown))?.kinds
      if (kinds?.has('post') || kinds?.has('void')) return undefined
      const cost = kind === 'void' ? 0n : (resolution.costNanoUsd ?? unknown.amountNanoUsd)
      await this.#appendLate(sql, row.node_id, [
        {
          ...unknown,
          kind,
          amountNanoUsd: unknown.amountNanoUsd === undefined && kind === 'void' ? undefined : cost,
          tokens: kind === 'void' ? undefined : resolution.tokens,
          images: kind === 'void' ? 0 : unknown.images,
          usage: kind === 'post' && resolution.tokens !== undefined ? 'upstream' : unknown.usage,
          remarks: { by: actor.name, reason: resolution.note },
        },
      ])
      await writeAudit(sql, this.#database.auditChain, {
        actor,
        action: `unknown.${kind}`,
        target: `${requestId}/${attempt}`,
        detail: {
          reservedNanoUsd: String(unknown.amountNanoUsd),
          costNanoUsd: String(cost),
          ...(resolution.note !== undefined && { note: resolution.note }),
        },
      })
      return unknown.project
    })
  }

  async #appendUsual(
    nodeId: string,
    entries: readonly CountedEntry[],
    lane: number,
  ): Promise<readonly Appended[]> {
    try {
      const rows = await this.#appendFenced(this.#database, nodeId, entries, lane, true)
      if (rows[0]?.is_late !== true) return rows
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== UNIQUE_VIOLATION) throw error
    }
    return this.#appendFenced(this.#database, nodeId, entries, lane)
  }

  /** `sql`: the database, or a transaction. Nothing is awaited where no entry has labels. */
  #appendFenced(
    sql: Database | Sql,
    nodeId: string,
    entries: readonly CountedEntry[],
    lane: number,
    isUsual = false,
  ): Promise<readonly Appended[]> {
    const isBatched = entries.some(isOfBatch)
    const write = (labels?: CountedLabels): Promise<readonly Appended[]> => {
      const [text, name] = prepared({
        isUsual,
        isFenced: true,
        isLabelled: labels !== undefined,
        isBatched,
      })
      return sql.query<Appended>(text, parametersOf(nodeId, entries, lane, labels), name)
    }
    return entries.some(isLabelled) ? this.#countedLabels(sql, entries).then(write) : write()
  }

  #countedLabels(sql: Database | Sql, entries: readonly CountedEntry[]): Promise<CountedLabels> {
    const all = entries.map(({ entry }) => entry)
    return this.#labels.counted(all, sql)
  }

  /** Appends entries of a live node, some of which may be late. In a transaction, and in one statement. */
  async #appendCarefully(
    sql: Sql,
    nodeId: string,
    entries: readonly LedgerEntry[],
    lane: number,
  ): Promise<readonly Appended[]> {
    await sql.query(HOLD_NODE, [nodeId])
    const late = await differences(sql, entries.filter(mayComeLate), livingEntry)
    const others = entries.filter((entry) => !mayComeLate(entry)).map(counted)
    return this.#appendFenced(sql, nodeId, [...others, ...late], lane)
  }

  /** Appends entries whose calls may already have other rows. Must run in a transaction. */
  async #appendLate(sql: Sql, nodeId: string, entries: readonly LedgerEntry[]): Promise<void> {
    const distinct = once(entries)
    if (distinct.length === 0) return
    await sql.query(HOLD_NODE, [nodeId])
    const late = await differences(sql, distinct, lateEntry)
    if (late.length === 0) return
    const labels = late.some(isLabelled) ? await this.#countedLabels(sql, late) : undefined
    const [text] = prepared({
      isUsual: false,
      isFenced: false,
      isLabelled: labels !== undefined,
      isBatched: late.some(isOfBatch),
    })
    await sql.query(text, parametersOf(nodeId, late, 0, labels))
  }
}

function isLabelled({ entry }: CountedEntry): boolean {
  return entry.labels !== undefined
}

function isOfBatch({ entry }: CountedEntry): boolean {
  return entry.batchId !== undefined
}

/** What the entries add to the rows that exist. */
async function differences(
  sql: Sql,
  entries: readonly LedgerEntry[],
  addedBy: typeof lateEntry,
): Promise<readonly CountedEntry[]> {
  const standing = await standingOf(sql, entries)
  const late: CountedEntry[] = []
  for (const entry of entries) {
    const attempt = attemptOf(entry)
    const added = addedBy(entry, standing.get(attempt))
    if (added === undefined) continue
    late.push(added)
    standing.set(attempt, standingWith(standing.get(attempt), added.entry))
  }
  return late
}

async function standingOf(sql: Sql, entries: readonly LedgerEntry[]): Promise<Map<string, Standing>> {
  const values = standingValues(entries)
  await sql.query(LOCK_STANDING, values)
  // A separate statement: it sees what was added during the wait for the locks.
  const rows = await sql.query<EntryRow>(STANDING, values)
  const standing = new Map<string, Standing>()
  for (const row of rows) {
    const entry = entryOf(row)
    standing.set(attemptOf(entry), standingWith(standing.get(attemptOf(entry)), entry))
  }
  return standing
}

function budgetsOf(entries: readonly LedgerEntry[]): string[] {
  return [...new Set(entries.flatMap(({ project, keyId }) => [`project:${project}`, `key:${keyId}`]))]
}

function attemptOf({ requestId, attempt }: LedgerEntry): string {
  return `${requestId}/${attempt}`
}

/** An entry given twice in one batch would be inserted once and counted twice. */
function once(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  const seen = new Set<string>()
  return entries.filter((entry) => {
    const identity = `${entry.requestId}/${entry.attempt}/${entry.kind}`
    return !seen.has(identity) && seen.add(identity)
  })
}

/** The ledger on each engine that can keep it, and a way to read what it keeps. */
import assert from 'node:assert/strict'
import { after } from 'node:test'
import type { BudgetState, BudgetWindow } from '#core/money/budget.ts'
import type { LedgerEntry } from '#core/money/ledger.ts'
import type { BudgetStore, SpendingReader } from '#ports/budgets.ts'
import type { LedgerStore } from '#ports/ledger.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { MemoryLedgerStore } from '#test/support/stores/ledger-store.ts'
import { PostgresBudgets } from '#stores/postgres/ledger/budgets.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { anEntry as anyEntry } from '#test/support/entries.ts'
import { testPglite } from '#test/support/pglite.ts'
import { testPostgres } from '#test/support/servers.ts'

export type KeptEntry = Pick<
  LedgerEntry,
  | 'requestId'
  | 'attempt'
  | 'kind'
  | 'keyId'
  | 'tokens'
  | 'images'
  | 'amountNanoUsd'
  | 'countsRequest'
  | 'hits'
  | 'savedNanoUsd'
>

export interface Sums {
  readonly posts: number
  readonly unknowns: number
  readonly tokens: number
  readonly images: number
  readonly amountNanoUsd: bigint
  readonly requests: number
  readonly hits: number
  readonly savedNanoUsd: bigint
  /** Of unresolved unknowns. */
  readonly unknownNanoUsd: bigint
}

export interface OpenLedger {
  readonly ledger: LedgerStore
  readonly budgets: BudgetStore & SpendingReader
  readonly inspect: {
    entries(project: string): Promise<readonly KeptEntry[]>
    /** What the rollups of a project add up to. In memory, the sums of its entries. */
    rollups(project: string): Promise<Sums>
    /** Undefined before the first question about the budget. */
    budgetState(budgetId: string, window: BudgetWindow): Promise<BudgetState | undefined>
    /** The end of the window that begins then: not the end of the given window, if the budget's period was changed. */
    windowEndMs(budgetId: string, window: BudgetWindow): Promise<number>
    /** What a node holds of it. */
    leaseNanoUsd(budgetId: string, window: BudgetWindow, nodeId: string): Promise<bigint>
  }
}

/** Stores that a test can look into. */
export interface OpenDatabaseLedger extends OpenLedger {
  readonly database: Database
}

const closings: (() => Promise<void>)[] = []
after(async () => {
  for (const close of closings) await close()
})

const identifiers = uuidv7Identifiers(systemClock)

/** A request, call, node or operation of this moment. */
export function nextId(): string {
  return identifiers.next()
}

/** The id of a request that was accepted at that moment. */
export function requestIdAt(atMs: number): string {
  return uuidv7Identifiers({ nowMs: () => atMs, monotonicMs: () => 0 }).next()
}

let names = 0

/** A project that no other test writes to. */
export function aProject(): string {
  names += 1
  return `project-${names}`
}

/** An entry of this moment, with unique ids. */
export function anEntry(project: string, overrides: Partial<LedgerEntry> = {}): LedgerEntry {
  const isPost = overrides.kind === undefined || overrides.kind === 'post'
  return anyEntry({
    requestId: nextId(),
    callId: nextId(),
    project,
    keyId: `${project}/key`,
    usage: isPost ? 'upstream' : 'unknown',
    tokens: isPost ? 10 : undefined,
    countsRequest: true,
    ...overrides,
  })
}

export async function aNode({ ledger }: Pick<OpenLedger, 'ledger'>): Promise<string> {
  const id = nextId()
  await ledger.startNode({ id, host: 'test', version: '0' })
  return id
}

/** Opened at the first call, and then the same for all. */
export function sharedLedger(open: () => Promise<OpenDatabaseLedger>): () => Promise<OpenDatabaseLedger> {
  let opened: Promise<OpenDatabaseLedger> | undefined
  return () => (opened ??= open())
}

export async function memoryLedger(): Promise<OpenLedger> {
  const stores = new MemoryLedgerStore(systemClock)
  const entriesOf = (project: string): readonly LedgerEntry[] =>
    stores.entries().filter((entry) => entry.project === project)
  return {
    ledger: stores,
    budgets: stores,
    inspect: {
      entries: async (project) => entriesOf(project),
      rollups: async (project) => sumsOf(entriesOf(project)),
      async budgetState(budgetId, window) {
        const { byNode, endMs: _, ...state } = stores.budgetState(budgetId, window) ?? { byNode: undefined }
        return byNode && (state as BudgetState)
      },
      windowEndMs: async (budgetId, window) => stores.budgetState(budgetId, window)?.endMs ?? window.endMs,
      leaseNanoUsd: async (budgetId, window, nodeId) =>
        stores.budgetState(budgetId, window)?.byNode.get(nodeId) ?? 0n,
    },
  }
}

export async function pgliteLedger(): Promise<OpenDatabaseLedger> {
  const database = await testPglite()
  closings.push(() => database.close())
  return databaseLedger(database)
}

/** As many connections as the liveliest test has writers, and a few to look on. */
const CONNECTIONS = 16

export async function postgresLedger(url?: string): Promise<OpenDatabaseLedger> {
  const database = openPostgres(url ?? (await testPostgres()).url, { poolSize: CONNECTIONS })
  closings.push(() => database.close())
  return databaseLedger(database)
}

async function databaseLedger(database: Database): Promise<OpenDatabaseLedger> {
  await migrate(database)
  return {
    ledger: new PostgresLedger(database),
    budgets: new PostgresBudgets(database),
    inspect: inspectionOf(database),
    database,
  }
}

interface KeptRow {
  readonly request_id: string
  readonly attempt: number
  readonly kind: LedgerEntry['kind']
  readonly key_id: string
  readonly tokens: bigint | null
  readonly images: number
  readonly amount_nano: bigint | null
  readonly requests: number | null
  readonly hits: number | null
  readonly saved_nano: bigint | null
}

interface BudgetRow {
  readonly limit_nano: bigint
  readonly spent_nano: bigint
  readonly leased_nano: bigint
  readonly sum_of_leases: bigint
}

function inspectionOf(database: Database): OpenLedger['inspect'] {
  return {
    async entries(project) {
      const rows = await database.query<KeptRow>('SELECT * FROM usage_events WHERE project = $1', [project])
      return rows.map((row) => ({
        requestId: row.request_id,
        attempt: row.attempt,
        kind: row.kind,
        keyId: row.key_id,
        tokens: row.tokens === null ? undefined : Number(row.tokens),
        images: row.images,
        amountNanoUsd: row.amount_nano ?? undefined,
        countsRequest: row.requests === 1,
        hits: row.hits ?? undefined,
        savedNanoUsd: row.saved_nano ?? undefined,
      }))
    },
    async rollups(project) {
      const [row] = await database.query<Record<string, bigint>>(
        `SELECT coalesce(sum(posts), 0)::bigint AS posts, coalesce(sum(unknowns), 0)::bigint AS unknowns,
           coalesce(sum(tokens), 0)::bigint AS tokens, coalesce(sum(images), 0)::bigint AS images,
           coalesce(sum(amount_nano), 0)::bigint AS amount, coalesce(sum(requests), 0)::bigint AS requests,
           coalesce(sum(hits), 0)::bigint AS hits, coalesce(sum(saved_nano), 0)::bigint AS saved,
           coalesce(sum(unknown_nano), 0)::bigint AS unknown
         FROM usage_hours WHERE project = $1`,
        [project],
      )
      if (row === undefined) throw new Error('a sum has one row')
      const sum = (name: string): bigint => row[name] as bigint
      return {
        posts: Number(sum('posts')),
        unknowns: Number(sum('unknowns')),
        tokens: Number(sum('tokens')),
        images: Number(sum('images')),
        amountNanoUsd: sum('amount'),
        requests: Number(sum('requests')),
        hits: Number(sum('hits')),
        savedNanoUsd: sum('saved'),
        unknownNanoUsd: sum('unknown'),
      }
    },
    async leaseNanoUsd(budgetId, { startMs }, nodeId) {
      const [row] = await database.query<{ amount_nano: bigint }>(
        'SELECT amount_nano FROM leases WHERE budget_id = $1 AND window_start = $2 AND node_id = $3',
        [budgetId, new Date(startMs), nodeId],
      )
      return row?.amount_nano ?? 0n
    },
    async windowEndMs(budgetId, { startMs, endMs }) {
      const [row] = await database.query<{ window_end: Date }>(
        'SELECT window_end FROM budgets WHERE budget_id = $1 AND window_start = $2',
        [budgetId, new Date(startMs)],
      )
      return row?.window_end.getTime() ?? endMs
    },
    async budgetState(budgetId, { startMs }) {
      const [row] = await database.query<BudgetRow>(
        `SELECT *, (
           SELECT coalesce(sum(amount_nano), 0)::bigint FROM leases
           WHERE leases.budget_id = budgets.budget_id AND leases.window_start = budgets.window_start
         ) AS sum_of_leases
         FROM budgets WHERE budget_id = $1 AND window_start = $2`,
        [budgetId, new Date(startMs)],
      )
      if (row === undefined) return undefined
      assert.equal(row.leased_nano, row.sum_of_leases)
      return { limitNanoUsd: row.limit_nano, spentNanoUsd: row.spent_nano, leasedNanoUsd: row.leased_nano }
    },
  }
}

/** The sums of entries, by the rules of the rollups. */
export function sumsOf(entries: readonly KeptEntry[]): Sums {
  const unknowns = new Set<string>()
  const resolved = new Set<string>()
  for (const { requestId, attempt, kind } of entries) {
    if (kind === 'unknown') unknowns.add(`${requestId}/${attempt}`)
    if (kind === 'post' || kind === 'void') resolved.add(`${requestId}/${attempt}`)
  }
  return {
    posts: entries.filter(({ kind }) => kind === 'post').length,
    unknowns: unknowns.difference(resolved).size,
    tokens: entries.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
    images: entries.reduce((sum, { images }) => sum + images, 0),
    amountNanoUsd: entries.reduce((sum, { amountNanoUsd }) => sum + (amountNanoUsd ?? 0n), 0n),
    requests: entries.filter(({ countsRequest }) => countsRequest).length,
    hits: entries.reduce((sum, { hits }) => sum + (hits ?? 0), 0),
    savedNanoUsd: entries.reduce((sum, { savedNanoUsd }) => sum + (savedNanoUsd ?? 0n), 0n),
    unknownNanoUsd: entries.reduce((sum, { requestId, attempt, kind, amountNanoUsd }) => {
      const isOpen = kind === 'unknown' && !resolved.has(`${requestId}/${attempt}`)
      return isOpen ? sum + (amountNanoUsd ?? 0n) : sum
    }, 0n),
  }
}

import type { Actor } from '#ports/audit.ts'
import type {
  ChangedFeeds,
  FeedState,
  FeedStore,
  NewFeed,
  PinnedTo,
  StoredFeed,
} from '#ports/catalog-feed.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import type { Database, Sql } from '../database.ts'
import { reachable } from '../unreachable.ts'
import { changeDirectory } from './directory.ts'

/** Feeds that one can go back to. Each has some hundred kilobytes. */
const MAX_STORED_FEEDS = 10

interface FeedRow {
  readonly sequence: bigint
  readonly made_on: string
  readonly digest: string
  readonly key_id: string
  readonly source: string
  readonly pulled_by: string
  readonly pulled_at: Date
}

/** Null: the catalogue in the program. */
interface PinRow {
  readonly sequence: bigint | null
}

const FEEDS = `
SELECT sequence, made_on, digest, key_id, source, pulled_by, pulled_at FROM catalog_feeds ORDER BY sequence DESC`

export class PostgresCatalogFeeds implements FeedStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  state(): Promise<FeedState> {
    return reachable(this.#database.transaction((sql) => stateIn(sql)))
  }

  async document(sequence: number): Promise<string | undefined> {
    const [row] = await reachable(
      this.#database.query<{ readonly document: string }>(
        'SELECT document FROM catalog_feeds WHERE sequence = $1',
        [sequence],
      ),
    )
    return row?.document
  }

  async add(feed: NewFeed, actor: Actor): Promise<ChangedFeeds> {
    const { sequence, madeOn, digest, keyId, source } = feed
    const before = await this.state()
    if (before.feeds.some((one) => one.sequence === sequence && one.digest === digest))
      return { isChanged: false, state: before }
    return changeDirectory(this.#database, async (sql) => {
      // The version's row is locked: nothing else is added or pinned meanwhile.
      const { feeds, pinned } = await stateIn(sql)
      const [newest] = feeds
      if (newest !== undefined && sequence <= newest.sequence)
        throw new ChangeRefused(
          'exists',
          `Sequence ${sequence} is not above ${newest.sequence}, which was pulled on ${new Date(newest.atMs).toISOString().slice(0, 10)}.`,
        )
      if (pinned !== undefined)
        throw new ChangeRefused(
          'in-use',
          `The catalogue is pinned to ${pinned}. Let the newest count again first: torana catalog pin latest.`,
        )
      await sql.query(
        `INSERT INTO catalog_feeds (sequence, made_on, digest, key_id, source, document, pulled_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [sequence, madeOn, digest, keyId, source, feed.document, actor.name],
      )
      await sql.query(
        `DELETE FROM catalog_feeds
         WHERE sequence NOT IN (SELECT sequence FROM catalog_feeds ORDER BY sequence DESC LIMIT $1)`,
        [MAX_STORED_FEEDS],
      )
      const detail = { made_on: madeOn, digest, key: keyId, source, before: newest?.sequence ?? null }
      return {
        result: { isChanged: true, state: await stateIn(sql) },
        audit: [{ actor, action: 'catalog.pull', target: String(sequence), detail }],
      }
    })
  }

  async pin(to: PinnedTo | undefined, actor: Actor): Promise<ChangedFeeds> {
    const before = await this.state()
    if (before.pinned === to) return { isChanged: false, state: before }
    return changeDirectory(this.#database, async (sql) => {
      const { feeds, pinned } = await stateIn(sql)
      if (typeof to === 'number' && !feeds.some(({ sequence }) => sequence === to))
        throw new ChangeRefused('missing', `No catalogue with the sequence ${to} is stored.`)
      await sql.query('DELETE FROM catalog_pin')
      if (to !== undefined)
        await sql.query('INSERT INTO catalog_pin (sequence) VALUES ($1)', [
          typeof to === 'number' ? to : null,
        ])
      const detail = { before: pinned ?? 'latest' }
      return {
        result: { isChanged: true, state: await stateIn(sql) },
        audit: [{ actor, action: 'catalog.pin', target: String(to ?? 'latest'), detail }],
      }
    })
  }
}

async function stateIn(sql: Sql): Promise<FeedState> {
  const rows = await sql.query<FeedRow>(FEEDS)
  const [pin] = await sql.query<PinRow>('SELECT sequence FROM catalog_pin')
  return {
    feeds: rows.map(feedOf),
    pinned: pin === undefined ? undefined : pin.sequence === null ? 'built-in' : Number(pin.sequence),
  }
}

function feedOf(row: FeedRow): StoredFeed {
  return {
    sequence: Number(row.sequence),
    madeOn: row.made_on,
    digest: row.digest,
    keyId: row.key_id,
    source: row.source,
    by: row.pulled_by,
    atMs: row.pulled_at.getTime(),
  }
}

import type { NodeSummary } from '#core/traffic/node-summary.ts'
import { FRESH_MS, WANTED_MS, type NodeNews } from '#ports/node-news.ts'
import { reachable } from './unreachable.ts'
import type { Database } from './database.ts'

/**
 * An unlogged table with one row per node. It needs no connection that stays open, has no limit of 8 KB as notifications have, and
 * works with the built-in database as on a server.
 */
const IS_WANTED = `SELECT FROM node_news_wanted WHERE at > now() - interval '${WANTED_MS} milliseconds'`

const WANT = `
INSERT INTO node_news_wanted (at) VALUES (now())
ON CONFLICT (only_row) DO UPDATE SET at = excluded.at
WHERE node_news_wanted.at < excluded.at - interval '${WANTED_MS / 4} milliseconds'`

const TELL = `
INSERT INTO node_news (node_id, at, summary) VALUES ($1, now(), $2)
ON CONFLICT (node_id) DO UPDATE SET at = excluded.at, summary = excluded.summary`

const READ = `SELECT summary FROM node_news WHERE at > now() - interval '${FRESH_MS} milliseconds'`

/** Nodes that are gone leave a row behind. */
const FORGET = `DELETE FROM node_news WHERE at < now() - interval '1 hour'`

export class PostgresNodeNews implements NodeNews {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async tell(nodeId: string, summary: () => NodeSummary): Promise<void> {
    const wanted = await reachable(this.#database.query(IS_WANTED, [], 'node-news-wanted'))
    if (wanted.length === 0) return
    await reachable(this.#database.query(TELL, [nodeId, JSON.stringify(summary())], 'node-news-tell'))
  }

  async read(): Promise<readonly NodeSummary[]> {
    await reachable(this.#database.query(WANT, [], 'node-news-want'))
    const rows = await reachable(this.#database.query<{ summary: string }>(READ, [], 'node-news-read'))
    if (rows.length === 0) await reachable(this.#database.query(FORGET))
    return rows.map(({ summary }) => JSON.parse(summary) as NodeSummary)
  }
}

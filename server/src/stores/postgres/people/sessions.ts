import { randomUUID } from 'node:crypto'
import type { Actor } from '#ports/audit.ts'
import type { NewSession, SessionRecord, SessionStore } from '#ports/sessions.ts'
import { reachable } from '../away.ts'
import type { Database } from '../database.ts'
import { changePeople, memberOf, secondsOf, type MemberRow } from './rows.ts'

/** A day at work without a break. Whoever comes back in the morning signs in. */
const IDLE_MS = 12 * 3_600_000
/** However busy it is: a stolen cookie must not work for ever. */
const LIFE_MS = 7 * 24 * 3_600_000

interface SessionRow extends MemberRow {
  readonly session_id: string
  readonly seen_at: Date
  readonly ends_at: Date
}

const COLUMNS = `s.session_id, s.seen_at, least(s.expires_at, s.seen_at + make_interval(secs => ${secondsOf(IDLE_MS)})) AS ends_at`

export class PostgresSessions implements SessionStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  begin({ memberId, digest, address }: NewSession): Promise<SessionRecord> {
    return changePeople(this.#database, async (sql) => {
      await sql.query(
        `INSERT INTO sessions (digest, session_id, member_id, address, expires_at)
         VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))`,
        [digest, randomUUID(), memberId, address, secondsOf(LIFE_MS)],
      )
      await sql.query('UPDATE members SET last_address = $2, last_seen_at = now() WHERE member_id = $1', [
        memberId,
        address,
      ])
      const [row] = await sql.query<SessionRow>(
        `SELECT m.*, ${COLUMNS} FROM sessions s JOIN members m USING (member_id) WHERE s.digest = $1`,
        [digest],
      )
      const session = sessionOf(row as SessionRow)
      const { email } = session.member
      return {
        result: session,
        audit: [
          {
            actor: { name: email, address },
            action: 'session.begin',
            target: email,
            detail: { session: session.id },
          },
        ],
      }
    })
  }

  async find(digest: Uint8Array): Promise<SessionRecord | undefined> {
    const [row] = await reachable(
      this.#database.query<SessionRow>(
        `SELECT m.*, ${COLUMNS} FROM sessions s JOIN members m USING (member_id)
         WHERE s.digest = $1 AND s.expires_at > now() AND m.disabled_at IS NULL
           AND s.seen_at > now() - make_interval(secs => $2)`,
        [digest, secondsOf(IDLE_MS)],
      ),
    )
    return row && sessionOf(row)
  }

  async touch(id: string): Promise<void> {
    await reachable(
      this.#database.query(
        `WITH touched AS (UPDATE sessions SET seen_at = now() WHERE session_id = $1 RETURNING member_id)
         UPDATE members SET last_seen_at = now() WHERE member_id IN (SELECT member_id FROM touched)`,
        [id],
      ),
    )
  }

  end(id: string, actor: Actor): Promise<void> {
    return changePeople(this.#database, async (sql) => {
      const ended = await sql.query('DELETE FROM sessions WHERE session_id = $1 RETURNING 1', [id])
      const action = { actor, action: 'session.end', target: actor.name, detail: { session: id } }
      return { result: undefined, audit: ended.length > 0 ? [action] : [] }
    })
  }

  endAllOf(memberId: string, actor: Actor): Promise<number> {
    return changePeople(this.#database, async (sql) => {
      const ended = await sql.query('DELETE FROM sessions WHERE member_id = $1 RETURNING 1', [memberId])
      const [member] = await sql.query<MemberRow>('SELECT * FROM members WHERE member_id = $1', [memberId])
      const action = { actor, action: 'session.end_all', detail: { sessions: ended.length } }
      return {
        result: ended.length,
        audit: member ? [{ ...action, target: member.email }] : [],
      }
    })
  }

  async sweep(): Promise<void> {
    await reachable(
      this.#database.query(
        'DELETE FROM sessions WHERE expires_at < now() OR seen_at < now() - make_interval(secs => $1)',
        [secondsOf(IDLE_MS)],
      ),
    )
  }
}

function sessionOf(row: SessionRow): SessionRecord {
  return {
    id: row.session_id,
    member: memberOf(row),
    seenAtMs: row.seen_at.getTime(),
    expiresAtMs: row.ends_at.getTime(),
  }
}

/** Rules and channels of alerts. */
import { KIND_TABLE, type AlertKind, type Condition } from '#core/alerts/kind.ts'
import type { QuietHours } from '#core/alerts/quiet-hours.ts'
import {
  maskedTarget,
  type AlertChannel,
  type AlertRule,
  type ChannelKind,
  type ChannelTarget,
} from '#core/alerts/rule.ts'
import type { NewAlertChannel, StoredAlerts } from '#ports/alerts.ts'
import type { Actor } from '#ports/audit.ts'
import type { SealingKeys } from '#ports/credentials.ts'
import { ChangeRefused } from '#ports/key-store.ts'
import { openSecret, sealSecret } from '../../envelope.ts'
import { changeAudited } from '../audit.ts'
import type { Database } from '../database.ts'
import { reachable } from '../unreachable.ts'

interface RuleRow {
  readonly rule_id: string
  readonly name: string
  readonly is_on: boolean
  readonly kind: AlertKind
  readonly condition: Condition
  readonly project: string | null
  readonly channels: readonly string[]
  readonly quiet: QuietHours | null
}

interface ChannelRow {
  readonly channel_id: string
  readonly name: string
  readonly kind: ChannelKind
  readonly masked: string
  readonly keeps_quiet: boolean
  readonly sealed_key: Buffer
  readonly sealed_secret: Buffer
}

/** A number that no other lock of the database uses: changes of rules and channels come one after another. */
const ALERTS_LOCK = 0x61_6c_72_74

const PUT_RULE = `
INSERT INTO alert_rules (rule_id, name, is_on, kind, condition, project, channels, quiet)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (rule_id) DO UPDATE SET name = excluded.name, is_on = excluded.is_on, kind = excluded.kind,
  condition = excluded.condition, project = excluded.project, channels = excluded.channels, quiet = excluded.quiet,
  updated_at = now()`

const PUT_CHANNEL = `
INSERT INTO alert_channels (channel_id, name, kind, masked, keeps_quiet, sealed_key, sealed_secret)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (channel_id) DO UPDATE SET name = excluded.name, kind = excluded.kind, masked = excluded.masked,
  keeps_quiet = excluded.keeps_quiet, sealed_key = excluded.sealed_key, sealed_secret = excluded.sealed_secret,
  updated_at = now()`

/** Notices that no node has tried yet wait until then, and those that waited for an earlier end. */
const MUTE_WAITING = `
UPDATE alert_notices SET is_muted = true, due_at = greatest(coalesce(held_until, now()), $1)
WHERE ended_at IS NULL AND tries = 0`

const UNMUTE_WAITING = `
UPDATE alert_notices SET is_muted = false, due_at = coalesce(held_until, now())
WHERE ended_at IS NULL AND is_muted`

/** Bound of the store: each rule is evaluated every few seconds. */
const MAX_ALERT_RULES = 100
/** Bound of the store: each channel has a queue, and a person who reads it. */
const MAX_ALERT_CHANNELS = 50

/**
 * Rules and channels of people. Every change is one step with its audit entry. A change that can't be made rejects with
 * `ChangeRefused`; trouble with the store with `StoreUnreachable`.
 */
export class PostgresAlertRules {
  readonly #database: Database
  readonly #keys: SealingKeys

  constructor(database: Database, keys: SealingKeys) {
    this.#database = database
    this.#keys = keys
  }

  async read(): Promise<StoredAlerts> {
    const [rules, channels, mutes] = await reachable(
      Promise.all([
        this.#database.query<RuleRow>('SELECT * FROM alert_rules ORDER BY created_at, rule_id'),
        this.#database.query<ChannelRow>('SELECT * FROM alert_channels ORDER BY created_at, channel_id'),
        this.#database.query<{ readonly until: Date }>(
          'SELECT muted_until AS until FROM alert_mute WHERE muted_until > now()',
        ),
      ]),
    )
    return {
      rules: rules.map(ruleOf),
      channels: channels.map(channelOf),
      mutedUntilMs: mutes[0]?.until.getTime(),
    }
  }

  /** Adds a rule or replaces the one with its id. Refused: `exists` beyond `MAX_ALERT_RULES`, `missing` if `isNew` is false. */
  putRule(rule: AlertRule, isNew: boolean, actor: Actor): Promise<AlertRule> {
    const { id, name, isOn, kind, condition, scope, channels, quiet } = rule
    return this.#change(async (sql) => {
      const [before] = await sql.query<RuleRow>('SELECT * FROM alert_rules WHERE rule_id = $1', [id])
      if (isNew) checkRoom(await sql.query(COUNT_RULES), MAX_ALERT_RULES, 'alert rules')
      else if (before === undefined) throw new ChangeRefused('missing', `There is no alert rule ${id}.`)
      await sql.query(PUT_RULE, [
        id,
        name,
        isOn,
        kind,
        JSON.stringify(condition),
        'project' in scope ? scope.project : null,
        channels,
        quiet === undefined ? null : JSON.stringify(quiet),
      ])
      const detail = { ...(before && { before: shownRule(ruleOf(before)) }), after: shownRule(rule) }
      const action = isNew ? 'alert_rule.create' : 'alert_rule.change'
      return { result: rule, audit: [{ actor, action, target: id, detail }] }
    })
  }

  /** Refused: `missing`. */
  dropRule(id: string, actor: Actor): Promise<void> {
    return this.#change(async (sql) => {
      const [row] = await sql.query<RuleRow>('DELETE FROM alert_rules WHERE rule_id = $1 RETURNING *', [id])
      if (row === undefined) throw new ChangeRefused('missing', `There is no alert rule ${id}.`)
      const detail = { before: shownRule(ruleOf(row)) }
      return { result: undefined, audit: [{ actor, action: 'alert_rule.delete', target: id, detail }] }
    })
  }

  /** Refused: `exists` for a name that is taken, and beyond `MAX_ALERT_CHANNELS`; `missing` if `isNew` is false. */
  putChannel(channel: NewAlertChannel, isNew: boolean, actor: Actor): Promise<AlertChannel> {
    const { id, name, target, keepsQuiet } = channel
    const { sealedKey, sealedSecret } = sealSecret(JSON.stringify(target), id, this.#keys)
    const shown = { id, name, kind: target.kind, masked: maskedTarget(target), keepsQuiet }
    return this.#change(async (sql) => {
      const same = await sql.query<ChannelRow>(
        'SELECT * FROM alert_channels WHERE channel_id = $1 OR name = $2',
        [id, name],
      )
      const before = same.find((one) => one.channel_id === id)
      if (same.some((one) => one.channel_id !== id))
        throw new ChangeRefused('exists', `Alert channel ${name} already exists.`)
      if (isNew) checkRoom(await sql.query(COUNT_CHANNELS), MAX_ALERT_CHANNELS, 'alert channels')
      else if (before === undefined) throw new ChangeRefused('missing', `There is no alert channel ${id}.`)
      const values = [id, name, shown.kind, shown.masked, keepsQuiet, sealedKey, sealedSecret]
      await sql.query(PUT_CHANNEL, values)
      const detail = {
        ...(before && { before: shownChannel(channelOf(before)) }),
        after: shownChannel(shown),
      }
      const action = isNew ? 'alert_channel.create' : 'alert_channel.change'
      return { result: shown, audit: [{ actor, action, target: id, detail }] }
    })
  }

  /** With the notices that wait for it. Refused: `missing`, and `in-use` while a rule of the store names it. */
  dropChannel(id: string, actor: Actor): Promise<void> {
    return this.#change(async (sql) => {
      const users = await sql.query<RuleRow>(
        'SELECT * FROM alert_rules WHERE $1 = ANY (channels) ORDER BY created_at LIMIT 4',
        [id],
      )
      if (users.length > 0) {
        const rules = users.map(({ name, kind }) => name || KIND_TABLE[kind].name).join(', ')
        throw new ChangeRefused('in-use', `Rules send to this channel: ${rules}. Take it out of them first.`)
      }
      const [row] = await sql.query<ChannelRow>(
        'DELETE FROM alert_channels WHERE channel_id = $1 RETURNING *',
        [id],
      )
      if (row === undefined) throw new ChangeRefused('missing', `There is no alert channel ${id}.`)
      await sql.query(
        `UPDATE alert_notices SET ended_at = now(), outcome = 'dropped' WHERE channel_id = $1 AND ended_at IS NULL`,
        [id],
      )
      await sql.query('DELETE FROM alert_queues WHERE channel_id = $1', [id])
      const detail = { before: shownChannel(channelOf(row)) }
      return { result: undefined, audit: [{ actor, action: 'alert_channel.delete', target: id, detail }] }
    })
  }

  /** Undefined: there is no such channel. Rejects with `CredentialLost`. */
  async target(id: string): Promise<ChannelTarget | undefined> {
    const [row] = await reachable(
      this.#database.query<ChannelRow>('SELECT * FROM alert_channels WHERE channel_id = $1', [id]),
    )
    if (row === undefined) return undefined
    const envelope = { sealedKey: row.sealed_key, sealedSecret: row.sealed_secret }
    const { secret, renewedKey } = openSecret(envelope, id, this.#keys)
    if (renewedKey)
      await reachable(
        this.#database.query(
          'UPDATE alert_channels SET sealed_key = $3 WHERE channel_id = $1 AND sealed_key = $2',
          [id, row.sealed_key, renewedKey],
        ),
      )
    return JSON.parse(secret) as ChannelTarget
  }

  /**
   * Holds all notices until then, also those that wait. Undefined: no longer, and what waits because of it is sent unless
   * quiet hours hold it.
   */
  mute(untilMs: number | undefined, actor: Actor): Promise<void> {
    const until = untilMs === undefined ? null : new Date(untilMs)
    return this.#change(async (sql) => {
      await sql.query(
        `INSERT INTO alert_mute (muted_until, muted_by) VALUES ($1, $2)
         ON CONFLICT (only_row) DO UPDATE SET muted_until = excluded.muted_until, muted_by = excluded.muted_by`,
        [until, actor.name],
      )
      await (until === null ? sql.query(UNMUTE_WAITING) : sql.query(MUTE_WAITING, [until]))
      const detail = { until: until?.toISOString() ?? null }
      return { result: undefined, audit: [{ actor, action: 'alerts.mute', target: 'alerts', detail }] }
    })
  }

  #change<Result>(change: Parameters<typeof changeAudited<Result>>[1]): Promise<Result> {
    return changeAudited(this.#database, async (sql) => {
      await sql.query('SELECT pg_advisory_xact_lock($1)', [ALERTS_LOCK])
      return change(sql)
    })
  }
}

const COUNT_RULES = 'SELECT count(*) AS count FROM alert_rules'
const COUNT_CHANNELS = 'SELECT count(*) AS count FROM alert_channels'

function checkRoom(rows: readonly { readonly count: bigint }[], max: number, what: string): void {
  if (Number(rows[0]?.count ?? 0n) < max) return
  throw new ChangeRefused(
    'exists',
    `There are ${max} ${what} already, which is the maximum. Delete one first.`,
  )
}

function ruleOf(row: RuleRow): AlertRule {
  return {
    id: row.rule_id,
    name: row.name,
    isOn: row.is_on,
    kind: row.kind,
    condition: row.condition,
    scope: row.project === null ? { installation: true } : { project: row.project },
    channels: row.channels,
    quiet: row.quiet ?? undefined,
  }
}

function channelOf(row: ChannelRow): AlertChannel {
  const { channel_id: id, name, kind, masked, keeps_quiet: keepsQuiet } = row
  return { id, name, kind, masked, keepsQuiet }
}

function shownRule(rule: AlertRule): Readonly<Record<string, unknown>> {
  return { ...rule, quiet: rule.quiet ?? null }
}

function shownChannel(channel: AlertChannel): Readonly<Record<string, unknown>> {
  return { ...channel }
}

/** What people see of keys and projects beside their terms. It is read from sums, which may be an hour old. */

/** Whose activity is asked for, and from when on its spending counts. */
export interface ActivityQuestion {
  /** The id of a key, or the name of a project. */
  readonly id: string
  /** The beginning of its budget's window. Undefined: it has no budget. */
  readonly spentSinceMs: number | undefined
}

export interface Activity {
  /** Requests of each of the last thirty days in UTC, oldest first; the last is today. */
  readonly requests30d: readonly number[]
  readonly requests24h: number
  readonly spentNanoUsd: bigint
}

export const ACTIVITY_DAYS = 30

/** One event for one webhook, without what was sent. */
export interface WebhookRecord {
  readonly id: string
  readonly project: string
  readonly type: string
  readonly url: string
  /** Tells its webhook apart from others that have the same event. */
  readonly mark: string
  readonly tries: number
  readonly createdAtMs: number
  readonly endedAtMs: number | undefined
  readonly outcome: 'sent' | 'given-up' | 'waiting'
}

export interface WebhookPage {
  readonly projects?: readonly string[] | undefined
  readonly outcome?: WebhookRecord['outcome'] | undefined
  /** The last of the page before. */
  readonly after?: Pick<WebhookRecord, 'createdAtMs' | 'id' | 'mark'> | undefined
  readonly limit: number
}

/** Each question is answered for a whole page at once, never key by key. Rejects with `StoreAway` when the store can't be reached. */
export interface KeyReports {
  /** By id. A key that was never used has no entry. */
  ofKeys(keys: readonly ActivityQuestion[], nowMs: number): Promise<ReadonlyMap<string, Activity>>
  /** By name. */
  ofProjects(projects: readonly ActivityQuestion[], nowMs: number): Promise<ReadonlyMap<string, Activity>>
  /** How many members that are not disabled see each of these projects, by name. */
  membersOf(projects: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Newest first. */
  webhookEvents(page: WebhookPage): Promise<readonly WebhookRecord[]>
  /** The newest event of each webhook of these projects. */
  lastWebhookEvents(projects: readonly string[]): Promise<readonly WebhookRecord[]>
}

/** Alerts: rules and channels of the store, incidents, and notices that are kept until they were sent. */
import type { IncidentStep, OpenIncident } from '#core/alerts/incident.ts'
import type { Notice, NoticePhase } from '#core/alerts/notice.ts'
import type { AlertChannel, AlertRule, ChannelTarget } from '#core/alerts/rule.ts'
import type { Actor } from './audit.ts'

/** What the store has of rules and channels, without anything secret. */
export interface StoredAlerts {
  readonly rules: readonly AlertRule[]
  readonly channels: readonly AlertChannel[]
  /** Undefined: nothing is muted. */
  readonly mutedUntilMs: number | undefined
}

export interface NewAlertChannel {
  readonly id: string
  readonly name: string
  readonly target: ChannelTarget
  readonly keepsQuiet: boolean
}

/** Bound of the store: each rule is evaluated every few seconds. */
export const MAX_ALERT_RULES = 100
/** Bound of the store: each channel has a queue, and a person who reads it. */
export const MAX_ALERT_CHANNELS = 50

/**
 * Rules and channels of people. Every change is one step with its audit entry. A change that can't be made rejects with
 * `ChangeRefused`; trouble with the store with `StoreUnreachable`.
 */
export interface AlertStore {
  read(): Promise<StoredAlerts>
  /** Adds a rule or replaces the one with its id. Refused: `exists` beyond `MAX_ALERT_RULES`, `missing` if `isNew` is false. */
  putRule(rule: AlertRule, isNew: boolean, actor: Actor): Promise<AlertRule>
  /** Refused: `missing`. */
  dropRule(id: string, actor: Actor): Promise<void>
  /** Refused: `exists` for a name that is taken, and beyond `MAX_ALERT_CHANNELS`; `missing` if `isNew` is false. */
  putChannel(channel: NewAlertChannel, isNew: boolean, actor: Actor): Promise<AlertChannel>
  /** With the notices that wait for it. Refused: `missing`, and `in-use` while a rule of the store names it. */
  dropChannel(id: string, actor: Actor): Promise<void>
  /** Undefined: there is no such channel. Rejects with `CredentialLost`. */
  target(id: string): Promise<ChannelTarget | undefined>
  /**
   * Holds all notices until then, also those that wait. Undefined: no longer, and what waits because of it is sent unless
   * quiet hours hold it.
   */
  mute(untilMs: number | undefined, actor: Actor): Promise<void>
}

/** A notice that this node is to send now. */
export interface DueNotice {
  readonly incident: string
  readonly channel: string
  readonly sequence: number
  readonly phase: NoticePhase
  readonly notice: Notice
  /** Number of tries, this one included. */
  readonly tries: number
  /** Failures of the channel in a row, without this try. */
  readonly failures: number
  /** When it was first to be sent. */
  readonly dueAtMs: number
}

export interface DeliveryResult {
  readonly isOk: boolean
  /** Undefined: there was no answer, or the channel has none. */
  readonly status: number | undefined
  readonly ms: number
  /** Without anything secret. Undefined when it arrived. */
  readonly problem: string | undefined
}

/** What happens to a notice and its channel after a try. */
export type AfterTry =
  | { readonly outcome: 'sent'; readonly pauseMs: number }
  | { readonly outcome: 'failed' | 'given-up'; readonly retryInMs: number }

/** Hold of a channel by the node that sends to it: longer than a try may take. */
export const CHANNEL_HOLD_MS = 30_000

/**
 * Incidents and their notices. An incident starts once and ends once, whichever nodes report it. Notices are written with the
 * step that they announce, are sent at least once, and in order for each incident and channel: a node that dies between
 * sending one and recording it leaves it to another. Every method may be repeated after a lost answer, and rejects with
 * `StoreUnreachable`.
 */
export interface AlertOutbox {
  /** Those that have not ended. */
  openIncidents(): Promise<readonly OpenIncident[]>
  /** A step that was done already adds nothing. Returns the steps that were done now. */
  record(steps: readonly IncidentStep[]): Promise<readonly IncidentStep[]>
  /** Takes at most one due notice of each channel that no node holds. */
  due(limit: number): Promise<readonly DueNotice[]>
  /** Records a try, and gives the channel back. */
  tried(notice: DueNotice, result: DeliveryResult, after: AfterTry): Promise<void>
  /** Records a test. */
  tested(channel: string, result: DeliveryResult, atMs: number): Promise<void>
  /** Lets a failing channel be tried at once. */
  retryNow(channel: string): Promise<void>
  /** Deletes incidents that ended, and tests made, more than `keptMs` ago; returns how many incidents. */
  deleteOld(keptMs: number): Promise<number>
}

/** Retention of incidents: the questions of a quarter. */
export const INCIDENTS_KEPT_MS = 90 * 86_400_000

/** Sends one notice once, in the form of the channel. Rejects never: what went wrong is in the result. */
export interface AlertTransport {
  send(target: ChannelTarget, notice: Notice): Promise<DeliveryResult>
}

/** Alerts: rules and channels of the store, incidents, and notices that are kept until they were sent. */
import type { Notice, NoticePhase } from '#core/alerts/notice.ts'
import type { AlertChannel, AlertRule, ChannelTarget } from '#core/alerts/rule.ts'

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

/** Sends one notice once, in the form of the channel. Rejects never: what went wrong is in the result. */
export interface AlertTransport {
  send(target: ChannelTarget, notice: Notice): Promise<DeliveryResult>
}

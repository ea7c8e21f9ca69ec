/** Rules, channels and quiet hours, as torana.yaml or the store has them. */
import type { AlertKind, AlertScope, Condition } from './kind.ts'
import type { QuietHours } from './quiet-hours.ts'

export interface AlertRule {
  readonly id: string
  /** Empty: it is shown by its kind. */
  readonly name: string
  readonly isOn: boolean
  readonly kind: AlertKind
  readonly condition: Condition
  readonly scope: AlertScope
  /** Ids of channels. */
  readonly channels: readonly string[]
  readonly quiet: QuietHours | undefined
}

export const CHANNEL_KINDS = ['slack', 'teams', 'pagerduty', 'email', 'webhook'] as const
export type ChannelKind = (typeof CHANNEL_KINDS)[number]

/** Where notices of a channel go. All of it is secret: knowing the URL of a chat is enough to post there. */
export type ChannelTarget =
  | { readonly kind: 'slack' | 'teams'; readonly url: string; readonly isPrivate: boolean }
  | { readonly kind: 'webhook'; readonly url: string; readonly isPrivate: boolean; readonly secret: string }
  | {
      readonly kind: 'pagerduty'
      readonly url: string
      readonly isPrivate: boolean
      readonly routingKey: string
    }
  | { readonly kind: 'email'; readonly to: readonly string[] }

/** What may be shown of a channel. */
export interface AlertChannel {
  readonly id: string
  readonly name: string
  readonly kind: ChannelKind
  readonly masked: string
  /** Whether the quiet hours of rules hold its notices. */
  readonly keepsQuiet: boolean
}

/** What torana.yaml declares. */
export interface DeclaredAlerts {
  readonly channels: readonly (AlertChannel & {
    readonly target: ChannelTarget
    /** `torana.yaml:88`. */
    readonly managedBy: string
  })[]
  readonly rules: readonly (AlertRule & { readonly managedBy: string })[]
}

export const NO_ALERTS: DeclaredAlerts = { channels: [], rules: [] }

/** Ids of declared objects. Those of the store never begin so. */
export function declaredId(name: string): string {
  return `file.${name}`
}

/** The name in torana.yaml. */
export function declaredName(id: string): string {
  return id.replace(/^file\./, '')
}

/** Where PagerDuty takes events of accounts in the United States. */
export const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue'

/** On call: a page that waits for the morning is none. */
export function keepsQuietByDefault(kind: ChannelKind): boolean {
  return kind !== 'pagerduty'
}

/** Characters of a secret that are shown. */
const TAIL = 4
/** Shorter secrets show nothing: their end would be a large part of them. */
const SHOWN_FROM = 16

/** What people recognise a channel by. */
export function maskedTarget(target: ChannelTarget): string {
  if (target.kind === 'email') {
    const [first = '', ...others] = target.to
    return others.length === 0 ? first : `${first} +${others.length}`
  }
  if (target.kind === 'pagerduty') return `Routing key …${tailOf(target.routingKey)}`
  return maskedUrl(target.url)
}

/** `hooks.slack.com/…/x9Qd` of a chat; the path of any other URL is left out if it is short. */
function maskedUrl(url: string): string {
  const [, host = '', path = ''] = /^https?:\/\/([^/?#]+)\/?(.*)$/.exec(url) ?? []
  return path === '' ? host : `${host}/…${tailOf(path) && `/${tailOf(path)}`}`
}

function tailOf(secret: string): string {
  return secret.length < SHOWN_FROM ? '' : secret.slice(-TAIL)
}

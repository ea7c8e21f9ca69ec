/**
 * How an upstream call can fail, in the terms by which the journey decides. A dialect names the failure;
 * `request/traffic/next-deployment.ts` decides whether another deployment is tried, and `of-failure.ts` what the caller
 * gets.
 */
import type { ImageUsage } from '../money/usage.ts'
import { withoutAddresses } from './connection-words.ts'

export type FailureKind =
  /** The upstream refused the request itself (400, 413, 422): another deployment would too. */
  | 'refused'
  /** The upstream refused the content: terminal, never failed over. */
  | 'contentRefused'
  /** Our credential, quota or permission there is at fault (401, 402, 403, no credit). */
  | 'rejectedUs'
  /** The upstream does not know its model or path (404). */
  | 'missing'
  | 'rateLimited'
  /** 5xx. */
  | 'failed'
  /** Connection refused, reset, name not found: no answer at all. */
  | 'unreachable'
  | 'timedOut'
  /** An answer came and is invalid: not JSON, wrong count, wrong width, not finite. */
  | 'broken'

const TERMINAL: ReadonlySet<FailureKind> = new Set<FailureKind>(['refused', 'contentRefused'])
const AMBIGUOUS: ReadonlySet<FailureKind> = new Set<FailureKind>(['unreachable', 'timedOut', 'broken'])

export interface FailureDetail {
  readonly deployment: string
  readonly status?: number | undefined
  readonly retryAfterMs?: number | undefined
  /** The upstream's own request id, for its support desk. */
  readonly upstreamRequestId?: string | undefined
  /** The upstream's own error code. Unlike its message it can't repeat what a caller sent. */
  readonly code?: string | undefined
  /** The upstream's own error type, where it says more than the code: OpenAI's `image_generation_user_error`. */
  readonly type?: string | undefined
  /** The findings of the upstream's moderation, one word each. */
  readonly moderation?: Readonly<Record<string, unknown>> | undefined
  /** Whether it may have been charged, where that is known better than from its kind. */
  readonly charge?: 'none' | 'unknown' | undefined
  /** The usage that an answer without images reports. It is charged, and nothing about it is unknown. */
  readonly counted?: ImageUsage['tokens'] | undefined
  /** The field the upstream complained about, when it said so. */
  readonly param?: string | undefined
  /** The place in the call of a text that is longer than the model reads. The message follows its name. */
  readonly tooLongInput?: number | undefined
  /** The width of a vector that came instead of the expected one; never 0. It means another model, not an accident of one answer. */
  readonly wrongWidth?: number | undefined
  /** Its vectors are of another space. The call itself is paid for, and the deployment is quarantined. */
  readonly leftSpace?: true | undefined
  /** The same request would fail in the same way: it should not be paid for again. */
  readonly isLasting?: boolean | undefined
}

export class UpstreamFailure extends Error {
  readonly kind: FailureKind
  readonly detail: FailureDetail
  /** The message for operators: it may name addresses of the installation. */
  readonly reason: string

  /** `message` is for callers. `reason`: where operators should read more. */
  constructor(kind: FailureKind, message: string, detail: FailureDetail, reason = message) {
    // An upstream's words may come at any length; those of every dialect are cut before.
    super(withoutAddresses(message.slice(0, MAX_MATCHED)))
    this.name = 'UpstreamFailure'
    this.kind = kind
    this.detail = detail
    this.reason = reason
  }

  get mayTryAnother(): boolean {
    return !TERMINAL.has(this.kind)
  }

  /**
   * Whether one text of many may be the reason, also where another deployment is worth a try: a firewall in front of an
   * upstream answers 403, a server that stumbles over a text answers 500, 404 or not in time. A rate limit, a wrong
   * credential and an unreachable upstream are never about a text.
   */
  get mayBeOneText(): boolean {
    if (this.detail.leftSpace) return false
    if (this.kind === 'rejectedUs') return this.mayBeForbiddenText
    return this.kind !== 'rateLimited' && this.kind !== 'unreachable'
  }

  /** A 403 that may concern the content as well as our credential. */
  get mayBeForbiddenText(): boolean {
    const { status, code } = this.detail
    return this.kind === 'rejectedUs' && status === 403 && !(code !== undefined && QUOTA_CODES.has(code))
  }

  /** Its message may repeat what the caller sent, so it must not be logged. */
  get isInUpstreamsWords(): boolean {
    return this.kind !== 'broken' && this.detail.status !== undefined
  }

  /** It is not known whether it was charged. An answer that reports its usage is not ambiguous. */
  get isAmbiguous(): boolean {
    return this.mayBeCharged && this.detail.counted === undefined
  }

  /**
   * Upstreams don't charge for what they answer with an error. Without an answer, or with a broken one, it is not known.
   */
  get mayBeCharged(): boolean {
    const { charge } = this.detail
    return charge === undefined ? AMBIGUOUS.has(this.kind) : charge === 'unknown'
  }
}

/** Replaces an upstream's words about a call that several requests shared. */
const WITHHELD = 'several requests shared the call, so its message is not shown'

/**
 * The failure of a call that several requests shared, as each of them may see it: the upstream's message may quote the text
 * of another request, so only the kind, the status and our own words are left.
 */
export function withoutWords({ kind, message, detail, reason }: UpstreamFailure): UpstreamFailure {
  const { deployment, status, retryAfterMs, charge, wrongWidth, isLasting, leftSpace } = detail
  const words = ownWords(kind, message, status)
  return new UpstreamFailure(
    kind,
    words,
    { deployment, status, retryAfterMs, charge, wrongWidth, isLasting, leftSpace },
    words === message ? reason : words,
  )
}

/** Without an answer, the words are our own. */
function ownWords(kind: FailureKind, message: string, status: number | undefined): string {
  if (kind === 'broken') return 'an answer that Torana can not use'
  const isOwn = status === undefined && (kind === 'unreachable' || kind === 'timedOut')
  if (isOwn) return message
  return kind === 'unreachable' || kind === 'timedOut' ? WITHHELD : `${WITHHELD}.`
}

/** The caller's deadline passed before a call was sent: nothing was bought, and nothing learnt about the deployment. */
export function outOfTime(deployment: string): UpstreamFailure {
  return new UpstreamFailure('timedOut', 'the time of the whole request had run out', {
    deployment,
    charge: 'none',
  })
}

/** The meaning of an upstream's HTTP status. `code` is the error code in its body, where it gave one. */
export function failureKindOf(status: number, code: string | undefined): FailureKind {
  if (code !== undefined && CONTENT_CODES.has(code)) return 'contentRefused'
  if (code !== undefined && QUOTA_CODES.has(code)) return 'rejectedUs'
  if (status === 401 || status === 402 || status === 403) return 'rejectedUs'
  if (status === 404) return 'missing'
  if (status === 408 || status === 504) return 'timedOut'
  if (status === 429) return 'rateLimited'
  if (status === 424 || status >= 500) return 'failed'
  if (status >= 400) return 'refused'
  return 'broken'
}

const CONTENT_CODES: ReadonlySet<string> = new Set([
  'content_filter',
  'contentFilter',
  'content_policy_violation',
  'moderation_blocked',
])
/** Codes about our account or our key, whatever the status. Some upstreams send them with 400. */
const QUOTA_CODES: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'credit_balance_exhausted',
  'billing_hard_limit_reached',
  // Alibaba.
  'Arrearage',
  'invalid_api_key',
  // Google.
  'API_KEY_INVALID',
])

/** The code of a firewall's page in front of an upstream: the upstream never saw the call. */
export const FIREWALL_CODE = 'firewall'

/** Characters of a message that patterns run over: twice what is shown, since they cut something out. */
const MAX_MATCHED = 2048
const MAX_SHOWN = 1000

/** Removes exact values, wherever they are. Takes time linear in the message. */
export function withoutSecrets(message: string, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message)
}

/**
 * Upstreams echo what they were sent. Nothing that looks like a credential reaches a caller, and neither do the upstream's
 * own secrets, which may look like nothing in particular. The message is cut before any pattern runs, because others chose
 * the text.
 */
export function scrubbed(message: string, secrets: readonly string[] = []): string {
  return withoutSecrets(message, secrets)
    .slice(0, MAX_MATCHED)
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 ***')
    .replace(/\b(sk|pk|rk|tr|key|api|token|xai|gsk|hf|r8|AIza|AKIA|ya29)[-_.]?[A-Za-z0-9*_-]{12,}/g, '***')
    .replace(/\b[A-Za-z0-9_-]{32,}\b/g, '***')
    .slice(0, MAX_SHOWN)
}

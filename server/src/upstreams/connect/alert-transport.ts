/** Sends notices of alerts: as webhooks, or as mail. */
import { mailOf, postOf } from '#core/alerts/shapes.ts'
import type { Notice } from '#core/alerts/notice.ts'
import type { ChannelTarget } from '#core/alerts/rule.ts'
import type { SmtpSettings } from '#core/settings.ts'
import type { AlertTransport, DeliveryResult } from '#ports/alerts.ts'
import type { Clock } from '#ports/clock.ts'
import type { WebhookTransport } from '#ports/webhooks.ts'

export interface AlertTransportParts {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** For public addresses. */
  readonly guarded: WebhookTransport
  /** For those that an admin allowed to be private. */
  readonly open: WebhookTransport
  readonly smtp: SmtpSettings | undefined
}

/** What is kept of the words of a failure. */
const MAX_PROBLEM = 300
/** A mail server that does not answer in this time has not accepted it. */
const SMTP_TIMEOUT_MS = 10_000

export function alertTransport({ clock, guarded, open, smtp }: AlertTransportParts): AlertTransport {
  const post = async (target: Exclude<ChannelTarget, { kind: 'email' }>, notice: Notice): Promise<number> => {
    const { status } = await (target.isPrivate ? open : guarded).post({
      url: target.url,
      secret: target.kind === 'webhook' ? target.secret : undefined,
      id: notice.id,
      payload: JSON.stringify(postOf(target, notice)),
    })
    if (status < 200 || status > 299) throw new StatusRefused(status)
    return status
  }
  const send = async (target: ChannelTarget, notice: Notice): Promise<number | undefined> => {
    if (target.kind === 'email') {
      await sendMail(smtp, target.to, notice)
      return undefined
    }
    const status = await post(target, notice)
    // A test must wake no one: what it opened at PagerDuty is closed at once.
    if (target.kind === 'pagerduty' && notice.isTest) await post(target, { ...notice, phase: 'end' })
    return status
  }
  return {
    async send(target, notice): Promise<DeliveryResult> {
      const startMs = clock.monotonicMs()
      const elapsedMs = (): number => Math.round(clock.monotonicMs() - startMs)
      try {
        const status = await send(target, notice)
        return { isOk: true, status, ms: elapsedMs(), problem: undefined }
      } catch (error) {
        const status = error instanceof StatusRefused ? error.status : undefined
        const problem = error instanceof Error ? error.message : String(error)
        return { isOk: false, status, ms: elapsedMs(), problem: problem.slice(0, MAX_PROBLEM) }
      }
    },
  }
}

class StatusRefused extends Error {
  override readonly name = 'StatusRefused'
  readonly status: number

  constructor(status: number) {
    super(`HTTP ${status}`)
    this.status = status
  }
}

/** The library is loaded with the first mail: most nodes send none. */
async function sendMail(
  smtp: SmtpSettings | undefined,
  to: readonly string[],
  notice: Notice,
): Promise<void> {
  if (smtp === undefined) throw new Error('SMTP_URL and SMTP_FROM are not set on this node')
  const { createTransport } = await import('nodemailer')
  const { protocol, hostname, port, username, password } = new URL(smtp.url)
  const isSecure = protocol === 'smtps:'
  const transport = createTransport({
    host: hostname,
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    ...(username !== '' && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    }),
    connectionTimeout: SMTP_TIMEOUT_MS / 2,
    greetingTimeout: SMTP_TIMEOUT_MS / 2,
    socketTimeout: SMTP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const thread = `<${notice.incident}@torana>`
  try {
    await transport.sendMail({
      from: smtp.from,
      to: [...to],
      ...mailOf(notice),
      // The same in every try, and one conversation for each incident.
      messageId: `<${notice.id}@torana>`,
      references: thread,
      inReplyTo: thread,
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
  } finally {
    transport.close()
  }
}

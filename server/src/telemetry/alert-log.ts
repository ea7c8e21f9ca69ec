/** What becomes of alerts, in the log. */
import type { IncidentStep } from '#core/alerts/incident.ts'
import type { DueNotice } from '#ports/alerts.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { Log } from './log.ts'

const WORDS = {
  start: 'an incident started',
  worse: 'an incident got worse',
  end: 'an incident ended',
} as const

export function alertLog(log: Pick<Log, 'info' | 'warn' | 'error'>) {
  return {
    recorded({ step, incident: { id, kind, title } }: IncidentStep) {
      const fields = { incident: id, kind, title }
      if (step === 'change') return
      if (step === 'end') log.info(fields, WORDS[step])
      else log.warn(fields, WORDS[step])
    },
    leftOut: (findings: number) =>
      log.error({ findings }, 'too many incidents are open: no more are started'),
    sent: ({ incident, channel, phase }: DueNotice) =>
      log.info({ incident, channel, phase }, 'a notice was sent'),
    notSent: ({ incident, channel, phase }: DueNotice, problem: string, retryInMs: number | undefined) =>
      log.warn({ incident, channel, phase, problem, retryInMs }, 'a notice did not arrive'),
    trouble(error: unknown) {
      if (!(error instanceof StoreUnreachable))
        log.error({ err: error }, 'alerts could not be checked or sent')
    },
  }
}

import type { CallRecord, Observer, RequestRecord } from '#ports/observer.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** Failures of ours or of an upstream's configuration need a person; an upstream's bad minute needs a look. */
const ALARMS: ReadonlySet<string> = new Set(['rejectedUs', 'missing', 'fault'])

/** What happened, counted and written down. */
export function telemetryObserver(log: Log, metrics: Metrics): Observer {
  return {
    callEnded(record: CallRecord) {
      metrics.callEnded(record)
      if (record.outcome === 'ok') return
      const line = { ...record, durationMs: Math.round(record.durationMs) }
      if (ALARMS.has(record.outcome)) log.error(line, 'upstream call failed and needs an operator')
      else log.warn(line, 'upstream call failed')
    },
    requestEnded(record: RequestRecord) {
      metrics.requestEnded(record)
      const { cause, ...facts } = record
      const line = { ...facts, durationMs: Math.round(record.durationMs * 100) / 100 }
      if (record.status === 500) log.error({ ...line, err: cause }, 'request failed')
      else log.info(line, 'request')
    },
  }
}

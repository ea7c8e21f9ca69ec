import { UpstreamFailure } from '#core/fault/failure.ts'
import type { Clock } from '#ports/clock.ts'
import { isCut, type CallRecord, type Observer, type Overcount } from '#ports/observer.ts'
import type { RequestRecord, Undercount } from '#ports/observer.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'

/** Failures of ours or of an upstream's configuration need a person; an upstream's bad minute needs a look. */
const ALARMS: ReadonlySet<string> = new Set(['rejectedUs', 'missing', 'fault'])

const FAILED_STATUS = 400

/** Counts and logs what happened. */
export function telemetryObserver(log: Log, metrics: Metrics, clock: Clock): Observer {
  return {
    callEnded(record: CallRecord) {
      metrics.callEnded(record)
      if (record.outcome === 'ok') return
      const line = { ...record, durationMs: Math.round(record.durationMs) }
      if (ALARMS.has(record.outcome)) log.error(line, 'upstream call failed and needs an operator')
      else log.warn(line, 'upstream call failed')
    },
    overcounted(record: Overcount) {
      metrics.overcounted(record)
      const { excessNanoUsd, cutNanoUsd, ...counts } = record
      const line = {
        ...counts,
        ...(excessNanoUsd !== undefined && { excessNanoUsd: String(excessNanoUsd) }),
        ...(cutNanoUsd !== undefined && { cutNanoUsd: String(cutNanoUsd) }),
      }
      if (isCut(record)) log.error(line, 'upstream counted more than the call can have used, and was cut')
      else log.warn(line, 'upstream counted more than was expected of the call, and all of it was charged')
    },
    undercounted(record: Undercount) {
      metrics.undercounted(record)
      log.warn(
        { ...record },
        'upstream counted fewer tokens than the call has inputs, so the tokens were estimated',
      )
    },
    requestEnded(record: RequestRecord) {
      metrics.requestEnded(record)
      if (record.status === 500 || isOurTrouble(record.cause)) {
        const {
          cause,
          trace: _trace,
          amountNanoUsd: _amount,
          keyId: _keyId,
          clientAddress: client,
          ...facts
        } = record
        log.error({ ...facts, ...(client && { client }), err: cause }, 'request failed')
      } else {
        // The request log has all requests. In the log of the process, those that went well would hide the others.
        const level = record.status < FAILED_STATUS ? 'debug' : 'info'
        if (log.writes(level)) log.line(accessLine(level, record, clock.nowMs()))
      }
    },
  }
}

/** Whether the cause is a fault of ours or of a store. An upstream's failure was logged with its call, without its words. */
function isOurTrouble(cause: unknown): boolean {
  return cause !== undefined && !(cause instanceof UpstreamFailure)
}

/** Built by hand: it is the only log line on the hot lane. */
function accessLine(level: string, record: RequestRecord, nowMs: number): string {
  let line = `{"level":"${level}","time":"${isoTime(nowMs)}","message":"request","requestId":"${record.requestId}","route":"${record.route}","status":${record.status},"durationMs":${Math.round(record.durationMs * 100) / 100}`
  if (record.fault !== undefined) line += `,"fault":"${record.fault}"`
  if (record.project !== undefined) line += `,"project":${quoted(record.project)}`
  if (record.key !== undefined) line += `,"key":${quoted(record.key)}`
  if (record.model !== undefined) line += `,"model":${quoted(record.model)}`
  if (record.deployment !== undefined) line += `,"deployment":${quoted(record.deployment)}`
  if (record.attempts !== undefined) line += `,"attempts":${record.attempts}`
  if (record.inputs !== undefined) line += `,"inputs":${record.inputs}`
  if (record.promptTokens !== undefined) line += `,"promptTokens":${record.promptTokens}`
  if (record.extraImages !== undefined) line += `,"extraImages":${record.extraImages}`
  if (record.amountNanoUsd !== undefined) line += `,"costNanoUsd":${record.amountNanoUsd}`
  if (record.user !== undefined) line += `,"user":${quoted(record.user)}`
  if (record.tags !== undefined) line += `,"tags":${JSON.stringify(record.tags)}`
  if (record.clientRequestId !== undefined) line += `,"clientRequestId":${quoted(record.clientRequestId)}`
  if (record.fault !== undefined && record.clientAddress) line += `,"client":${quoted(record.clientAddress)}`
  return `${line}}`
}

const PLAIN = /^[\w ./:@,+-]*$/

/** Escapes everything that a caller can influence. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

let lastSecond = -1
let lastText = ''

/** The date is formatted once per second; the milliseconds are appended. */
function isoTime(nowMs: number): string {
  const second = Math.floor(nowMs / 1000)
  if (second !== lastSecond) {
    lastSecond = second
    lastText = new Date(second * 1000).toISOString().slice(0, 20)
  }
  return `${lastText}${String(Math.floor(nowMs) - second * 1000).padStart(3, '0')}Z`
}

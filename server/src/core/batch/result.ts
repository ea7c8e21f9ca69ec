/** The lines of a batch's output and error files, in OpenAI's form. */
import type { Fault } from '../fault/fault.ts'
import { asciiJson } from '../text/json-text.ts'

/** The line that a result is about. */
export interface ResultOf {
  /** Identifies the line. */
  readonly lineId: string
  readonly customId: string
  /** Id of the request that carried the line: the same in the ledger and in the log. */
  readonly requestId: string
}

/** The text before the body of an answer, and after it. Everything is ASCII. */
export function answerHead({ lineId, customId, requestId }: ResultOf, status: number): string {
  return `${lineHead(lineId, customId)},"response":{"status_code":${status},"request_id":"${requestId}","body":`
}

export const ANSWER_TAIL = '},"error":null}\n'

/** A refused request, in the same words as at its own route. */
export function refusedLine(of: ResultOf, fault: Fault, docsUrl: string): string {
  const error = {
    message: fault.message,
    type: fault.entry.type,
    param: fault.param ?? null,
    code: fault.code,
    request_id: of.requestId,
    doc_url: `${docsUrl}/docs/errors/${fault.code}`,
  }
  return answerHead(of, fault.entry.status) + asciiJson({ error }) + ANSWER_TAIL
}

/** OpenAI's code, which is no fault of ours: the request was never made. */
export const EXPIRED = 'batch_expired'

/** The window of the batch ended before the line became a request. */
export function expiredLine({ lineId, customId }: Omit<ResultOf, 'requestId'>): string {
  const error = {
    code: EXPIRED,
    message: 'This request could not be executed before the completion window expired.',
  }
  return `${lineHead(lineId, customId)},"response":null,"error":${asciiJson(error)}}\n`
}

function lineHead(lineId: string, customId: string): string {
  return `{"id":"${lineId}","custom_id":${asciiJson(customId)}`
}

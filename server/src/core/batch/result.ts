/** What the output and error files of a batch say, line by line, in OpenAI's form. */
import type { Fault } from '../fault/fault.ts'
import { asciiJson } from '../json-text.ts'

/** The line that a result is about. */
export interface ResultOf {
  /** Tells the line from all others. */
  readonly lineId: string
  readonly customId: string
  /** Of the request that the line was part of: the same in the books and in the log. */
  readonly requestId: string
}

/** What stands before the body of an answer, and after it. Everything is ASCII. */
export function answerHead({ lineId, customId, requestId }: ResultOf, status: number): string {
  return `${lineHead(lineId, customId)},"response":{"status_code":${status},"request_id":"${requestId}","body":`
}

export const ANSWER_TAIL = '},"error":null}\n'

/** The request was refused, as it would have been at its own route. */
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

/** OpenAI's code, which no fault of ours has: the request was never made. */
export const EXPIRED = 'batch_expired'

/** The time of the batch was up before the line became a request. */
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

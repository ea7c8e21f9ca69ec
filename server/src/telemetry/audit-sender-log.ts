/** What becomes of the audit on its way to receivers, in the log. */
import { StoreUnreachable } from '#ports/store.ts'
import type { Log } from './log.ts'

interface Receiver {
  readonly name: string
}

export function auditSenderLog(log: Pick<Log, 'info' | 'warn' | 'error'>) {
  return {
    sent: ({ name }: Receiver, first: bigint, last: bigint) =>
      log.info(
        { receiver: name, first: Number(first), last: Number(last) },
        'entries of the audit were sent',
      ),
    notSent: ({ name }: Receiver, sequence: bigint, problem: string, retryInMs: number) =>
      log.warn(
        { receiver: name, sequence: Number(sequence), problem, retryInMs },
        'the receiver did not accept an entry of the audit; those after it wait',
      ),
    startedOver: ({ name }: Receiver) =>
      log.error(
        { receiver: name },
        'the audit no longer has the newest entry that this receiver got: it was cut or changed, and is sent again from the first entry',
      ),
    trouble(error: unknown) {
      if (!(error instanceof StoreUnreachable))
        log.error({ err: error }, 'the audit could not be sent to its receivers')
    },
  }
}

import { Fault } from '#core/fault/fault.ts'

/** The client at the other end of a request, as far as it matters whether it still is there. A response of node:http is one. */
export interface Caller {
  /** The client has left. */
  readonly destroyed: boolean
  once(event: 'close', left: () => void): unknown
  off(event: 'close', left: () => void): unknown
}

/** How a request ends whose client has left: nothing more is bought for it. */
export function callerLeft(): Fault {
  return new Fault(
    'client_closed_request',
    'The client closed the connection before the request was answered.',
  )
}

import { Fault } from '#core/fault/fault.ts'

/** The client of a request, as far as it matters whether it is still connected. A response of node:http is one. */
export interface Caller {
  /** The client has left. */
  readonly destroyed: boolean
  once(event: 'close', left: () => void): unknown
  off(event: 'close', left: () => void): unknown
}

/** The fault of a request whose client has left: nothing more is bought for it. */
export function callerLeft(): Fault {
  return new Fault(
    'client_closed_request',
    'The client closed the connection before the request was answered.',
  )
}

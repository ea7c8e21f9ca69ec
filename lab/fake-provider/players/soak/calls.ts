/** `unread`: the gateway did not send all of its request. `narrow`: vectors of another width. */
export type Fault =
  | 'none'
  | 'unread'
  | 'limited'
  | 'failed'
  | 'overloaded'
  | 'reset'
  | 'served-reset'
  | 'cut'
  | 'garbled'
  | 'narrow'

/** A call in the upstream's records. */
export interface RecordedCall {
  readonly callId: string
  fault: Fault
  /** Worked for, so it is to be paid, whether or not its answer arrives. */
  served: boolean
  tokens?: number
  prompt?: string
  /** What each image shows. */
  motifs?: readonly string[]
  /** Tokens of images, by kind. */
  textTokens?: number
  imageTokens?: number
  outputTokens?: number
}

export interface Answer {
  readonly type: string
  /** Several: sent one after another. */
  readonly chunks: readonly Buffer[]
  readonly recorded: Partial<RecordedCall>
}

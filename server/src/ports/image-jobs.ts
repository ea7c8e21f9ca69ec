/** Image jobs: the durable life of one image request, in the store. */

/**
 * `leased`: a node holds it and has bought nothing yet. `dispatched`: at least one call may have been sent. `settled`: its
 * pictures are there and accounted for. `failed`: it has none, and why is known. `unknown`: nobody knows whether it was paid.
 */
export type ImageJobState = 'leased' | 'dispatched' | 'settled' | 'failed' | 'unknown'

export interface NewImageJob {
  /** The id of the request that began it: a UUIDv7. */
  readonly id: string
  readonly project: string
  readonly keyId: string
  readonly model: string
  /** Of the canonical request: equal digests ask for the same. Kept under a key, so that nobody can try prompts on it. */
  readonly digest: string
  readonly idempotencyKey: string | undefined
  /** It makes the pictures of a line of this batch: its key is kept as long as it is, and its end is no event of its own. */
  readonly batchId?: string | undefined
  /** The caller's SDK says that this is a retry of its own. */
  readonly isRetry: boolean
  /** Jobs whose own caller is known to wait on this node: a retry joins none of these. Absent: none is known. */
  readonly awaited?: readonly string[] | undefined
  /** For how long this retry has been `undecided`. Absent: it asks for the first time. */
  readonly undecidedMs?: number | undefined
  /** All that is needed to run it, as text. Sealed at rest, and forgotten when the job ends. */
  readonly request: string
  readonly nodeId: string
}

/** A node's hold on a job. The token grows with each new holder: who has an older one can change nothing any more. */
export interface Hold {
  readonly jobId: string
  readonly token: number
}

export type BegunJob =
  | { readonly kind: 'begun'; readonly hold: Hold }
  /** The same was asked before: by idempotency key, or by a retry of the SDK's own. */
  | { readonly kind: 'joined'; readonly job: ImageJob }
  /** The idempotency key was used for something else. */
  | { readonly kind: 'conflict' }
  /** A retry could join a job if it knew that the job's own caller has left: nothing was begun, and it asks again soon. */
  | { readonly kind: 'undecided' }

/** The one for whom a job without an idempotency key is run: the request that began it, or the retry that joined it. */
export interface JobCaller {
  readonly jobId: string
  /** The id of that request. */
  readonly callerId: string
}

/** One purchase of a job, as far as the store knows. */
export interface ImageJobCall {
  /** Counts the calls of the job from 0, as in the ledger. */
  readonly attempt: number
  readonly callId: string
  /** Which of the job's calls side by side it stands for: a later attempt of the same part replaced an earlier one. */
  readonly part: number
  /** How many pictures it asks for. */
  readonly images: number
  readonly deployment: string
  /** What a polled upstream answered when it took the call. Sealed at rest. */
  readonly submitted: string | undefined
  /** `sent`: it may have been. `failed`: it ended without a purchase. `delivered`: its pictures are in the blob store. */
  readonly state: 'sent' | 'failed' | 'delivered' | 'unknown'
}

export interface ImageJob {
  readonly id: string
  readonly project: string
  /** Of whose line it is. Undefined: it was asked for by itself. */
  readonly batchId?: string | undefined
  readonly keyId: string
  readonly model: string
  readonly state: ImageJobState
  readonly createdAtMs: number
  readonly endedAtMs: number | undefined
  /** What it came to, as text: the answer of a settled job, the fault of a failed or unknown one. Sealed at rest. */
  readonly result: string | undefined
}

export interface TakenJob {
  readonly hold: Hold
  readonly job: ImageJob
  /** Empty when it can't be opened any more, because the secret that sealed it is gone: the job can only be ended. */
  readonly request: string
  readonly calls: readonly ImageJobCall[]
}

/** Another node has taken the job over: whoever gets this stops, and says nothing to the store any more. */
export class JobLost extends Error {
  override readonly name = 'JobLost'
}

/**
 * Every method is one atomic step and may be repeated after an answer was lost. Those with a `Hold` reject with `JobLost`
 * when it is no longer the job's. Trouble with the store rejects with `StoreAway`.
 */
export interface ImageJobs {
  /**
   * Writes a job that this node holds, unless the same was asked before: by a job of the project with this idempotency key
   * (kept for 24 h), or, if `isRetry` and there is no such key, by a job without one, of the same key (`keyId`) and digest, begun
   * within 15 minutes, whose answer no client received and whose caller has left.
   *
   * A job without an idempotency key has one caller, which has left when `callerLeft` says so, or when `renewCallers` has not
   * named it for `CALLER_SILENT_MS`: then its node is most likely dead. A retry that joins is the job's caller from then on. If the caller
   * was named after the retry came, it waits elsewhere, and the retry begins a job of its own. In between it is `undecided`.
   */
  begin(job: NewImageJob): Promise<BegunJob>
  /** Undefined when there is none in this project. */
  find(id: string, project: string): Promise<ImageJob | undefined>
  /** The job that has this idempotency key, however old. Undefined when there is none in this project. */
  findByKey(idempotencyKey: string, project: string): Promise<ImageJob | undefined>
  /** A call is about to be sent: from here on it may have been. */
  dispatched(hold: Hold, call: Omit<ImageJobCall, 'submitted' | 'state'>): Promise<void>
  submitted(hold: Hold, attempt: number, text: string): Promise<void>
  callEnded(hold: Hold, attempt: number, state: 'failed' | 'delivered' | 'unknown'): Promise<void>
  /**
   * Ends the job. `freesKey` lets the idempotency key be used anew: nothing was bought. The request's text and what polled
   * upstreams answered are forgotten. In the same step the webhooks of the project that ask for `event` get it to send.
   */
  end(hold: Hold, end: JobEnd): Promise<void>
  /** Says that these callers still wait. */
  renewCallers(callers: readonly JobCaller[]): Promise<void>
  /** Nobody waits for the job any more, if this was its caller. */
  callerLeft(caller: JobCaller): Promise<void>
  /** A client has received the answer. */
  answered(id: string): Promise<void>
  /** Says that the node still works on these jobs of its own. It holds them for another `JOB_HOLD_MS`. */
  renew(nodeId: string, jobIds: readonly string[]): Promise<void>
  /** Takes jobs whose hold has run out or whose node has ended, oldest first, at most `limit`: they are this node's now. */
  takeOver(nodeId: string, limit: number): Promise<readonly TakenJob[]>
  /** Gives up the jobs that this node holds, so that another can take them over at once. */
  release(nodeId: string): Promise<void>
  /** Deletes jobs that ended more than `keptMs` ago; returns how many. Open unknowns stay. */
  deleteOld(keptMs: number): Promise<number>
}

export interface JobEnd {
  readonly state: 'settled' | 'failed' | 'unknown'
  readonly result: string
  readonly freesKey: boolean
}

/**
 * Longer than a living process stands still, also on a machine with far too much to do: a call that is under way in it ends as an
 * unknown when its job is taken. A process that died is noticed by its files long before, and its node is ended.
 */
export const JOB_HOLD_MS = 60_000
/** For how long a caller of whom nothing is heard may still wait. Being wrong costs nothing: the retry joins the job. */
export const CALLER_SILENT_MS = 15_000
/** For how long an idempotency key means the same request. */
export const IDEMPOTENCY_MS = 24 * 3_600_000
/** For how long a retry of the SDK's own joins what it retries: its ten-minute time-out and a margin. */
export const RETRY_JOIN_MS = 15 * 60_000

/** Image jobs: the durable life of one image request, in the store. */
import type { WorkOwner } from './keys.ts'

/**
 * `leased`: a node holds it and has bought nothing yet. `dispatched`: at least one call may have been sent. `settled`: its
 * images are stored and accounted for. `failed`: it has none, and the reason is known. `unknown`: it is not known whether
 * the job was paid for.
 */
export type ImageJobState = 'leased' | 'dispatched' | 'settled' | 'failed' | 'unknown'

export interface NewImageJob extends WorkOwner {
  /** The id of the request that began it: a UUIDv7. */
  readonly id: string
  readonly model: string
  /**
   * Digest of the canonical request: equal digests ask for the same. It is keyed, so that prompts can't be guessed from it.
   */
  readonly digest: string
  readonly idempotencyKey: string | undefined
  /**
   * The batch for whose line it makes images: its idempotency key is kept as long as the batch, and its end sends no event.
   */
  readonly batchId?: string | undefined
  /** The caller's SDK marked this request as its own retry. */
  readonly isRetry: boolean
  /** Jobs whose own caller is known to wait on this node: a retry joins none of these. Absent: none is known. */
  readonly awaited?: readonly string[] | undefined
  /** How long this retry has been `undecided`. Absent on the first try. */
  readonly undecidedMs?: number | undefined
  /** Everything needed to run it, as text. Sealed at rest, and deleted when the job ends. */
  readonly request: string
  readonly nodeId: string
}

/** A node's hold on a job. The token grows with each new holder: a holder of an older token can change nothing. */
export interface Hold {
  readonly jobId: string
  readonly token: number
}

export type BegunJob =
  | { readonly kind: 'begun'; readonly hold: Hold }
  /** The same was asked before: with the same idempotency key, or this is an SDK's own retry. */
  | { readonly kind: 'joined'; readonly job: ImageJob }
  /** The idempotency key was used for something else. */
  | { readonly kind: 'conflict' }
  /** A retry could join a job if it knew that the job's own caller has left: nothing was begun, and the retry asks again soon. */
  | { readonly kind: 'undecided' }

/** The request that a job without an idempotency key is run for: the one that began it, or the retry that joined it. */
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
  /** The share of the job that this call makes: a later attempt at the same share replaces an earlier one. */
  readonly part: number
  /** Number of images that it asks for. */
  readonly images: number
  readonly deployment: string
  /** What a polled upstream answered when it accepted the call. Sealed at rest. */
  readonly submitted: string | undefined
  /** `sent`: it may have been. `failed`: it ended without a purchase. `delivered`: its images are in the blob store. */
  readonly state: 'sent' | 'failed' | 'delivered' | 'unknown'
}

export interface ImageJob extends WorkOwner {
  readonly id: string
  /** The batch whose line it runs. Undefined for a request of its own. */
  readonly batchId?: string | undefined
  readonly model: string
  readonly state: ImageJobState
  readonly createdAtMs: number
  readonly endedAtMs: number | undefined
  /** The result, as text: the answer of a settled job, the fault of a failed or unknown one. Sealed at rest. */
  readonly result: string | undefined
}

export interface TakenJob {
  readonly hold: Hold
  readonly job: ImageJob
  /** Empty when it can't be opened any more, because the secret that sealed it is gone: the job can only be ended. */
  readonly request: string
  readonly calls: readonly ImageJobCall[]
}

/** Another node has taken over the job: the holder stops and writes nothing more. */
export class JobLost extends Error {
  override readonly name = 'JobLost'
}

/**
 * Every method is one atomic step and may be repeated after a lost answer. Those with a `Hold` reject with `JobLost` when
 * another node holds the job. Store failures reject with `StoreUnreachable`.
 */
export interface ImageJobs {
  /**
   * Creates a job that this node holds, unless the same was asked before: by a job of the project with this idempotency key
   * (kept for 24 h), or, if `isRetry` and there is no such key, by a job without one, of the same key (`keyId`) and digest,
   * begun within 15 minutes, whose answer no client received and whose caller has left.
   *
   * A job without an idempotency key has one caller, which has left when `callerLeft` says so, or when `renewCallers` has
   * not named it for `CALLER_SILENT_MS`: then its node is most likely dead. A retry that joins is the job's caller from
   * then on. If the caller was named after the retry came, it waits elsewhere, and the retry begins a job of its own. In
   * between the retry is `undecided`.
   */
  begin(job: NewImageJob): Promise<BegunJob>
  /** Undefined when there is none in this project. */
  find(id: string, project: string): Promise<ImageJob | undefined>
  /** The job that has this idempotency key, however old. Undefined when the project has none. */
  findByKey(idempotencyKey: string, project: string): Promise<ImageJob | undefined>
  /** A call is about to be sent: from here on it may have been. */
  dispatched(hold: Hold, call: Omit<ImageJobCall, 'submitted' | 'state'>): Promise<void>
  submitted(hold: Hold, attempt: number, text: string): Promise<void>
  callEnded(hold: Hold, attempt: number, state: 'failed' | 'delivered' | 'unknown'): Promise<void>
  /**
   * Ends the job. `freesKey` allows the idempotency key to be used again, because nothing was bought. The request's text
   * and the answers of polled upstreams are deleted. In the same step `event` is queued for the project's webhooks that ask
   * for it.
   */
  end(hold: Hold, end: JobEnd): Promise<void>
  /** These callers still wait. */
  renewCallers(callers: readonly JobCaller[]): Promise<void>
  /** No caller waits for the job any more, if this was its caller. */
  callerLeft(caller: JobCaller): Promise<void>
  /** A client has received the answer. */
  answered(id: string): Promise<void>
  /** The node still works on these jobs. Extends its holds by `JOB_HOLD_MS`. */
  renew(nodeId: string, jobIds: readonly string[]): Promise<void>
  /** Takes jobs whose hold has expired or whose node has ended, oldest first, at most `limit`: this node holds them from now on. */
  takeOver(nodeId: string, limit: number): Promise<readonly TakenJob[]>
  /** Gives up the jobs that this node holds, so that another node can take them over at once. */
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
 * Hold of a job: longer than any pause of a living process, also on an overloaded machine, because a call in progress
 * becomes an unknown when its job is taken over. A dead process is noticed by its files long before, and its node is ended.
 */
export const JOB_HOLD_MS = 60_000
/** A caller counts as present this long after its last sign of life. A mistake costs nothing: the retry joins the job. */
export const CALLER_SILENT_MS = 15_000
/** How long an idempotency key means the same request. */
export const IDEMPOTENCY_MS = 24 * 3_600_000
/** How long an SDK's own retry joins the request that it retries: the SDK's ten-minute timeout and a margin. */
export const RETRY_JOIN_MS = 15 * 60_000

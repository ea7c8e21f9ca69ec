import type { Actor } from './audit.ts'

/** A deployment that gets no more calls because an operator said so. */
export interface Drain {
  readonly deployment: string
  readonly reason: string
  /** The actor's name. */
  readonly by: string
  readonly atMs: number
}

/**
 * Drained deployments, the same on every node. Every change is one step with its audit entry and the next version of the
 * directory. Store failures reject with `StoreUnreachable`.
 */
export interface DrainStore {
  /** An already drained deployment keeps its time and gets the new reason. */
  drain(deployment: string, reason: string, actor: Actor): Promise<Drain>
  /** Has no effect on a deployment that is not drained. */
  takeBack(deployment: string, reason: string, actor: Actor): Promise<void>
  /** By deployment. */
  list(): Promise<readonly Drain[]>
}

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
 * Which deployments are drained, on every node alike. Every change is one step with its audit entry and the next version of
 * the directory. Trouble with the store rejects with `StoreAway`.
 */
export interface DrainStore {
  /** A deployment that is drained already keeps its time, and gets the new reason. */
  drain(deployment: string, reason: string, actor: Actor): Promise<Drain>
  /** Nothing happens to one that is not drained. */
  takeBack(deployment: string, reason: string, actor: Actor): Promise<void>
  /** By deployment. */
  list(): Promise<readonly Drain[]>
}

/** The terms in force as one node knows them: from torana.yaml, from its copy of the key directory, or from the store. */
import type { Player } from '#core/access/actor.ts'
import { BoundedMap } from '#core/structure/bounded-map.ts'
import type { Budget } from '#core/money/budget.ts'
import type { Clock } from '#ports/clock.ts'
import type { KeySource } from '#ports/key-store.ts'
import type { Key, KeyNow, TermsInForce, WorkOwner } from '#ports/keys.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { SYSTEM_KEY } from '#request/access/system-key.ts'
import type { KeySnapshot } from './key-snapshot.ts'

export interface NodeTermsParts {
  /** The keys of torana.yaml. */
  readonly declared: {
    readonly ofId: (keyId: string) => Key | undefined
    readonly hasProject: (project: string) => boolean
  }
  readonly snapshot: Pick<KeySnapshot, 'ofId' | 'isComplete' | 'refresh'>
  readonly source: Pick<KeySource, 'standingOf'>
  readonly budgetInForce: (budgetId: string) => Budget | undefined
  /** The key of an actor in the playground of a project. */
  readonly playerNow: (player: Player, project: string) => Promise<KeyNow>
  readonly clock: Clock
}

/** Time for which the answer about an ended key is believed: one query per second and key. */
const ENDED_MS = 1000
/** Remembered ended keys that still have work. There are far fewer, and each takes some hundred bytes. */
const MAX_ENDED = 10_000

const UNREACHABLE: KeyNow = { standing: 'unreachable', isProjectDeleted: false }

export class NodeTerms implements TermsInForce {
  readonly #parts: NodeTermsParts
  readonly #ended = new BoundedMap<string, { readonly untilMs: number; readonly now: Promise<KeyNow> }>(
    MAX_ENDED,
  )

  constructor(parts: NodeTermsParts) {
    this.#parts = parts
  }

  of(owner: WorkOwner): KeyNow | Promise<KeyNow> {
    const { keyId, project, player } = owner
    if (player !== undefined) return this.#parts.playerNow(player, project)
    return this.#known(keyId) ?? this.#unknown(owner)
  }

  ofProject({ keyId, project, player }: WorkOwner): Key | undefined {
    const { declared, snapshot, budgetInForce } = this.#parts
    if (!declared.hasProject(project) && !snapshot.isComplete) return undefined
    const budget = budgetInForce(`project:${project}`)
    return {
      id: keyId,
      name: keyId.slice(project.length + 1),
      project,
      models: undefined,
      expiresAtMs: undefined,
      // Rate limits protect interactive callers: background work does not count against them.
      limits: [],
      budgets: budget === undefined ? [] : [budget],
      player,
    }
  }

  #known(keyId: string): KeyNow | undefined {
    const { declared, snapshot, clock } = this.#parts
    // Probes and test calls of the node itself.
    if (keyId === SYSTEM_KEY.id) return { standing: 'valid', key: SYSTEM_KEY }
    const key = declared.ofId(keyId) ?? snapshot.ofId(keyId)
    if (key === undefined) return undefined
    if (key === 'stale') return UNREACHABLE
    const hasExpired = key.expiresAtMs !== undefined && clock.nowMs() >= key.expiresAtMs
    return hasExpired ? { standing: 'expired', isProjectDeleted: false } : { standing: 'valid', key }
  }

  #unknown(owner: WorkOwner): KeyNow | Promise<KeyNow> {
    const { snapshot, clock } = this.#parts
    if (!snapshot.isComplete) return UNREACHABLE
    const before = this.#ended.get(owner.keyId)
    if (before !== undefined && clock.monotonicMs() < before.untilMs) return before.now
    const now = this.#asked(owner)
    this.#ended.set(owner.keyId, { untilMs: clock.monotonicMs() + ENDED_MS, now })
    return now
  }

  async #asked(owner: WorkOwner): Promise<KeyNow> {
    const { declared, snapshot, source } = this.#parts
    try {
      const { key, isProjectDeleted } = await source.standingOf(owner)
      if (key === 'living') {
        // Another node has just made it.
        await snapshot.refresh()
        return this.#known(owner.keyId) ?? UNREACHABLE
      }
      return {
        standing: key === 'missing' ? 'revoked' : key,
        // Where both the file and the store have a project, the file takes precedence.
        isProjectDeleted: isProjectDeleted && !declared.hasProject(owner.project),
      }
    } catch (error) {
      if (!(error instanceof StoreUnreachable)) throw error
      return UNREACHABLE
    }
  }
}

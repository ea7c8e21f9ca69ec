/** The owner of work as rows of batches, image jobs and uploads keep it. */
import type { PlayerKind } from '#core/access/actor.ts'
import type { WorkOwner } from '#ports/keys.ts'

export interface OwnerColumns {
  readonly project: string
  readonly key_id: string
  /** Null: a key is the owner. */
  readonly player_kind: PlayerKind | null
  readonly player_name: string | null
}

export function ownerIn({
  project,
  key_id: keyId,
  player_kind: kind,
  player_name: name,
}: OwnerColumns): WorkOwner {
  return { project, keyId, player: kind === null || name === null ? undefined : { kind, name } }
}

/** In the order `player_kind, player_name`. */
export function playerColumns({
  player,
}: Pick<WorkOwner, 'player'>): readonly [string | null, string | null] {
  return [player?.kind ?? null, player?.name ?? null]
}

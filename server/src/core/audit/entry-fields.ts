/** An entry of the audit as everyone outside reads it: in the control API and in the log. */
import type { ActorKind } from '../access/actor.ts'

interface Entry {
  readonly sequence: bigint
  readonly actor: string
  readonly actorKind: ActorKind | undefined
  readonly address: string | undefined
  readonly action: string
  readonly target: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly hash: string
  readonly intact: boolean
  readonly proof: 'keyed' | 'other_key' | 'unkeyed'
}

/** `at` in ISO 8601. */
export function entryFields(entry: Entry, at: string) {
  const {
    sequence,
    actor,
    actorKind = null,
    address = null,
    action,
    target,
    detail,
    hash,
    intact,
    proof,
  } = entry
  return {
    sequence: Number(sequence),
    at,
    actor,
    actor_kind: actorKind,
    address,
    action,
    target,
    detail: { ...detail },
    hash,
    intact,
    proof,
  }
}

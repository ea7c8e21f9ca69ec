/** Who acts at the control API. What kind of actor it is, is a field: nothing reads it from the form of a name. */

/** `node`: a token of the node itself, from its data folder or its environment. `system`: the nodes themselves. */
export const ACTOR_KINDS = ['member', 'token', 'node', 'system'] as const

export type ActorKind = (typeof ACTOR_KINDS)[number]

/** Kinds that may use the playground of a project. */
export type PlayerKind = Exclude<ActorKind, 'system'>

export interface Player {
  readonly kind: PlayerKind
  /** A member's mail address, `token:` and the name of a token, or the name of a node's own token. */
  readonly name: string
}

/** The name of the key under which a player's requests are booked. Names of keys have no ':', so no key has it. */
export function playgroundKey({ name }: Pick<Player, 'name'>): string {
  return `playground:${name}`
}

/** The key under which a member or a program plays in a project: no secret opens it, and the project binds it. */
import { may } from '#core/permission.ts'
import { termsOf } from '#core/terms.ts'
import type { AdminTokenStore } from '#ports/admin-tokens.ts'
import type { Key, KeyNow, WorkOwner } from '#ports/keys.ts'
import type { MemberStore } from '#ports/members.ts'
import { StoreAway } from '#ports/store.ts'
import { maySee, playgroundKey, type Caller } from '../access/caller.ts'
import { projectTerms } from '../keys/checks.ts'
import type { KeyDependencies } from '../keys/dependencies.ts'

/** Before the name of a token of the store, in the audit and here. */
const TOKEN_ACTOR = 'token:'

export interface PlayerDependencies extends Pick<KeyDependencies, 'keyStore' | 'declared'> {
  /** What binds one member in one project, on top of the project's own terms. */
  readonly terms: Parameters<typeof termsOf>[3]
}

export interface KnownPlayers extends PlayerDependencies {
  /** Undefined on a node that keeps nothing. */
  readonly members: Pick<MemberStore, 'byEmail'> | undefined
  readonly adminTokens: Pick<AdminTokenStore, 'list'> | undefined
  readonly nowMs: () => number
}

/** Undefined: there is no such project. */
export async function playerKey(
  { actor }: Pick<Caller, 'actor'>,
  project: string,
  dependencies: PlayerDependencies,
): Promise<Key | undefined> {
  const terms = await projectTerms(project, dependencies)
  if (terms === undefined) return undefined
  const name = playgroundKey({ actor })
  const id = `${project}/${name}`
  return {
    id,
    name,
    project,
    models: undefined,
    expiresAtMs: undefined,
    ...termsOf(project, terms, id, dependencies.terms),
    bounds: undefined,
  }
}

/** The same key by the rights of this moment. Undefined: it is not the key of a player. */
export function playerNow(owner: WorkOwner, players: KnownPlayers): Promise<KeyNow> | undefined {
  const { keyId, project } = owner
  const prefix = `${project}/${playgroundKey({ actor: '' })}`
  return keyId.startsWith(prefix) ? nowOf(keyId.slice(prefix.length), project, players) : undefined
}

async function nowOf(actor: string, project: string, players: KnownPlayers): Promise<KeyNow> {
  try {
    const key = await playerKey({ actor }, project, players)
    if (key === undefined) return { standing: 'revoked', isProjectDeleted: true }
    const rights = await rightsOf(actor, players)
    const mayPlay =
      rights !== undefined &&
      !rights.isReadOnly &&
      may(rights.role, 'playground.run') &&
      maySee(rights, project)
    return mayPlay ? { standing: 'valid', key } : { standing: 'revoked', isProjectDeleted: false }
  } catch (error) {
    if (!(error instanceof StoreAway)) throw error
    return { standing: 'unreachable', isProjectDeleted: false }
  }
}

type Rights = Pick<Caller, 'role' | 'projects' | 'isReadOnly'>

async function rightsOf(actor: string, players: KnownPlayers): Promise<Rights | undefined> {
  const { members, adminTokens, nowMs } = players
  if (actor.startsWith(TOKEN_ACTOR)) {
    const name = actor.slice(TOKEN_ACTOR.length)
    return (await adminTokens?.list())?.find((one) => one.name === name && one.expiresAtMs > nowMs())
  }
  // The token of this install's own disk, or of its environment: it has every right for as long as it is configured.
  if (!actor.includes('@')) return { role: 'admin', projects: null, isReadOnly: false }
  const member = (await members?.byEmail(actor))?.member
  return member?.disabledAtMs === undefined && member ? { ...member, isReadOnly: false } : undefined
}

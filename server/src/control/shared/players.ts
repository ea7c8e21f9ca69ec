/** The keys under which actors use the playground of a project: no secret opens them, and the project binds them. */
import { playgroundKey, type Player } from '#core/access/actor.ts'
import { may } from '#core/access/permission.ts'
import { termsOf } from '#core/keys/terms.ts'
import { nanoUsdOf } from '#core/money/price.ts'
import type { PlaygroundSettings } from '#core/settings.ts'
import type { Key, KeyNow } from '#ports/keys.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { maySee, playerOf, type Caller } from './caller.ts'
import { notFound } from './faults.ts'
import type { ControlNode } from './node.ts'
import { projectTerms } from './project-terms.ts'
import { rightsOf, type RightsSource } from './rights-queries.ts'

export type PlayersNode = Pick<ControlNode, 'keyStore' | 'declaredProjects' | 'playground'>

/** Undefined: there is no such project. */
async function playerKey(player: Player, project: string, node: PlayersNode): Promise<Key | undefined> {
  const terms = await projectTerms(project, node)
  if (terms === undefined) return undefined
  const name = playgroundKey(player)
  const id = `${project}/${name}`
  return {
    id,
    name,
    project,
    models: undefined,
    expiresAtMs: undefined,
    ...termsOf(project, terms, id, playgroundTerms(node.playground)),
    bounds: undefined,
    player,
  }
}

/** The key under which a caller of the control API plays in a project. */
export async function findOwnKey(caller: Caller, project: string, node: PlayersNode): Promise<Key> {
  const key = await playerKey(playerOf(caller), project, node)
  if (key === undefined) throw notFound(`There is no project ${project.slice(0, 100)}.`)
  return key
}

/** The terms of one member in one project, on top of the project's own. */
function playgroundTerms({
  requestsPerMinute,
  usdPerDay,
}: PlaygroundSettings): Parameters<typeof termsOf>[3] {
  const limitNanoUsd = usdPerDay === undefined ? undefined : nanoUsdOf(usdPerDay)
  return {
    limits: { requestsPerMinute },
    budget: limitNanoUsd === undefined ? undefined : { limitNanoUsd, per: 'day', hard: true },
  }
}

/** The same key by the rights of this moment. */
export async function playerNow(
  player: Player,
  project: string,
  node: PlayersNode & RightsSource,
): Promise<KeyNow> {
  try {
    const key = await playerKey(player, project, node)
    if (key === undefined) return { standing: 'revoked', isProjectDeleted: true }
    const rights = await rightsOf(player, node)
    const mayPlay =
      rights !== undefined &&
      !rights.isReadOnly &&
      may(rights.role, 'playground.run') &&
      maySee(rights, project)
    return mayPlay ? { standing: 'valid', key } : { standing: 'revoked', isProjectDeleted: false }
  } catch (error) {
    if (!(error instanceof StoreUnreachable)) throw error
    return { standing: 'unreachable', isProjectDeleted: false }
  }
}

/** The space of a request: its name before any call, and whether every deployment that served it still belongs to it. */
import type { Deployment, EmbeddingModel } from '#core/catalog/catalog.ts'
import { answeringSpace, readSpace, spaceOf, type ModelSpace } from '#core/embedding/space.ts'
import { suffixOf, type TypeView } from '#core/embedding/vector-types/view.ts'
import { Fault } from '#core/fault/fault.ts'
import { spaceLeft } from '#core/fault/of-failure.ts'
import { named } from '#core/fault/shown.ts'
import type { GatheredVectors } from './served.ts'
import type { SharingRules } from './shared-vectors.ts'

/** What the space guard knows at present. */
export interface SpaceWatch {
  /** Undefined while it is not known. */
  readonly spaceNow: (model: EmbeddingModel) => ModelSpace | undefined
  /** Whether no vector of this deployment may be sent. It need not be in the catalog any more. */
  readonly isQuarantined: (model: EmbeddingModel, deployment: Deployment) => boolean
}

/** Retry time of a caller: about the interval at which a node asks the store for a space it does not know yet. */
const UNKNOWN_RETRY_MS = 2000

/**
 * The space that the model's deployments are checked against, compared with the one that the caller pinned.
 * Undefined while this node does not know it. `unknownField`: a field because of which the answer may be in
 * another space. `views`: the types of the answer, each of which has a space.
 */
export function guardedSpaceFor(
  model: EmbeddingModel,
  width: number,
  now: ModelSpace | undefined,
  pinned: string | undefined,
  unknownField: string | undefined,
  views: readonly TypeView[] | undefined,
): string | undefined {
  if (pinned !== undefined && unknownField !== undefined)
    throw new Fault(
      'space_mismatch',
      `The request pins the vector space ${named(pinned)}, and '${unknownField}' may change vectors in a way that Torana does not know. Remove '${unknownField}', or send the request without x-torana-space.`,
      { param: unknownField },
    )
  if (now === undefined) {
    if (pinned === undefined) return undefined
    throw new Fault(
      'space_unknown',
      `The request pins a vector space, and this node does not know the space of '${model.id}' yet. Retry.`,
      { retryAfterMs: UNKNOWN_RETRY_MS },
    )
  }
  const own = spaceOf(model.id, width, now.generation)
  // The vectors are of the model's own space too. The scale of a type that the upstream makes is the model's own.
  const isOwn =
    views?.some((view) => 'scale' in view && view.scale === 'native') === true ||
    (pinned !== undefined && readSpace(pinned)?.float === own)
  const float = isOwn ? own : answeringSpace(now, width)
  const spaces = views === undefined ? [float] : views.map((view) => float + suffixOf(view))
  const space = spaces.join(', ')
  if (pinned !== undefined && pinned !== space && !spaces.includes(pinned))
    throw new Fault(
      'space_mismatch',
      `The request pins the vector space ${named(pinned)}; '${model.id}' answers in '${space}'. If you accept the new space, embed all documents again.`,
    )
  return space
}

/**
 * Checks the space again: during the request a deployment may have left its space, or an operator may have
 * accepted another one.
 */
export function checkSpace(
  model: EmbeddingModel,
  { served, hits }: GatheredVectors,
  before: ModelSpace | undefined,
  sharing: SharingRules | undefined,
  watch: SpaceWatch,
): void {
  const left =
    served.find(({ offer }) => watch.isQuarantined(model, offer.deployment))?.offer.deployment.id ??
    hits.find(({ deployment, madeAtMs }) => !sharing?.isTrusted(deployment, madeAtMs))?.deployment
  const now = watch.spaceNow(model)
  // A caller who got no space name was promised none.
  const isSameSpace =
    before === undefined ||
    (now?.generation === before.generation && now.declared?.generation === before.declared?.generation)
  if (left === undefined && isSameSpace) return
  if (left !== undefined) throw spaceLeft(model.id, left)
  throw new Fault(
    'space_left',
    `The vector space of '${model.id}' was replaced while the request was running. Retry.`,
  )
}

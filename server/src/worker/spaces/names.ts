/** What the spaces of models are called, by the references that this node knows. */
import { listModels, type Catalog, type EmbeddingModel } from '#core/catalog/catalog.ts'
import {
  declaredSpace,
  joinGenerations,
  spaceOf,
  type ModelSpace,
  type ReadSpace,
} from '#core/embedding/space.ts'

/** What a node knows of references. */
interface Known {
  /** Whether the store was read once. */
  readonly hasRead: boolean
  generationOf(model: string): number
  /** Undefined: no model declares the space. */
  declaredGeneration(catalog: Catalog, name: string): string | undefined
}

/** Undefined until the store was read once: an admin may have accepted any number of spaces. */
export function describeSpace(
  { id: model, space: name }: Pick<EmbeddingModel, 'id' | 'space'>,
  known: Known,
  catalog: Catalog,
): ModelSpace | undefined {
  if (!known.hasRead) return undefined
  const own = { model, generation: known.generationOf(model) }
  const generation = name === undefined ? undefined : known.declaredGeneration(catalog, name)
  // A model of an earlier catalog may declare a space that no model of the present one does.
  return name === undefined || generation === undefined ? own : { ...own, declared: { name, generation } }
}

/** The float space of this owner and width at present. */
export function findSpaceName({ owner, width }: ReadSpace, known: Known, catalog: Catalog): string {
  const generation = known.declaredGeneration(catalog, owner)
  return generation === undefined
    ? spaceOf(owner, width, known.generationOf(owner))
    : declaredSpace({ name: owner, generation }, width)
}

/** The generation of each space that models of the catalog declare, by its name. */
export function readDeclared(
  catalog: Catalog,
  generationOf: (model: string) => number,
): ReadonlyMap<string, string> {
  const declaring = listModels(catalog).flatMap((model) =>
    model.kind === 'embedding' && model.space !== undefined
      ? [{ model: model.id, space: model.space, generation: generationOf(model.id) }]
      : [],
  )
  const bySpace = Map.groupBy(declaring, ({ space }) => space)
  return new Map(Array.from(bySpace, ([space, models]) => [space, joinGenerations(models)]))
}

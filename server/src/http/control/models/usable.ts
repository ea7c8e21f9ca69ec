import type { Model, Project } from '#core/catalog.ts'
import type { ModelFigures } from '#ports/model-figures.ts'

/**
 * Which models the keys of these projects may use. A project without a key hides nothing: its developers need to see what
 * their first key can ask for.
 */
export async function usableBy(
  projects: readonly string[] | undefined,
  {
    declared,
    stored,
  }: { readonly declared: readonly Project[]; readonly stored: Pick<ModelFigures, 'keyModels'> | undefined },
): Promise<(model: Model) => boolean> {
  if (projects === undefined) return () => true
  const lists = [
    ...declared
      .filter(({ name }) => projects.includes(name))
      .flatMap(({ keys }) => keys.map(({ models }) => models)),
    ...((await stored?.keyModels(projects)) ?? []),
  ]
  const isRestricted = lists.length > 0 && lists.every((models) => models !== undefined)
  if (!isRestricted) return () => true
  const names = new Set(lists.flatMap((models) => [...(models ?? [])]))
  return ({ id, aliases }) => names.has(id) || aliases.some((alias) => names.has(alias))
}

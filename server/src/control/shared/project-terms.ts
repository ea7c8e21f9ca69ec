/** Keys of the configuration, and the terms of a project, wherever it is managed. */
import type { ConfiguredKey, Project } from '#core/catalog/catalog.ts'
import type { ControlNode } from './node.ts'

export interface DeclaredKey {
  /** `<project>/<name>`. */
  readonly id: string
  readonly project: string
  readonly key: ConfiguredKey
}

export function declaredKeys(projects: readonly Project[]): DeclaredKey[] {
  return projects.flatMap(({ name: project, keys }) =>
    keys.map((key) => ({ id: `${project}/${key.name}`, project, key })),
  )
}

/** Undefined: there is no such project. */
export async function projectTerms(
  project: string,
  { keyStore, declaredProjects }: Pick<ControlNode, 'keyStore' | 'declaredProjects'>,
): Promise<Pick<Project, 'limits' | 'budget'> | undefined> {
  const declared = declaredProjects().find(({ name }) => name === project)
  if (declared !== undefined) return declared
  const [stored] = await keyStore.listProjects({ projects: [project], limit: 1 })
  return stored
}

/** The file's name and line, without its folder. */
export function placeOf(managedAt: string | undefined): string | null {
  return managedAt?.split(/[\\/]/).at(-1) ?? null
}

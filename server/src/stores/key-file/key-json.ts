/** Records of the directory as JSON, for the log of changes. */
import type { DirectoryChanges, HeldProject } from '#ports/key-file.ts'
import type { KeyRecord, Terms } from '#ports/key-store.ts'
import { budgetFrom, budgetJson, type BudgetJson } from '../key-change.ts'

type TermsJson = Pick<Terms, 'limits'> & { readonly budget: BudgetJson | null }
export type KeyJson = Omit<KeyRecord, 'budget' | 'projectTerms' | 'version'> &
  TermsJson & { readonly projectTerms: TermsJson; readonly version: string }
type ProjectJson = Omit<HeldProject, 'budget' | 'version'> & TermsJson & { readonly version: string }

export interface ChangesJson {
  readonly keys: readonly KeyJson[]
  readonly projects: readonly ProjectJson[]
}

export function changesJson({ keys, projects }: DirectoryChanges): ChangesJson {
  return {
    keys: Array.from(keys, (key) => ({
      ...key,
      budget: budgetJson(key.budget),
      projectTerms: { ...key.projectTerms, budget: budgetJson(key.projectTerms.budget) },
      version: String(key.version),
    })),
    projects: Array.from(projects, (project) => ({
      ...project,
      budget: budgetJson(project.budget),
      version: String(project.version),
    })),
  }
}

export function keyFromJson(json: KeyJson): KeyRecord {
  const { budget, projectTerms, version } = json
  return {
    ...json,
    budget: budgetFrom(budget),
    projectTerms: { ...projectTerms, budget: budgetFrom(projectTerms.budget) },
    version: BigInt(version),
  }
}

export function projectFromJson(json: ProjectJson): HeldProject {
  return { ...json, budget: budgetFrom(json.budget), version: BigInt(json.version) }
}

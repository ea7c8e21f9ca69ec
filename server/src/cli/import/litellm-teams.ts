/** Teams of LiteLLM → projects. */
import { isTrue, textOf, type Fields } from './litellm-read.ts'
import { namesOf, type Row } from './litellm-rows.ts'
import { budgetOf, leaveTerms, limitsOf } from './litellm-terms.ts'
import type { Notes } from './notes.ts'
import type { ProjectDraft } from './torana-file.ts'

export interface Team {
  readonly project: string
  readonly models: readonly string[]
  readonly isBlocked: boolean
  /** False when only its keys name it: its terms are then unknown. */
  readonly isDescribed: boolean
}

/** Of keys that are in no team. */
export const DEFAULT_PROJECT = 'default'

const NO_TEAM: Team = { project: DEFAULT_PROJECT, models: [], isBlocked: false, isDescribed: true }

export class Projects {
  readonly all = new Map<string, ProjectDraft>()
  readonly #teams = new Map<string, Team>()

  addTeams(rows: readonly Row[], notes: Notes): void {
    for (const { place, fields } of rows) {
      const id = textOf(fields['team_id'])
      if (id === undefined || this.#teams.has(id)) {
        notes.leave(place, id ?? 'a team', id === undefined ? 'has no team_id' : 'stands there twice')
        continue
      }
      const project = this.#free(textOf(fields['team_alias']) ?? id)
      const subject = `team ${project}`
      leaveTerms(subject, fields, place, notes)
      this.all.set(project, {
        comment: `${place}: team ${id}`,
        limits: limitsOf(fields, subject, place, notes),
        budget: budgetOf(fields, subject, place, notes),
        keys: [],
      })
      const models = namesOf(fields['models'])
      this.#teams.set(id, { project, models, isBlocked: isTrue(fields['blocked']), isDescribed: true })
    }
  }

  /** The team of a key. One that no file describes still keeps its keys apart from those of others. */
  teamOf(key: Fields): Team {
    const id = textOf(key['team_id'])
    if (id === undefined) return NO_TEAM
    const existing = this.#teams.get(id)
    if (existing) return existing
    const project = this.#free(textOf(key['team_alias']) ?? id)
    const team: Team = { project, models: [], isBlocked: false, isDescribed: false }
    this.#teams.set(id, team)
    return team
  }

  named(name: string): ProjectDraft {
    const existing = this.all.get(name)
    if (existing) return existing
    const project: ProjectDraft = { comment: undefined, keys: [] }
    this.all.set(name, project)
    return project
  }

  #free(wish: string): string {
    const taken = new Set([...this.#teams.values()].map(({ project }) => project))
    return uniqueName(projectName(wish), (name) => this.all.has(name) || taken.has(name))
  }
}

function projectName(text: string): string {
  // Four less than a name may have, for a number behind it.
  const plain = text.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  const name = plain.slice(0, 59) || 'team'
  // Torana accounts its own calls under the one, and keys without a team go to the other.
  return name === 'system' || name === DEFAULT_PROJECT ? `${name}-team` : name
}

export function uniqueName(wish: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(wish)) return wish
  let number = 2
  while (isTaken(`${wish}-${number}`)) number += 1
  return `${wish}-${number}`
}

/** Role and, for developers, projects: of a member, an invitation, a token. */
import { useQuery } from '@tanstack/react-query'
import type { Schema } from '../../api/client.ts'
import { shellQueries } from '../../api/queries/shell.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { Field } from '../../ui/field.tsx'
import { Select } from '../../ui/select.tsx'
import { words } from '../../words/words.ts'

export type Role = Schema<'Session'>['role']

const ROLES: readonly Role[] = ['developer', 'operator', 'admin']

export function roleOptions() {
  return ROLES.map((value) => ({ value, label: words.shell.roles[value] }))
}

interface RoleFieldsProps {
  readonly role: Role
  readonly projects: readonly string[]
  readonly onRole: (role: Role) => void
  readonly onProjects: (projects: string[]) => void
  readonly disabled?: boolean
}

export function RoleFields({ role, projects, onRole, onProjects, disabled = false }: RoleFieldsProps) {
  const { data } = useQuery(shellQueries.projects())
  const say = words.people.members
  return (
    <>
      <Field name="role" label={say.role} hint={say.roleHints[role]}>
        <Select label={say.role} options={roleOptions()} value={role} onChange={onRole} disabled={disabled} />
      </Field>
      {role === 'developer' && (
        <Field
          name="projects"
          label={say.projects}
          hint={projects.length === 0 ? say.noProjectsHint : say.projectsHint}
        >
          <Combobox
            label={say.projects}
            options={data?.data.map(({ name }) => name) ?? []}
            values={projects}
            onChange={onProjects}
            disabled={disabled}
          />
        </Field>
      )}
    </>
  )
}

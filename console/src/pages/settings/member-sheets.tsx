/** Making and changing members. The link of an invitation lives here alone, and is gone when the dialog closes. */
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { useWrite } from '../../api/write.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { OnceDialog } from '../../ui/once-dialog.tsx'
import { words } from '../../words/words.ts'
import { RoleFields, type Role } from './role-fields.tsx'

type Member = Schema<'Member'>

interface InviteSheetProps {
  /** Who is invited again. */
  readonly member?: Pick<Member, 'email' | 'role' | 'projects'>
  readonly onClose: () => void
}

export function InviteSheet({ member, onClose }: InviteSheetProps) {
  const [email, setEmail] = useState(member?.email ?? '')
  const [role, setRole] = useState<Role>(member?.role ?? 'developer')
  const [projects, setProjects] = useState<readonly string[]>(member?.projects ?? [])
  const [made, setMade] = useState<Schema<'Invitation'>>()
  const { send } = useWrite('post', '/api/v1/invitations')
  const say = words.people.members
  const invite = async (): Promise<void> =>
    setMade(await send({ body: { email, role, projects: role === 'developer' ? [...projects] : null } }))
  if (made !== undefined)
    return (
      <OnceDialog
        title={say.linkTitle}
        description={say.linkText(made.email)}
        value={made.link ?? ''}
        done={say.done}
        onClose={onClose}
      />
    )
  return (
    <FormSheet title={say.inviteTitle} go={say.create} onSubmit={invite} onClose={onClose} keepsOpen>
      <p className="text-ink-2">{member === undefined ? say.inviteText : say.inviteAgainText}</p>
      <Field name="email" label={say.email}>
        <TextInput
          type="email"
          required
          readOnly={member !== undefined}
          autoComplete="off"
          value={email}
          onChange={setEmail}
        />
      </Field>
      {member === undefined && (
        <RoleFields role={role} projects={projects} onRole={setRole} onProjects={setProjects} />
      )}
    </FormSheet>
  )
}

export function MemberSheet({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const [name, setName] = useState(member.name)
  const [role, setRole] = useState<Role>(member.role)
  const [projects, setProjects] = useState<readonly string[]>(member.projects ?? [])
  const { send } = useWrite('patch', '/api/v1/members/{id}')
  const say = words.people.members
  const isRuled = member.source === 'oidc'
  const save = () => {
    const body = {
      ...(name !== member.name && { name }),
      ...(role !== member.role && { role }),
      ...(role === 'developer' &&
        projects.join() !== (member.projects ?? []).join() && { projects: [...projects] }),
    }
    return send({ params: { path: { id: member.id } }, body })
  }
  return (
    <FormSheet title={say.changeTitle(member.name)} go={say.save} onSubmit={save} onClose={onClose}>
      <Field name="name" label={say.name}>
        <TextInput required maxLength={100} value={name} onChange={setName} />
      </Field>
      <RoleFields
        role={role}
        projects={projects}
        onRole={setRole}
        onProjects={setProjects}
        disabled={isRuled}
      />
      {isRuled && <p className="text-12 text-ink-3">{say.ruled}</p>}
    </FormSheet>
  )
}

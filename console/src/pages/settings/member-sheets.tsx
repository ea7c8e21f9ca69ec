/** Making and changing members. The link of an invitation lives here alone, and is gone when the dialog closes. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, client, type Schema } from '../../api/client.ts'
import { useSubmission } from '../../app/submit.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Dialog, Sheet } from '../../ui/dialog.tsx'
import { CONTROL, Field, Form, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
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
  const { busy, errors, problem, submit } = useSubmission(['email', 'role', 'projects'])
  const queries = useQueryClient()
  const say = words.people.members
  const invite = (): Promise<boolean> =>
    submit(async () => {
      const body = { email, role, projects: role === 'developer' ? [...projects] : null }
      setMade(await answerOf(client.POST('/api/v1/invitations', { body })))
      await queries.invalidateQueries({ queryKey: ['invitations'] })
    })
  if (made !== undefined) return <LinkDialog invitation={made} onClose={onClose} />
  return (
    <Sheet
      open
      onClose={onClose}
      title={say.inviteTitle}
      actions={
        <>
          <Button size="large" onClick={onClose}>
            {words.ui.cancel}
          </Button>
          <Button look="primary" size="large" type="submit" form="invite" busy={busy}>
            {say.create}
          </Button>
        </>
      }
    >
      <Form id="invite" errors={errors} onSubmit={() => void invite()} className="flex flex-col gap-5">
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
        <FormProblem>{problem}</FormProblem>
      </Form>
    </Sheet>
  )
}

function LinkDialog({
  invitation: { email, link = '' },
  onClose,
}: {
  readonly invitation: Schema<'Invitation'>
  readonly onClose: () => void
}) {
  const [isCopied, setCopied] = useState(false)
  const say = words.people.members
  return (
    <Dialog
      open
      stays={!isCopied}
      onClose={onClose}
      title={say.linkTitle}
      description={say.linkText(email)}
      actions={
        <>
          <CopyButton text={link} look="primary" size="large" onCopied={() => setCopied(true)} />
          <Button size="large" onClick={onClose}>
            {say.done}
          </Button>
        </>
      }
    >
      <input
        readOnly
        aria-label={say.linkTitle}
        value={link}
        onFocus={(event) => event.currentTarget.select()}
        className={`${CONTROL} mono-12`}
      />
    </Dialog>
  )
}

export function MemberSheet({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) {
  const [name, setName] = useState(member.name)
  const [role, setRole] = useState<Role>(member.role)
  const [projects, setProjects] = useState<readonly string[]>(member.projects ?? [])
  const { busy, errors, problem, submit } = useSubmission(['name', 'role', 'projects'])
  const queries = useQueryClient()
  const say = words.people.members
  const isRuled = member.source === 'oidc'
  const save = async (): Promise<void> => {
    const body = {
      ...(name !== member.name && { name }),
      ...(role !== member.role && { role }),
      ...(role === 'developer' &&
        projects.join() !== (member.projects ?? []).join() && { projects: [...projects] }),
    }
    const isDone = await submit(async () => {
      await answerOf(client.PATCH('/api/v1/members/{id}', { params: { path: { id: member.id } }, body }))
      await queries.invalidateQueries({ queryKey: ['members'] })
    })
    if (isDone) onClose()
  }
  return (
    <Sheet
      open
      onClose={onClose}
      title={say.changeTitle(member.name)}
      actions={
        <>
          <Button size="large" onClick={onClose}>
            {words.ui.cancel}
          </Button>
          <Button look="primary" size="large" type="submit" form="member" busy={busy}>
            {say.save}
          </Button>
        </>
      }
    >
      <Form id="member" errors={errors} onSubmit={() => void save()} className="flex flex-col gap-5">
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
        <FormProblem>{problem}</FormProblem>
      </Form>
    </Sheet>
  )
}

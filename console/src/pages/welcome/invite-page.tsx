import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { isNotFound } from '../../api/faults.ts'
import { peopleQueries } from '../../api/queries/people.ts'
import { useWrite } from '../../api/write.ts'
import { paths } from '../../app/paths.ts'
import { sessionQuery } from '../../app/session.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Field, Form, SubmitButton, TextInput } from '../../ui/field.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Problem } from '../../ui/problem.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { NewPasswordInput } from '../../ui/secret-input.tsx'
import { words } from '../../words/words.ts'
import { Bare } from './bare.tsx'
import { PlainHttp } from './sign-in-page.tsx'
import { invite as place } from './place.ts'

export function InvitePage() {
  const { token } = place.useParams()
  const { data: invitation, error, refetch } = useQuery(peopleQueries.invitation(token))
  const say = words.welcome.invite
  if (isNotFound(error))
    return (
      <Bare title={say.gone} note={say.goneText}>
        <ButtonLink to={paths.signIn()} size="large" className="self-start">
          {say.toSignIn}
        </ButtonLink>
      </Bare>
    )
  const projects = invitation?.projects ?? []
  const as = invitation && words.shell.roles[invitation.role]
  return (
    <Bare
      title={say.title}
      note={as && (projects.length > 0 ? say.asOf(as, projects.join(', ')) : say.as(as))}
      foot={<PlainHttp />}
    >
      {error !== null && <Problem error={error} retry={() => void refetch()} className="px-0 py-0" />}
      {invitation ? (
        <AcceptForm token={token} invitation={invitation} />
      ) : (
        error === null && <LoadingRows rows={3} />
      )}
    </Bare>
  )
}

function AcceptForm({
  token,
  invitation,
}: {
  readonly token: string
  readonly invitation: Schema<'Invitation'>
}) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const { send } = useWrite('post', '/api/v1/invitations/accept')
  const queries = useQueryClient()
  const navigate = useNavigate()
  const say = words.welcome.invite
  const accept = async (): Promise<void> => {
    await send({ body: { token, name, password } })
    await queries.fetchQuery({ ...sessionQuery, staleTime: 0 })
    await navigate({ ...paths.overview(), replace: true })
  }
  return (
    <Form onSubmit={accept} className="flex flex-col gap-3.5">
      <Field name="email" label={words.welcome.signIn.email}>
        <TextInput value={invitation.email} onChange={() => {}} readOnly autoComplete="username" />
      </Field>
      <Field name="name" label={say.name}>
        <TextInput required autoComplete="name" maxLength={100} value={name} onChange={setName} />
      </Field>
      <Field name="password" label={words.welcome.signIn.password} hint={words.welcome.passwordHint}>
        <NewPasswordInput value={password} onChange={setPassword} />
      </Field>
      <FormProblem />
      <SubmitButton className="h-9">{say.submit}</SubmitButton>
    </Form>
  )
}

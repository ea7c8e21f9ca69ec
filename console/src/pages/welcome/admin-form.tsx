/** The first step, before anyone is signed in: the person with the link from the log becomes the first admin. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useWrite } from '../../api/write.ts'
import { sessionQuery } from '../../app/session.ts'
import { Field, Form, SubmitButton, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { NewPasswordInput } from '../../ui/secret-input.tsx'
import { words } from '../../words/words.ts'

export function AdminForm({ token }: { readonly token: string }) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { send } = useWrite('post', '/api/v1/session/first-run')
  const queries = useQueryClient()
  const say = words.welcome
  const become = async (): Promise<void> => {
    await send({ body: { token, name, email, password } })
    await queries.fetchQuery({ ...sessionQuery, staleTime: 0 })
  }
  return (
    <Form onSubmit={become} className="flex flex-col gap-3.5">
      <Field name="name" label={say.invite.name}>
        <TextInput required autoComplete="name" maxLength={100} value={name} onChange={setName} />
      </Field>
      <Field name="email" label={say.signIn.email}>
        <TextInput type="email" required autoComplete="username" value={email} onChange={setEmail} />
      </Field>
      <Field name="password" label={say.signIn.password} hint={say.passwordHint}>
        <NewPasswordInput value={password} onChange={setPassword} />
      </Field>
      <FormProblem />
      <SubmitButton className="h-9">{say.admin.submit}</SubmitButton>
    </Form>
  )
}

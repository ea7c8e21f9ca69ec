/** The first step, before anybody is signed in: whoever has the link of the log becomes the first admin. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, client } from '../../api/client.ts'
import { sessionQuery } from '../../app/session.ts'
import { useSubmission } from '../../app/submit.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Form, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { SecretInput } from '../../ui/secret-input.tsx'
import { words } from '../../words/words.ts'

const LEAST_PASSWORD = 12

export function AdminForm({ token }: { readonly token: string }) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { busy, errors, problem, submit } = useSubmission(['name', 'email', 'password'])
  const queries = useQueryClient()
  const say = words.welcome
  const become = (): Promise<boolean> =>
    submit(async () => {
      const body = { token, name, email, password }
      await answerOf(client.POST('/api/v1/session/first-run', { body }))
      await queries.invalidateQueries({ queryKey: ['sign-in-options'] })
      await queries.fetchQuery({ ...sessionQuery, staleTime: 0 })
    })
  return (
    <Form errors={errors} onSubmit={() => void become()} className="flex flex-col gap-3.5">
      <Field name="name" label={say.invite.name}>
        <TextInput required autoComplete="name" maxLength={100} value={name} onChange={setName} />
      </Field>
      <Field name="email" label={say.signIn.email}>
        <TextInput type="email" required autoComplete="username" value={email} onChange={setEmail} />
      </Field>
      <Field name="password" label={say.signIn.password} hint={say.passwordHint}>
        <SecretInput
          required
          minLength={LEAST_PASSWORD}
          autoComplete="new-password"
          value={password}
          onChange={setPassword}
        />
      </Field>
      <FormProblem>{problem}</FormProblem>
      <Button type="submit" look="primary" size="large" busy={busy} className="h-9">
        {say.admin.submit}
      </Button>
    </Form>
  )
}

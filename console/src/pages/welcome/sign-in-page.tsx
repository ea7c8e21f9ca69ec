import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { LockOpen } from 'lucide-react'
import { useState } from 'react'
import { apiUrl } from '../../api/client.ts'
import { FaultError } from '../../api/faults.ts'
import { peopleQueries } from '../../api/queries/people.ts'
import { useWrite } from '../../api/write.ts'
import { parseSearch } from '../../app/search.ts'
import { sessionQuery } from '../../app/session.ts'
import { buttonClasses } from '../../ui/button.tsx'
import { Field, Form, SubmitButton, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { SecretInput } from '../../ui/secret-input.tsx'
import { words } from '../../words/words.ts'
import { Bare } from './bare.tsx'
import { signIn as place } from './place.ts'

export function SignInPage() {
  const { return: back = '/', problem } = place.useSearch()
  const { data: options } = useQuery(peopleQueries.options())
  const say = words.welcome.signIn
  const mayTry = options?.allowed !== false
  return (
    <Bare title={say.title} note={options?.first_run === true ? say.nobody : undefined} foot={<PlainHttp />}>
      {problem !== undefined && (
        <FormProblem>{say.problems[problem as keyof typeof say.problems] ?? say.problems.failed}</FormProblem>
      )}
      {options?.sign_on != null && (
        <>
          <a
            href={`${apiUrl('/api/v1/session/oidc')}?${new URLSearchParams({ return: ownPath(back) }).toString()}`}
            aria-disabled={!mayTry}
            className={buttonClasses('primary', 'large', 'h-9 w-full')}
          >
            {say.with(options.sign_on)}
          </a>
          <p className="flex items-center gap-3 text-12 text-ink-3 before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
            {say.or}
          </p>
        </>
      )}
      <PasswordForm back={ownPath(back)} mayTry={mayTry} isFirst={options?.sign_on == null} />
    </Bare>
  )
}

interface PasswordFormProps {
  readonly back: string
  readonly mayTry: boolean
  /** There is no other way above it. */
  readonly isFirst: boolean
}

function PasswordForm({ back, mayTry, isFirst }: PasswordFormProps) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { send } = useWrite('post', '/api/v1/session')
  const queries = useQueryClient()
  const navigate = useNavigate()
  const say = words.welcome.signIn
  const signIn = async (): Promise<void> => {
    try {
      await send({ body: { email, password } })
    } catch (error) {
      // A wrong password is typed again; after any other failure it is still there.
      if (error instanceof FaultError && error.code === 'sign_in_failed') setPassword('')
      throw error
    }
    await queries.fetchQuery({ ...sessionQuery, staleTime: 0 })
    const [to = '', query = ''] = back.split('?', 2)
    await navigate({ to, search: parseSearch(query), replace: true })
  }
  return (
    <Form onSubmit={signIn} className="flex flex-col gap-3.5">
      <Field name="email" label={say.email}>
        <TextInput type="email" required autoComplete="username" value={email} onChange={setEmail} />
      </Field>
      <Field name="password" label={say.password}>
        <SecretInput required autoComplete="current-password" value={password} onChange={setPassword} />
      </Field>
      <FormProblem />
      <SubmitButton look={isFirst ? 'primary' : 'plain'} disabled={!mayTry} className="h-9">
        {say.submit}
      </SubmitButton>
      <p className="text-12 text-ink-3">{say.forgotten}</p>
    </Form>
  )
}

/** Who may sign in over plain http, and why. */
export function PlainHttp() {
  const { data: options } = useQuery(peopleQueries.options())
  if (options === undefined || options.secure) return null
  const say = words.welcome.plainHttp
  return (
    <p className="flex items-start gap-2">
      <LockOpen size={14} aria-hidden className="mt-px shrink-0 text-warn" />
      <span>
        {options.allowed ? say.here : say.elsewhere} {say.setBefore}{' '}
        <code className="mono-12">CONSOLE_URL</code> {say.setAfter}
      </span>
    </p>
  )
}

/** An address of others must not be opened for somebody who has just signed in. */
function ownPath(back: string): string {
  return /^\/(?![/\\])/.test(back) ? back : '/'
}

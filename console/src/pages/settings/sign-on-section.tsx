import { useQuery } from '@tanstack/react-query'
import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { peopleQueries } from '../../api/queries/people.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { Field, Form, SubmitButton, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SecretInput } from '../../ui/secret-input.tsx'
import { useSending } from '../../ui/sending.ts'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { SignOnRules, type Rule } from './sign-on-rules.tsx'

type SignOn = Schema<'SignOn'>

export function SignOnSection() {
  const { data, error, refetch } = useQuery(peopleQueries.signOn())
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows />
  // A new form after each save: it begins with what the server keeps.
  return <SignOnForm key={JSON.stringify(data)} saved={data} />
}

/** The sign-in page shows whether there is one. */
const TOUCHED = { touches: ['/api/v1/session/options'] } as const

function SignOnForm({ saved }: { readonly saved: SignOn }) {
  const [issuer, setIssuer] = useState(saved.issuer)
  const [clientId, setClientId] = useState(saved.client_id)
  const [secret, setSecret] = useState('')
  const [name, setName] = useState(saved.name ?? '')
  const [rules, setRules] = useState<readonly Rule[]>(saved.rules)
  const { send } = useWrite('put', '/api/v1/sign-on', TOUCHED)
  const say = words.people.signOn
  const isThere = saved.issuer !== ''
  const save = async (): Promise<void> => {
    await send({
      body: {
        name: name.trim() === '' ? null : name,
        issuer,
        client_id: clientId,
        ...(secret !== '' && { client_secret: secret }),
        rules: rules.map((rule) => ({ ...rule, projects: rule.role === 'developer' ? rule.projects : null })),
      },
    })
    toast(say.saved)
  }
  return (
    <Form onSubmit={save} className="flex max-w-180 flex-col gap-5 px-6 py-6 phone:px-4">
      <header>
        <h2 className="text-13 font-semibold">{say.title}</h2>
        <p className="text-ink-2">{say.text}</p>
      </header>
      <Field name="issuer" label={say.issuer} hint={say.issuerHint}>
        <TextInput type="url" required value={issuer} onChange={setIssuer} placeholder="https://" />
      </Field>
      <div className="grid grid-cols-2 gap-4 phone:grid-cols-1">
        <Field name="client_id" label={say.clientId}>
          <TextInput required autoComplete="off" value={clientId} onChange={setClientId} />
        </Field>
        <Field
          name="client_secret"
          label={say.secret}
          hint={saved.has_secret ? say.secretKept : say.secretNew}
        >
          <SecretInput
            value={secret}
            onChange={setSecret}
            {...(saved.has_secret && { placeholder: '••••••••' })}
          />
        </Field>
      </div>
      <div className="grid grid-cols-2 gap-4 phone:grid-cols-1">
        <Field name="name" label={say.name} hint={say.nameHint}>
          <TextInput value={name} maxLength={60} onChange={setName} />
        </Field>
        <div className="flex flex-col gap-1.5">
          <p className="text-12 font-medium">{say.redirect}</p>
          <p className="flex min-h-8 items-center gap-1 rounded-control bg-sunken px-2.5">
            <code className="mono-12 min-w-0 flex-1 break-all">{saved.redirect_url}</code>
            <CopyIconButton text={saved.redirect_url} />
          </p>
          <p className="text-12 text-ink-3">{say.redirectHint}</p>
        </div>
      </div>
      <SignOnRules rules={rules} onChange={setRules} />
      <FormProblem />
      <footer className="flex flex-wrap items-center gap-2">
        <SubmitButton>{say.save}</SubmitButton>
        <TestButton isThere={isThere} />
        {isThere && <DropButton />}
      </footer>
    </Form>
  )
}

function TestButton({ isThere }: { readonly isThere: boolean }) {
  const { busy, problem, run } = useSending()
  const test = useWrite('post', '/api/v1/sign-on/test')
  const say = words.people.signOn
  const open = async (): Promise<void> => {
    // Opened at once: later a browser would not take it for the answer to a click.
    const opened = window.open('about:blank', '_blank')
    const isThereNow = await run(async () => {
      const { url } = await test.send({})
      if (opened) opened.location.href = url
    })
    if (!isThereNow) opened?.close()
  }
  return (
    <>
      <Button
        size="large"
        icon={<ExternalLink size={14} aria-hidden />}
        busy={busy}
        why={isThere ? undefined : say.testWhy}
        onClick={() => void open()}
      >
        {say.test}
      </Button>
      <span className="text-12 text-ink-3">{say.testHint}</span>
      {problem !== undefined && <FormProblem>{problem}</FormProblem>}
    </>
  )
}

function DropButton() {
  const [isOpen, setOpen] = useState(false)
  const drop = useWrite('delete', '/api/v1/sign-on', TOUCHED)
  const say = words.people.signOn
  return (
    <>
      <Button look="danger" size="large" className="ml-auto" onClick={() => setOpen(true)}>
        {say.drop}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={say.dropTitle}
          description={say.dropText}
          go={say.drop}
          onGo={async () => {
            await drop.send({})
            toast(say.dropped)
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ExternalLink } from 'lucide-react'
import { useState } from 'react'
import { answerOf, client, type Schema } from '../../api/client.ts'
import { peopleQueries } from '../../api/queries/people.ts'
import { useSubmission } from '../../app/submit.ts'
import { Button } from '../../ui/button.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { AlertDialog } from '../../ui/dialog.tsx'
import { Field, Form, TextInput } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Problem } from '../../ui/problem.tsx'
import { SecretInput } from '../../ui/secret-input.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { SignOnRules, type Rule } from './sign-on-rules.tsx'

type SignOn = Schema<'SignOn'>

export function SignOnSection() {
  const { data, error, refetch } = useQuery(peopleQueries.signOn())
  if (error !== null) return <Problem error={error} retry={() => void refetch()} />
  if (data === undefined) return <LoadingRows />
  // Made anew when something was saved: the form begins with what the server keeps.
  return <SignOnForm key={JSON.stringify(data)} saved={data} />
}

const FIELDS = ['issuer', 'client_id', 'client_secret', 'name', 'rules']

function SignOnForm({ saved }: { readonly saved: SignOn }) {
  const [issuer, setIssuer] = useState(saved.issuer)
  const [clientId, setClientId] = useState(saved.client_id)
  const [secret, setSecret] = useState('')
  const [name, setName] = useState(saved.name ?? '')
  const [rules, setRules] = useState<readonly Rule[]>(saved.rules)
  const { busy, errors, problem, submit } = useSubmission(FIELDS)
  const queries = useQueryClient()
  const say = words.people.signOn
  const isThere = saved.issuer !== ''
  const save = async (): Promise<void> => {
    const isDone = await submit(async () => {
      const body = {
        name: name.trim() === '' ? null : name,
        issuer,
        client_id: clientId,
        ...(secret !== '' && { client_secret: secret }),
        rules: rules.map((rule) => ({ ...rule, projects: rule.role === 'developer' ? rule.projects : null })),
      }
      await answerOf(client.PUT('/api/v1/sign-on', { body }))
      await queries.invalidateQueries({ queryKey: ['sign-on'] })
    })
    if (isDone) toast(say.saved)
  }
  return (
    <Form
      errors={errors}
      onSubmit={() => void save()}
      className="flex max-w-180 flex-col gap-5 px-6 py-6 phone:px-4"
    >
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
      <SignOnRules rules={rules} onChange={setRules} error={errors['rules']} />
      <FormProblem>{problem}</FormProblem>
      <footer className="flex flex-wrap items-center gap-2">
        <Button type="submit" look="primary" size="large" busy={busy}>
          {say.save}
        </Button>
        <TestButton isThere={isThere} />
        {isThere && <DropButton />}
      </footer>
    </Form>
  )
}

function TestButton({ isThere }: { readonly isThere: boolean }) {
  const { busy, problem, submit } = useSubmission([])
  const say = words.people.signOn
  const test = (): Promise<boolean> => {
    // Opened at once: later a browser would not take it for the answer to a click.
    const opened = window.open('about:blank', '_blank')
    return submit(async () => {
      try {
        const { url } = await answerOf(client.POST('/api/v1/sign-on/test'))
        if (opened) opened.location.href = url
      } catch (error) {
        opened?.close()
        throw error
      }
    })
  }
  return (
    <>
      <Button
        size="large"
        icon={<ExternalLink size={14} aria-hidden />}
        busy={busy}
        why={isThere ? undefined : say.testWhy}
        onClick={() => void test()}
      >
        {say.test}
      </Button>
      <span className="text-12 text-ink-3">{problem ?? say.testHint}</span>
    </>
  )
}

function DropButton() {
  const [isOpen, setOpen] = useState(false)
  const { busy, problem, submit } = useSubmission([])
  const queries = useQueryClient()
  const say = words.people.signOn
  const drop = async (): Promise<void> => {
    const isDone = await submit(async () => {
      await answerOf(client.DELETE('/api/v1/sign-on'))
      await queries.invalidateQueries({ queryKey: ['sign-on'] })
    })
    if (!isDone) return
    setOpen(false)
    toast(say.dropped)
  }
  return (
    <>
      <Button look="danger" size="large" className="ml-auto" onClick={() => setOpen(true)}>
        {say.drop}
      </Button>
      <AlertDialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title={say.dropTitle}
        description={say.dropText}
        actions={
          <>
            <Button size="large" onClick={() => setOpen(false)}>
              {words.ui.cancel}
            </Button>
            <Button look="danger" size="large" busy={busy} onClick={() => void drop()}>
              {say.drop}
            </Button>
          </>
        }
      >
        <FormProblem>{problem}</FormProblem>
      </AlertDialog>
    </>
  )
}

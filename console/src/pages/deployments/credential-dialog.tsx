/** Replacing or forgetting the credential of an upstream. The secret lives in this component alone. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { deploymentQueries, usePutCredential } from '../../api/queries/deployments.ts'
import { Button } from '../../ui/button.tsx'
import { AlertDialog, Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/field.tsx'
import { SecretInput } from '../../ui/secret-input.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'

interface CredentialDialogProps {
  readonly upstream: string
  readonly what: 'replace' | 'forget'
  readonly open: boolean
  readonly onClose: () => void
}

export function CredentialDialog({ upstream, what, open, onClose }: CredentialDialogProps) {
  const { credentialDialog } = words.deployments
  const [secret, setSecret] = useState('')
  const put = usePutCredential()
  const { data } = useQuery({ ...deploymentQueries.credentials(), enabled: open })
  const url = data?.data.find((row) => row.upstream === upstream)?.base_url ?? upstream
  const close = (): void => {
    setSecret('')
    put.reset()
    onClose()
  }
  const send = (value: string | null, said: string): void =>
    put.mutate(
      { upstream, secret: value },
      {
        onSuccess: () => {
          toast(said)
          close()
        },
      },
    )
  const store = (): void => {
    if (secret !== '') send(secret, credentialDialog.stored(upstream))
  }
  const note = put.error === null ? undefined : <span className="text-bad">{put.error.message}</span>
  if (what === 'forget')
    return (
      <AlertDialog
        open={open}
        onClose={close}
        title={credentialDialog.forgetTitle(upstream)}
        description={credentialDialog.forgetText}
        note={note}
        actions={
          <>
            <Button onClick={close}>{words.ui.cancel}</Button>
            <Button
              look="danger"
              busy={put.isPending}
              onClick={() => send(null, credentialDialog.forgotten(upstream))}
            >
              {credentialDialog.forget}
            </Button>
          </>
        }
      />
    )
  return (
    <Dialog
      open={open}
      onClose={close}
      title={credentialDialog.title(upstream)}
      description={credentialDialog.text(url)}
      note={note}
      actions={
        <>
          <Button onClick={close}>{words.ui.cancel}</Button>
          <Button look="primary" busy={put.isPending} onClick={store}>
            {credentialDialog.store}
          </Button>
        </>
      }
    >
      <Form onSubmit={store}>
        <Field name="secret" label={credentialDialog.secret}>
          <SecretInput value={secret} onChange={setSecret} />
        </Field>
      </Form>
    </Dialog>
  )
}

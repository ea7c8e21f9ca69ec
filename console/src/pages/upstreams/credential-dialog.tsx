/** Replacing or deleting the key of an upstream, at once: a secret is never among the pending changes. It lives in this component alone. */
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { useWrite } from '../../api/write.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { SecretInput } from '../../ui/secret-input.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'

interface CredentialDialogProps {
  readonly upstream: Schema<'Upstream'>
  readonly what: 'replace' | 'forget'
  readonly onClose: () => void
}

export function CredentialDialog({
  upstream: { name, base_url: url },
  what,
  onClose,
}: CredentialDialogProps) {
  const say = words.routing.credential
  const [secret, setSecret] = useState('')
  const put = useWrite('put', '/api/v1/credentials/{upstream}', {
    touches: ['/api/v1/upstreams', '/api/v1/deployments'],
  })
  const send = async (value: string | null, said: string): Promise<void> => {
    await put.send({ params: { path: { upstream: name } }, body: { secret: value } })
    toast(said)
  }
  if (what === 'forget')
    return (
      <ConfirmDialog
        title={say.forgetTitle(name)}
        description={say.forgetText}
        go={say.forget}
        onGo={() => send(null, say.forgotten(name))}
        onClose={onClose}
      />
    )
  return (
    <FormSheet
      shape="dialog"
      title={say.title(name)}
      description={say.text(url)}
      go={say.store}
      onSubmit={() => send(secret, say.stored(name))}
      onClose={onClose}
    >
      <Field name="secret" label={say.secret}>
        <SecretInput required value={secret} onChange={setSecret} />
      </Field>
    </FormSheet>
  )
}

/** Replacing or forgetting the credential of an upstream. The secret lives in this component alone. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { deploymentQueries } from '../../api/queries/deployments.ts'
import { useWrite } from '../../api/write.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { SecretInput } from '../../ui/secret-input.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'

interface CredentialDialogProps {
  readonly upstream: string
  readonly what: 'replace' | 'forget'
  readonly onClose: () => void
}

export function CredentialDialog({ upstream, what, onClose }: CredentialDialogProps) {
  const say = words.deployments.credentialDialog
  const [secret, setSecret] = useState('')
  const put = useWrite('put', '/api/v1/credentials/{upstream}')
  const { data } = useQuery(deploymentQueries.credentials())
  const url = data?.data.find((row) => row.upstream === upstream)?.base_url ?? upstream
  const send = async (value: string | null, said: string): Promise<void> => {
    await put.send({ params: { path: { upstream } }, body: { secret: value } })
    toast(said)
  }
  if (what === 'forget')
    return (
      <ConfirmDialog
        title={say.forgetTitle(upstream)}
        description={say.forgetText}
        go={say.forget}
        onGo={() => send(null, say.forgotten(upstream))}
        onClose={onClose}
      />
    )
  return (
    <FormSheet
      shape="dialog"
      title={say.title(upstream)}
      description={say.text(url)}
      go={say.store}
      onSubmit={() => send(secret, say.stored(upstream))}
      onClose={onClose}
    >
      <Field name="secret" label={say.secret}>
        <SecretInput required value={secret} onChange={setSecret} />
      </Field>
    </FormSheet>
  )
}

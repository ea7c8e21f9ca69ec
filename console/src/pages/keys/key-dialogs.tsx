/** What is done to a key that can't be undone: another secret, or an end. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, client } from '../../api/client.ts'
import { ageOf, count } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { useSubmission } from '../../app/submit.ts'
import { Button } from '../../ui/button.tsx'
import { AlertDialog, Dialog, FactList } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { Select } from '../../ui/select.tsx'
import { Switch } from '../../ui/switch.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import type { Key } from './columns.tsx'
import type { Once } from './once-dialog.tsx'

interface DialogProps {
  readonly of: Key
  readonly onClose: () => void
}

const OVERLAPS = ['0', '3600', '86400', '604800'] as const

const pathOf = ({ project, name }: Key) => ({ params: { path: { project, name } } })

export function RotateDialog({
  of,
  onClose,
  onRotated,
}: DialogProps & { readonly onRotated: (once: Once) => void }) {
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>('86400')
  const { busy, problem, submit } = useSubmission([])
  const queries = useQueryClient()
  const say = words.keys.rotate
  const rotate = (): Promise<boolean> =>
    submit(async () => {
      const body = { overlap_seconds: Number(overlap) }
      const made = await answerOf(
        client.POST('/api/v1/keys/{project}/{name}/rotate', { ...pathOf(of), body }),
      )
      const { secret = '', ...key } = made
      onRotated({ kind: 'rotated', key, secret })
      await queries.invalidateQueries({ queryKey: ['keys'] })
    })
  return (
    <Dialog
      open
      onClose={onClose}
      title={say.title(of.id)}
      description={say.text}
      actions={
        <>
          <Button size="large" onClick={onClose}>
            {words.ui.cancel}
          </Button>
          <Button look="primary" size="large" busy={busy} onClick={() => void rotate()}>
            {say.go}
          </Button>
        </>
      }
    >
      <Field name="overlap" label={say.overlap}>
        <Select
          label={say.overlap}
          options={OVERLAPS.map((value) => ({ value, label: say.overlaps[value] }))}
          value={overlap}
          onChange={setOverlap}
        />
      </Field>
      <FormProblem>{problem}</FormProblem>
    </Dialog>
  )
}

export function RevokeDialog({ of, onClose }: DialogProps) {
  const { busy, problem, submit } = useSubmission([])
  const queries = useQueryClient()
  const nowMs = useNow()
  const [isLeaked, setLeaked] = useState(false)
  const say = words.keys.revoke
  const revoke = async (): Promise<void> => {
    const isDone = await submit(async () => {
      const { path } = pathOf(of).params
      const query = isLeaked ? ({ leaked: 'true' } as const) : {}
      await answerOf(client.DELETE('/api/v1/keys/{project}/{name}', { params: { path, query } }))
      await queries.invalidateQueries({ queryKey: ['keys'] })
    })
    if (!isDone) return
    toast(say.done(of.id), { text: say.doneText })
    onClose()
  }
  return (
    <AlertDialog
      open
      onClose={onClose}
      title={say.title(of.id)}
      description={say.text}
      actions={
        <>
          <Button size="large" onClick={onClose}>
            {words.ui.cancel}
          </Button>
          <Button look="danger" size="large" busy={busy} onClick={() => void revoke()}>
            {say.go}
          </Button>
        </>
      }
    >
      <FactList
        facts={[
          [say.used, of.last_used_at === null ? words.keys.never : ageOf(of.last_used_at, nowMs)],
          [say.requests, count(of.requests_24h)],
          [say.afterwards, say.thenText],
        ]}
      />
      <Switch checked={isLeaked} onChange={setLeaked}>
        {say.leaked}
      </Switch>
      <FormProblem>{problem}</FormProblem>
    </AlertDialog>
  )
}

/** What is done to a key that can't be undone: another secret, or an end. */
import { useState } from 'react'
import { useWrite } from '../../api/write.ts'
import { ageOf, count } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
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

const paramsOf = ({ project, name }: Key) => ({ path: { project, name } })

export function RotateDialog({
  of,
  onClose,
  onRotated,
}: DialogProps & { readonly onRotated: (once: Once) => void }) {
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>('86400')
  const { send } = useWrite('post', '/api/v1/keys/{project}/{name}/rotate')
  const say = words.keys.rotate
  const rotate = async (): Promise<void> => {
    const made = await send({ params: paramsOf(of), body: { overlap_seconds: Number(overlap) } })
    const { secret = '', ...key } = made
    onRotated({ kind: 'rotated', key, secret })
  }
  return (
    <FormSheet
      shape="dialog"
      title={say.title(of.id)}
      description={say.text}
      go={say.go}
      onSubmit={rotate}
      onClose={onClose}
      keepsOpen
    >
      <Field name="overlap_seconds" label={say.overlap}>
        <Select
          label={say.overlap}
          options={OVERLAPS.map((value) => ({ value, label: say.overlaps[value] }))}
          value={overlap}
          onChange={setOverlap}
        />
      </Field>
    </FormSheet>
  )
}

export function RevokeDialog({ of, onClose }: DialogProps) {
  const { send } = useWrite('delete', '/api/v1/keys/{project}/{name}', { touches: ['/api/v1/budgets'] })
  const nowMs = useNow()
  const [isLeaked, setLeaked] = useState(false)
  const say = words.keys.revoke
  return (
    <ConfirmDialog
      title={say.title(of.id)}
      description={say.text}
      facts={[
        [say.used, of.last_used_at === null ? words.keys.never : ageOf(of.last_used_at, nowMs)],
        [say.requests, count(of.requests_24h)],
        [say.afterwards, say.thenText],
      ]}
      go={say.go}
      onGo={async () => {
        await send({ params: { ...paramsOf(of), query: isLeaked ? { leaked: 'true' } : {} } })
        toast(say.done(of.id), { text: say.doneText })
      }}
      onClose={onClose}
    >
      <Switch checked={isLeaked} onChange={setLeaked}>
        {say.leaked}
      </Switch>
    </ConfirmDialog>
  )
}

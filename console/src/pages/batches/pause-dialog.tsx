/** Pausing says what continues meanwhile, and takes a reason for the next person who opens the batch. */
import { useState } from 'react'
import type { Batch } from '../../api/queries/batches.ts'
import { useWrite } from '../../api/write.ts'
import { moment, whole } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { FactList } from '../../ui/dialog.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { words } from '../../words/words.ts'
import { doneOf } from './progress.ts'

/** Characters of a reason, as the API bounds it. */
const MAX_REASON = 500

export function PauseDialog({ batch, onClose }: { readonly batch: Batch; readonly onClose: () => void }) {
  const { send } = useWrite('post', '/api/v1/batches/{id}/pause')
  const [reason, setReason] = useState('')
  const nowMs = useNow()
  const say = words.batches.pause
  const pause = (): unknown => {
    const given = reason.trim()
    return send({ params: { path: { id: batch.id } }, body: given === '' ? {} : { reason: given } })
  }
  return (
    <FormSheet
      shape="dialog"
      title={say.title}
      description={say.text}
      go={say.go}
      onSubmit={pause}
      onClose={onClose}
    >
      <FactList
        facts={[
          [say.left, whole(batch.lines.total - doneOf(batch))],
          [say.window, say.windowText(moment(batch.expires_at, nowMs))],
        ]}
      />
      <Field name="reason" label={say.reason} hint={say.reasonHint}>
        <TextInput value={reason} onChange={setReason} maxLength={MAX_REASON} />
      </Field>
    </FormSheet>
  )
}

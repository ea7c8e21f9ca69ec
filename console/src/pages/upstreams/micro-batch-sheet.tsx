/** How many requests may share a call, and how long they wait for one another. */
import { useState } from 'react'
import { Field } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { NumberInput } from '../../ui/number-field.tsx'
import { Tick } from '../../ui/switch.tsx'
import { words } from '../../words/words.ts'
import { withValue } from './entry.ts'
import type { ModelEdit } from './model-edit.ts'
import type { MicroBatch } from './settings.ts'

/** Bounds of torana.yaml. */
const MAX_WAIT_MS = 1000
const MAX_ITEMS = 2048

interface MicroBatchSheetProps {
  readonly batch: MicroBatch
  readonly edit: ModelEdit
  readonly onClose: () => void
}

export function MicroBatchSheet({ batch, edit, onClose }: MicroBatchSheetProps) {
  const say = words.routing.settings
  const [wait, setWait] = useState<number | null>(batch.maxWaitMs)
  const [items, setItems] = useState<number | null>(batch.maxItems)
  const [across, setAcross] = useState(batch.acrossProjects)
  const keep = (): void => {
    const own = edit.entry?.['microBatch']
    const named = {
      ...(own as object),
      maxWaitMs: wait ?? batch.maxWaitMs,
      maxItems: items ?? batch.maxItems,
    }
    const isNamed = across || batch.acrossProjects
    edit.set(['microBatch'], withValue(named, ['acrossProjects'], isNamed ? across : undefined))
  }
  return (
    <FormSheet shape="dialog" title={say.microBatch} go={say.done} onSubmit={keep} onClose={onClose}>
      <Field name="maxWaitMs" label={say.maxWait}>
        <NumberInput value={wait} min={0} max={MAX_WAIT_MS} required onChange={setWait} />
      </Field>
      <Field name="maxItems" label={say.maxTexts}>
        <NumberInput value={items} min={2} max={MAX_ITEMS} required onChange={setItems} />
      </Field>
      <Field name="acrossProjects" label={say.acrossProjects} hint={say.acrossHint}>
        <Tick checked={across} onChange={setAcross}>
          {say.across}
        </Tick>
      </Field>
    </FormSheet>
  )
}

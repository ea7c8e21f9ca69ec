/** Makes a snapshot link. The link is shown once: the node keeps only its digest. */
import { useState } from 'react'
import type { SnapshotPage } from '../../api/queries/snapshots.ts'
import { useWrite } from '../../api/write.ts'
import { dayWithYear } from '../../app/format.ts'
import { stringifySearch } from '../../app/search.ts'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { OnceDialog } from '../../ui/once-dialog.tsx'
import { Select } from '../../ui/select.tsx'
import { words } from '../../words/words.ts'

export interface SnapshotSubject {
  readonly page: SnapshotPage
  readonly queries: Readonly<Record<string, object>>
}

interface SnapshotSheetProps {
  readonly subject: SnapshotSubject
  readonly onClose: () => void
}

const DAYS = ['1', '7', '30'] as const

export function SnapshotSheet({ subject: { page, queries }, onClose }: SnapshotSheetProps) {
  const [title, setTitle] = useState(() => `${words.places[page]}, ${dayWithYear(Date.now())}`)
  const [days, setDays] = useState<(typeof DAYS)[number]>('7')
  const [link, setLink] = useState<string>()
  const { send } = useWrite('post', '/api/v1/snapshots')
  const say = words.snapshots
  const create = async (): Promise<void> => {
    const texts = Object.entries(queries).map(
      ([name, query]) => [name, stringifySearch({ ...query }).slice(1)] as const,
    )
    const made = await send({
      body: { page, title: title.trim(), days: Number(days), queries: Object.fromEntries(texts) },
    })
    setLink(made.link)
  }
  if (link !== undefined)
    return (
      <OnceDialog
        title={say.ready}
        description={say.readyText}
        value={link}
        done={say.done}
        onClose={onClose}
      />
    )
  return (
    <FormSheet
      shape="dialog"
      title={say.title}
      description={say.text}
      go={say.go}
      keepsOpen
      onSubmit={create}
      onClose={onClose}
    >
      <Field name="title" label={say.name} hint={say.nameHint}>
        <TextInput required pattern=".*\S.*" maxLength={100} value={title} onChange={setTitle} />
      </Field>
      <Field name="days" label={say.expires}>
        <Select
          value={days}
          options={DAYS.map((value) => ({ value, label: say.days(Number(value)) }))}
          onChange={setDays}
        />
      </Field>
    </FormSheet>
  )
}

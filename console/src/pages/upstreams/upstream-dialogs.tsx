/** Renaming an upstream and changing its address: both join the pending changes. */
import { useState } from 'react'
import { Field, TextInput } from '../../ui/field.tsx'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { FieldError } from '../../ui/sending.ts'
import { words } from '../../words/words.ts'
import type { Change } from './draft.ts'
import { valueAt, withValue, type Entry } from './entry.ts'
import { changeOf, type UpstreamRow } from './upstream-row.ts'

interface UpstreamDialogProps {
  readonly row: UpstreamRow
  readonly onChange: (change: Change) => void
  readonly onClose: () => void
}

const NAME = '[A-Za-z0-9][A-Za-z0-9._\\-]{0,62}'

export function RenameDialog({
  row,
  taken,
  onChange,
  onClose,
}: UpstreamDialogProps & { readonly taken: readonly string[] }) {
  const say = words.routing.rename
  const { name: before } = row.upstream
  const [name, setName] = useState(row.change?.renameTo ?? before)
  return (
    <FormSheet
      shape="dialog"
      title={say.title(before)}
      description={say.text}
      go={say.go}
      onSubmit={() => {
        if (name !== before && taken.includes(name)) throw new FieldError('name', say.taken(name))
        onChange({ ...changeOf(row), renameTo: name === before ? undefined : name })
      }}
      onClose={onClose}
    >
      <Field name="name" label={say.name} rule={words.ui.rules.name}>
        <TextInput
          required
          autoComplete="off"
          spellCheck={false}
          pattern={NAME}
          value={name}
          onChange={setName}
        />
      </Field>
    </FormSheet>
  )
}

/** What an address is made of, by the fields of torana.yaml. */
const FIELDS = {
  url: ['baseUrl'],
  apiVersion: ['apiVersion'],
  region: ['settings', 'region'],
  project: ['settings', 'project'],
  location: ['settings', 'location'],
} as const

type AddressField = keyof typeof FIELDS

export function AddressDialog({ row, onChange, onClose }: UpstreamDialogProps) {
  const say = words.routing.address
  const change = changeOf(row)
  const textAt = (field: AddressField): string => {
    const value = valueAt(change.entry, FIELDS[field])
    return typeof value === 'string' ? value : ''
  }
  const [typed, setTyped] = useState<Partial<Record<AddressField, string>>>({})
  // The address always, the others where the upstream has them.
  const fields = (Object.keys(FIELDS) as AddressField[]).filter(
    (field) => field === 'url' || textAt(field) !== '',
  )
  const keep = (): void => {
    const entry = fields.reduce<Entry>((before, field) => {
      const text = (typed[field] ?? textAt(field)).trim()
      return withValue(before, FIELDS[field], text === '' ? undefined : text)
    }, change.entry ?? {})
    onChange({ ...change, entry })
  }
  return (
    <FormSheet
      shape="dialog"
      title={say.title(row.upstream.name)}
      description={say.text}
      go={say.go}
      onSubmit={keep}
      onClose={onClose}
    >
      {fields.map((field) => (
        <Field key={field} name={FIELDS[field].join('.')} label={say[field]}>
          <TextInput
            autoComplete="off"
            spellCheck={false}
            inputMode={field === 'url' ? 'url' : 'text'}
            placeholder={field === 'url' ? row.upstream.base_url : ''}
            value={typed[field] ?? textAt(field)}
            onChange={(text) => setTyped({ ...typed, [field]: text })}
          />
        </Field>
      ))}
    </FormSheet>
  )
}

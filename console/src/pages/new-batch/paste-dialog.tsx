/** Rows from the clipboard become a file, and are uploaded like one. */
import { useState } from 'react'
import { bytes } from '../../app/format.ts'
import { FormSheet } from '../../ui/form-sheet.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { fileOfText, formOf, PASTED_FORMS, type PastedForm } from './pasted.ts'

/** Characters of pasted text: a browser shows more only slowly. */
const MAX_PASTED = 5_000_000

interface PasteDialogProps {
  /** What was pasted on the page. */
  readonly pasted: string
  readonly onTake: (file: File) => void
  readonly onClose: () => void
}

export function PasteDialog({ pasted, onTake, onClose }: PasteDialogProps) {
  const [text, setText] = useState(pasted)
  const [chosen, setChosen] = useState<PastedForm>()
  const form = chosen ?? formOf(text)
  const say = words.newBatch.pasteDialog
  const why =
    text.trim() === '' ? say.empty : text.length > MAX_PASTED ? say.tooLarge(bytes(MAX_PASTED)) : undefined
  return (
    <FormSheet
      shape="dialog"
      title={say.title}
      description={say.text}
      go={say.go}
      why={why}
      onSubmit={() => onTake(fileOfText(text, form, say.name))}
      onClose={onClose}
    >
      <textarea
        aria-label={say.field}
        value={text}
        rows={12}
        wrap="off"
        spellCheck={false}
        placeholder={'id,text\n1,"You can cancel an order until it ships."\n2,A lamp'}
        className="mono-12 w-full rounded-control border border-line-strong bg-surface px-2.5 py-2 outline-none focus:border-accent focus:ring-3 focus:ring-accent/25"
        onChange={(event) => setText(event.target.value)}
      />
      <Segmented
        label={say.form}
        value={form}
        onChange={setChosen}
        segments={PASTED_FORMS.map((value) => ({ value, label: say.forms[value] }))}
        className="self-start"
      />
    </FormSheet>
  )
}

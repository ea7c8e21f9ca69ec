/** A table from elsewhere becomes lines in groups. */
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { words } from '../../words/words.ts'
import { linesOfCsv, typedTexts } from './texts.ts'

export function CsvDialog({
  onClose,
  onTake,
}: {
  readonly onClose: () => void
  readonly onTake: (lines: string) => void
}) {
  const [csv, setCsv] = useState('')
  const say = words.embeddings
  const lines = linesOfCsv(csv)
  const { texts, groups } = typedTexts(lines)
  return (
    <Dialog
      open
      onClose={onClose}
      title={say.pasteCsv}
      description={say.csvHint}
      note={texts.length > 0 ? say.count(texts.length, groups.length) : undefined}
      actions={
        <Button
          look="primary"
          size="large"
          why={texts.length === 0 ? say.noTexts : undefined}
          onClick={() => onTake(lines)}
        >
          {say.csvTake}
        </Button>
      }
    >
      <textarea
        aria-label={say.csvField}
        value={csv}
        rows={10}
        wrap="off"
        spellCheck={false}
        placeholder={'text,label\n"Where is my parcel?",delivery'}
        className="mono-12 w-full rounded-control border border-line-strong bg-surface px-2.5 py-2 outline-none focus:border-accent focus:ring-3 focus:ring-accent/25"
        onChange={(event) => setCsv(event.target.value)}
      />
    </Dialog>
  )
}

/** Where inputs are entered: texts in one field, or lines with images where the model takes them. */
import { useState } from 'react'
import { lazyPart } from '../../app/lazy-part.tsx'
import { Menu, MenuItem } from '../../ui/menu.tsx'
import { words } from '../../words/words.ts'
import { hasMedia, kindOfInput } from './content-lines.ts'
import { CsvDialog } from './csv-dialog.tsx'
import type { MediaFile } from './media-store.ts'
import { SAMPLES, SAMPLE_TEXTS } from './samples.ts'
import type { TakenMedia } from './taken-media.ts'
import { TextArea } from './text-area.tsx'
import { MAX_TEXTS, type TypedTexts } from './texts.ts'

const InputList = lazyPart(async () => (await import('./input-list.tsx')).InputList)
const DropZone = lazyPart(async () => (await import('./drop-zone.tsx')).DropZone)

export interface InputsFieldProps {
  readonly value: string
  readonly typed: TypedTexts
  readonly files: ReadonlyMap<string, MediaFile>
  /** Undefined: the model takes texts alone. */
  readonly taken: TakenMedia | undefined
  readonly onChange: (value: string) => void
  readonly onForget: () => void
  /** `line`: of the input that they become parts of. */
  readonly onFiles: (files: readonly File[], line?: number) => void
  readonly onUrl: (url: string) => void
}

export function InputsField(props: InputsFieldProps) {
  const { value, typed, taken, onChange } = props
  const [isPasting, setPasting] = useState(false)
  const say = words.embeddings
  const isList = taken !== undefined || hasMedia(value)
  const tooMany = typed.texts.length - MAX_TEXTS
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-1">
      <div className="flex items-center gap-3 text-12">
        <span className="flex-1 font-strong">{isList ? say.inputs : say.texts}</span>
        <Menu
          align="end"
          trigger={
            <button type="button" className="link">
              {say.samples}
            </button>
          }
        >
          {SAMPLES.map((sample) => (
            <MenuItem key={sample} onSelect={() => onChange(SAMPLE_TEXTS[sample])}>
              {say.sampleNames[sample]}
            </MenuItem>
          ))}
        </Menu>
        <button type="button" className="link" onClick={() => setPasting(true)}>
          {say.pasteCsv}
        </button>
        <button type="button" className="link" onClick={props.onForget}>
          {say.forget}
        </button>
      </div>
      {isList ? (
        <InputList {...props} onDrop={props.onFiles} />
      ) : (
        <TextArea value={value} typed={typed} onChange={onChange} />
      )}
      {taken !== undefined && <DropZone taken={taken} onFiles={props.onFiles} onUrl={props.onUrl} />}
      <p className="text-12 text-ink-3" role="status">
        {isList
          ? say.media.count(typed.inputs.length, typed.groups.length, summaryOf(typed))
          : say.count(typed.texts.length, typed.groups.length)}
      </p>
      {tooMany > 0 && <p className="text-12 text-bad">{say.tooMany(tooMany, MAX_TEXTS)}</p>}
      {isPasting && (
        <CsvDialog
          onClose={() => setPasting(false)}
          onTake={(lines) => {
            onChange(lines)
            setPasting(false)
          }}
        />
      )}
    </div>
  )
}

/** `12 images, 5 texts, 1 joined`. */
export function summaryOf({ inputs }: TypedTexts): string {
  const kinds = inputs.map(kindOfInput)
  const countOf = (kind: string): number => kinds.filter((one) => one === kind).length
  return words.embeddings.media.summary(countOf('media'), countOf('text'), countOf('joined'))
}

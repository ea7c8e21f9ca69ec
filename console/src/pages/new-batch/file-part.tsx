/** The first step: a file, its columns, and what becomes of rows that can't run. */
import { ClipboardPaste, FileSpreadsheet, Upload as UploadIcon, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { bytes } from '../../app/format.ts'
import { Meter } from '../../charts/meter.tsx'
import { Button, buttonClasses, IconButton } from '../../ui/button.tsx'
import { failureText } from '../../ui/failure.ts'
import { Field } from '../../ui/field.tsx'
import { FileButton } from '../../ui/file-input.tsx'
import { FormProblem } from '../../ui/form-problem.tsx'
import { Section } from '../../ui/page.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { Select } from '../../ui/select.tsx'
import { State } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import type { Choices } from './choices.ts'
import { isUnique, type Estimate } from './estimate.ts'
import { COLUMNS, FULL_WIDTH, Labelled } from './labelled.tsx'
import type { Progress } from './make-file.ts'
import { PreviewTable } from './preview-table.tsx'
import type { Corpus, Reading } from './use-corpus.ts'

const ACCEPT = '.csv,.tsv,.jsonl,.ndjson,.parquet,text/csv,application/jsonl'

export interface FilePartProps {
  readonly reading: Reading
  /** Of the file of requests, while it is made and sent. */
  readonly progress: Progress | undefined
  readonly choices: Choices
  readonly estimate: Estimate | undefined
  /** Why no file can be taken now. */
  readonly why: string | undefined
  /** The project of the file, where one has to be chosen. */
  readonly project: ReactNode
  readonly onFiles: (files: readonly File[]) => void
  readonly onPaste: () => void
  readonly onStop: () => void
  readonly onTextColumn: (column: string) => void
  readonly onIdColumn: (column: string | null) => void
  readonly onBadRows: (rows: Choices['badRows']) => void
}

export function FilePart(props: FilePartProps) {
  const { corpus, isReading, file, error } = props.reading
  const say = words.newBatch.file
  const hasFile = corpus !== undefined || isReading
  return (
    <Section
      title={say.title}
      {...(hasFile && {
        actions: <span className="text-12 text-ink-3 phone:hidden">{say.hint}</span>,
      })}
    >
      <div className="flex flex-col gap-2.5 pt-2">
        {props.project}
        {hasFile ? <FileCard {...props} /> : <DropArea {...props} />}
        {error !== undefined && <FormProblem>{`${file?.name}: ${failureText(error)}`}</FormProblem>}
        {corpus && !isReading && <Columns {...props} corpus={corpus} />}
      </div>
    </Section>
  )
}

function DropArea({ why, onFiles, onPaste }: FilePartProps) {
  const say = words.newBatch.file
  return (
    <div className="flex flex-col items-center gap-3 rounded-control border border-dashed border-line-strong px-6 py-9 text-center">
      <FileSpreadsheet size={24} strokeWidth={1.5} aria-hidden className="text-ink-3" />
      <p className="font-semibold">{say.drop}</p>
      <div className="flex flex-wrap items-center justify-center gap-2">
        <ChooseFile look="primary" why={why} onFiles={onFiles}>
          {say.choose}
        </ChooseFile>
        <Button size="large" why={why} icon={<ClipboardPaste size={14} aria-hidden />} onClick={onPaste}>
          {say.paste}
        </Button>
      </div>
      <p className="max-w-110 text-12 text-ink-3">{say.facts}</p>
    </div>
  )
}

interface ChooseFileProps {
  readonly look: 'primary' | 'plain'
  readonly why: string | undefined
  readonly onFiles: (files: readonly File[]) => void
  readonly children: string
}

function ChooseFile({ look, why, onFiles, children }: ChooseFileProps) {
  const icon = <UploadIcon size={14} aria-hidden />
  if (why !== undefined)
    return (
      <Button look={look} size="large" why={why} icon={icon}>
        {children}
      </Button>
    )
  return (
    <FileButton label={children} accept={ACCEPT} onFiles={onFiles} className={buttonClasses(look, 'large')}>
      {icon}
      {children}
    </FileButton>
  )
}

function FileCard({ reading, progress, why, onFiles, onPaste, onStop }: FilePartProps) {
  const { corpus, file, isReading, readBytes } = reading
  const say = words.newBatch.file
  const shown = isReading ? file : corpus?.file
  const work: Progress | undefined = isReading
    ? { phase: 'reading', bytes: readBytes, allBytes: shown?.size ?? 0 }
    : progress
  const text = work && say.progress[work.phase](bytes(work.bytes), bytes(work.allBytes))
  return (
    <div className="flex min-h-13 flex-wrap items-center gap-3 rounded-control border border-line bg-sunken px-3 py-2">
      <FileSpreadsheet size={18} strokeWidth={1.5} aria-hidden className="shrink-0 text-good" />
      <div className="min-w-0 flex-1 basis-50">
        <p className="truncate font-semibold">{shown?.name}</p>
        <p className="truncate text-12 text-ink-2">{text ?? (corpus && factsOf(corpus))}</p>
      </div>
      {work ? (
        <div role="status" aria-busy className="flex items-center gap-3">
          <Meter share={work.bytes / Math.max(1, work.allBytes)} label={text ?? ''} width={120} />
          <IconButton label={say.stop[work.phase]} onClick={onStop}>
            <X size={15} aria-hidden />
          </IconButton>
        </div>
      ) : (
        <>
          <State mark="good" className="text-12">
            {say.read}
          </State>
          <div className="flex gap-2">
            <Button why={why} icon={<ClipboardPaste size={14} aria-hidden />} onClick={onPaste}>
              {say.paste}
            </Button>
            <FileButton label={say.replace} accept={ACCEPT} onFiles={onFiles} className={buttonClasses()}>
              <UploadIcon size={14} aria-hidden />
              {say.replace}
            </FileButton>
          </div>
        </>
      )}
    </div>
  )
}

/** `301 MB, 214,806 rows, UTF-8, comma-separated, header row`. */
function factsOf({ file, profile: { rows, format } }: Corpus): string {
  const say = words.newBatch.file
  const form =
    format.kind === 'csv'
      ? ['UTF-8', say.delimiters[format.separator], say.header]
      : format.kind === 'jsonl'
        ? ['UTF-8', say.formats.jsonl]
        : [say.formats.parquet]
  return [bytes(file.size), say.rows(rows), ...form].join(', ')
}

function Columns(props: FilePartProps & { readonly corpus: Corpus }) {
  const {
    choices,
    estimate,
    corpus: { profile },
  } = props
  const { textColumn, idColumn, badRows } = choices
  const say = words.newBatch.file
  const columns = profile.columns.map(({ name }) => ({ value: name, label: name }))
  const chosenId = profile.columns.find(({ name }) => name === idColumn)
  const idHint =
    chosenId === undefined ? say.numbered : isUnique(chosenId, profile.rows) ? say.unique : say.notUnique
  return (
    <>
      <PreviewTable
        profile={profile}
        textColumn={textColumn}
        idColumn={idColumn}
        onTextColumn={props.onTextColumn}
      />
      <div className={COLUMNS}>
        <Field name="text_column" label={say.textColumn}>
          <Select
            value={textColumn ?? ''}
            placeholder={say.chooseColumn}
            onChange={props.onTextColumn}
            options={columns}
          />
        </Field>
        <Field name="id_column" label={say.idColumn} hint={idHint}>
          <Select
            value={idColumn === null ? ROW_NUMBER : `=${idColumn}`}
            onChange={(next) => props.onIdColumn(next === ROW_NUMBER ? null : next.slice(1))}
            options={[
              ...columns.map(({ value, label }) => ({ value: `=${value}`, label })),
              { value: ROW_NUMBER, label: say.rowNumber },
            ]}
          />
        </Field>
        <Labelled label={say.badRows} hint={badRowsText(estimate)}>
          <Segmented
            label={say.badRows}
            value={badRows}
            onChange={props.onBadRows}
            segments={(['skip', 'truncate', 'stop'] as const).map((value) => ({
              value,
              label: say.badRowsOf[value],
            }))}
            className={FULL_WIDTH}
          />
        </Labelled>
      </div>
    </>
  )
}

/** No column can have it as its value: those start with `=`. */
const ROW_NUMBER = '#'

function badRowsText(estimate: Estimate | undefined): string | undefined {
  const say = words.newBatch.file
  if (estimate === undefined) return undefined
  const { empty, tooLong, maxInputTokens: most } = estimate
  const found = [
    ...(empty > 0 ? [say.empty(empty)] : []),
    ...(tooLong === undefined ? [say.lengthUnknown] : []),
    ...(tooLong !== undefined && tooLong > 0 ? [say.tooLong(tooLong, most)] : []),
  ]
  return found.length === 0 ? say.noBadRows : found.join(', ')
}

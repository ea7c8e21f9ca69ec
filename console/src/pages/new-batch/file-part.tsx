/** The first step: a file, its columns, and what becomes of rows that can't run. */
import { ClipboardPaste, FileSpreadsheet, Upload as UploadIcon, X } from 'lucide-react'
import type { ReactNode } from 'react'
import type { BatchDraft, BatchEstimate } from '../../api/queries/batch-drafts.ts'
import { isNotFound } from '../../api/faults.ts'
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
import { COLUMNS, FULL_WIDTH, Labelled } from './labelled.tsx'
import { PreviewTable } from './preview-table.tsx'
import type { Upload } from './upload.ts'

const ACCEPT = '.csv,.tsv,.jsonl,.ndjson,text/csv,application/jsonl'

export interface FilePartProps {
  readonly draft: BatchDraft | undefined
  readonly upload: Upload
  readonly choices: Choices
  readonly estimate: BatchEstimate | undefined
  /** Why the file of the address could not be read. */
  readonly lost: unknown
  /** Why no file can be taken now. */
  readonly why: string | undefined
  /** The project of the file, where one has to be chosen. */
  readonly project: ReactNode
  readonly onFiles: (files: readonly File[]) => void
  readonly onPaste: () => void
  readonly onTextColumn: (column: string) => void
  readonly onIdColumn: (column: string | null) => void
  readonly onBadRows: (rows: Choices['badRows']) => void
}

export function FilePart(props: FilePartProps) {
  const { draft, upload } = props
  const say = words.newBatch.file
  const hasFile = draft !== undefined || upload.isSending
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
        <Trouble {...props} />
        {draft && !upload.isSending && <Columns {...props} draft={draft} />}
      </div>
    </Section>
  )
}

function Trouble({ upload, lost }: FilePartProps) {
  const text =
    upload.error !== undefined
      ? `${upload.file?.name}: ${failureText(upload.error)}`
      : lost === null || upload.isSending
        ? undefined
        : isNotFound(lost)
          ? words.newBatch.file.gone
          : failureText(lost)
  return text === undefined ? null : <FormProblem>{text}</FormProblem>
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

function FileCard({ draft, upload, why, onFiles, onPaste }: FilePartProps) {
  const say = words.newBatch.file
  const isRead = upload.isSending && upload.sentBytes >= (upload.file?.bytes ?? 0)
  return (
    <div className="flex min-h-13 flex-wrap items-center gap-3 rounded-control border border-line bg-sunken px-3 py-2">
      <FileSpreadsheet size={18} strokeWidth={1.5} aria-hidden className="shrink-0 text-good" />
      <div className="min-w-0 flex-1 basis-50">
        <p className="truncate font-semibold">{upload.isSending ? upload.file?.name : draft?.name}</p>
        <p className="truncate text-12 text-ink-2">
          {upload.isSending
            ? isRead
              ? say.reading
              : say.sent(bytes(upload.sentBytes), bytes(upload.file?.bytes))
            : draft && factsOf(draft)}
        </p>
      </div>
      {upload.isSending ? (
        <div role="status" aria-busy className="flex items-center gap-3">
          <Meter
            share={upload.sentBytes / Math.max(1, upload.file?.bytes ?? 1)}
            label={say.sent(bytes(upload.sentBytes), bytes(upload.file?.bytes))}
            width={120}
          />
          <IconButton label={say.stop} onClick={upload.stop}>
            <X size={15} aria-hidden />
          </IconButton>
        </div>
      ) : (
        <>
          <State mark="good" className="text-12">
            {say.uploaded}
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
function factsOf({ bytes: size, rows, format, delimiter, has_header: hasHeader }: BatchDraft): string {
  const say = words.newBatch.file
  const form =
    format === 'csv'
      ? [say.delimiters[delimiter ?? ','], hasHeader ? say.header : say.noHeader]
      : [say.formats[format]]
  return [bytes(size), say.rows(rows), 'UTF-8', ...form].join(', ')
}

function Columns(props: FilePartProps & { readonly draft: BatchDraft }) {
  const { draft, choices, estimate } = props
  const { textColumn, idColumn, badRows } = choices
  const say = words.newBatch.file
  const columns = draft.columns.map(({ name }) => ({ value: name, label: name }))
  const chosenId = draft.columns.find(({ name }) => name === idColumn)
  return (
    <>
      <PreviewTable
        draft={draft}
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
        <Field
          name="id_column"
          label={say.idColumn}
          hint={chosenId === undefined ? say.numbered : isUnique(chosenId) ? say.unique : say.notUnique}
        >
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

function badRowsText(estimate: BatchEstimate | undefined): string | undefined {
  const say = words.newBatch.file
  if (estimate === undefined) return undefined
  const { empty, too_long: tooLong, max_input_tokens: most } = estimate
  const found = [
    ...(empty > 0 ? [say.empty(empty)] : []),
    ...(tooLong === null ? [say.lengthUnknown] : []),
    ...(tooLong !== null && tooLong > 0 ? [say.tooLong(tooLong, most)] : []),
  ]
  return found.length === 0 ? say.noBadRows : found.join(', ')
}

function isUnique({ duplicates, empty }: BatchDraft['columns'][number]): boolean {
  return duplicates === 0 && empty === 0
}

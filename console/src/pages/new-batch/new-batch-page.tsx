/** A batch from a file, without a shell: read it, choose model and options, see the estimate, run. */
import { useQuery } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import { modelQueries } from '../../api/queries/models.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { money, whole } from '../../app/format.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { paths } from '../../app/paths.ts'
import { usePayingProject } from '../../app/paying-project.ts'
import type { SearchOf } from '../../app/place.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Field, Form } from '../../ui/field.tsx'
import { useDrop, usePaste } from '../../ui/file-input.tsx'
import { useKeys } from '../../ui/keyboard.ts'
import { LoadingRows } from '../../ui/loading.tsx'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Select } from '../../ui/select.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { choicesOf, embeddingModels, shellCommand, type Choices } from './choices.ts'
import { EstimateSide } from './estimate-side.tsx'
import { FilePart } from './file-part.tsx'
import { OptionsPart } from './options-part.tsx'
import { newBatch as place } from './place.ts'
import { useRun, type Run } from './run.ts'
import { keyOf, useRunAs } from './run-as.ts'
import { Steps, type Step } from './steps.tsx'
import { useCorpus, type Reading } from './use-corpus.ts'

const PasteDialog = lazyPart(async () => (await import('./paste-dialog.tsx')).PasteDialog)

/** Of a pasted file. */
const FILE_TYPES = /^text\/(?:csv|plain|tab-separated-values)$|json/

type Search = SearchOf<typeof place>

export function NewBatchPage() {
  const search = place.useSearch()
  const change = useChangeSearch<Search>()
  const choose = (next: Partial<Search>): void => change(next, { replace: true })
  const found = useQuery(modelQueries.all(undefined))
  const models = useMemo(() => embeddingModels(found.data?.data ?? []), [found.data])
  const reading = useCorpus(() => choose({ text: undefined, id: undefined, numbered: undefined }))
  const { corpus, isReading } = reading
  const paying = usePayingProject(search.project)
  const { project } = paying
  const choices = choicesOf(search, corpus?.profile, models)
  const runAs = useRunAs(project, search.key)
  const run = useRun({ corpus, choices, project, key: runAs.key, isReading })
  const [pasted, setPasted] = useState<string>()
  const takesFile = project === undefined ? words.newBatch.file.projectMissing : undefined
  const take = (files: readonly File[]): void => {
    const [file] = files
    if (file === undefined) return
    if (files.length > 1) toast(words.newBatch.file.oneFile, { mark: 'warn' })
    else if (project === undefined) toast(words.newBatch.file.projectMissing, { mark: 'warn' })
    else {
      run.stop()
      reading.start(file)
    }
  }
  const isOver = useDrop(take)
  usePaste(take, FILE_TYPES, setPasted)
  const form = useRef<HTMLDivElement>(null)
  useKeys({ 'mod+enter': () => form.current?.closest('form')?.requestSubmit() })
  const problem = found.error ?? paying.error
  const body =
    problem !== null && found.data === undefined ? (
      <Problem error={problem} retry={() => void found.refetch()} />
    ) : found.data === undefined ? (
      <LoadingRows rows={10} />
    ) : (
      <div ref={form} className="@container flex flex-col gap-5 px-6 pt-4 pb-8 phone:px-4">
        <Steps steps={stepsOf(reading, choices, run)} />
        <div id="file">
          <FilePart
            reading={reading}
            progress={run.progress}
            choices={choices}
            estimate={run.estimate}
            why={takesFile}
            project={<ProjectField paying={paying} scope={search.project} />}
            onFiles={take}
            onPaste={() => setPasted('')}
            onStop={isReading ? reading.stop : run.stop}
            onTextColumn={(text) => choose({ text })}
            onIdColumn={(id) => choose({ id: id ?? undefined, numbered: id === null ? true : undefined })}
            onBadRows={(rows) => choose({ rows })}
          />
        </div>
        <div id="options" className="-mx-6 border-t border-line px-6 pt-5 phone:-mx-4 phone:px-4">
          <OptionsPart
            models={models}
            choices={choices}
            estimate={run.estimate}
            runAs={runAs}
            project={project}
            onModel={(model) => choose({ model, dimensions: undefined })}
            onDimensions={(dimensions) => choose({ dimensions })}
            onRunAs={(value) => choose({ key: keyOf(value) })}
            onHours={(hours) => choose({ hours })}
            onOutput={(output) => choose({ output })}
          />
        </div>
      </div>
    )
  return (
    <>
      <Form className="h-full" onSubmit={run.submit}>
        <Page
          title={words.newBatch.title}
          crumbs={[{ label: words.places.batches, to: paths.batches() }]}
          actions={
            <ButtonLink to={paths.batches()} look="quiet">
              {words.newBatch.cancel}
            </ButtonLink>
          }
          sideWidth={380}
          side={
            <EstimateSide
              {...run}
              hours={Number(choices.hours)}
              shell={shellCommand(choices, corpus?.file.name)}
            />
          }
        >
          {body}
        </Page>
      </Form>
      {isOver && <DropVeil />}
      {pasted !== undefined && (
        <PasteDialog pasted={pasted} onTake={(file) => take([file])} onClose={() => setPasted(undefined)} />
      )}
    </>
  )
}

interface ProjectFieldProps {
  readonly paying: ReturnType<typeof usePayingProject>
  readonly scope: string | undefined
}

/** Only where there is a choice. */
function ProjectField({ paying: { names, project, setProject }, scope }: ProjectFieldProps) {
  const say = words.newBatch.file
  if (names === undefined || names.length < 2 || scope !== undefined) return null
  return (
    <Field name="project" label={say.project} hint={say.projectHint} className="max-w-64">
      <Select
        value={project ?? ''}
        placeholder={say.chooseProject}
        onChange={setProject}
        options={names.map((name) => ({ value: name, label: name }))}
      />
    </Field>
  )
}

function DropVeil() {
  return (
    <div className="pointer-events-none fixed inset-2 flex items-center justify-center rounded-panel border-2 border-dashed border-accent bg-surface/80">
      <p role="status" className="text-15 font-semibold text-accent">
        {words.newBatch.file.dropNow}
      </p>
    </div>
  )
}

function stepsOf(
  { corpus, isReading }: Reading,
  { textColumn, model, output, hours }: Choices,
  { estimate }: Run,
): readonly Step[] {
  const { steps: say, options } = words.newBatch
  const hasFile = corpus !== undefined && !isReading
  const isFileDone = hasFile && textColumn !== undefined
  return [
    {
      title: say.file,
      part: 'file',
      state: isFileDone ? 'done' : 'now',
      note: isReading
        ? say.reading
        : corpus === undefined
          ? say.noFile
          : say.fileNote(whole(corpus.profile.rows), textColumn),
    },
    {
      title: say.options,
      part: 'options',
      state: model !== undefined ? 'done' : isFileDone ? 'now' : 'later',
      note: model === undefined ? say.noModel : say.optionsNote(model.id, options.outputs[output]),
    },
    {
      title: say.run,
      part: 'estimate',
      state: isFileDone && model !== undefined ? 'now' : 'later',
      note:
        estimate === undefined
          ? say.noEstimate
          : say.runNote(
              estimate.usd === null ? words.newBatch.estimate.unpriced : money(estimate.usd),
              options.hours[hours],
            ),
    },
  ]
}

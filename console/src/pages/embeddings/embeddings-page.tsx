/** The embeddings playground: texts become points, cells and ranks. Vectors stay in a worker, texts in this browser. */
import { useQuery } from '@tanstack/react-query'
import { Code, List, Share2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { modelQueries } from '../../api/queries/models.ts'
import type { InputType } from '../../api/queries/playground-embeddings.ts'
import { paths } from '../../app/paths.ts'
import { rememberProject, usePayingProject } from '../../app/paying-project.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { copyText } from '../../ui/copy.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { usePhone } from '../../ui/media.ts'
import { useKeys } from '../../ui/keyboard.ts'
import { LoadingRows } from '../../ui/loading.tsx'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { useInputs } from './inputs.ts'
import { Results } from './results.tsx'
import { useRun } from './run.ts'
import { refusedOf, RunForm } from './run-form.tsx'
import { takenBy } from './taken-media.ts'
import { MAX_TEXTS } from './texts.ts'
import { embeddings as place } from './place.ts'

export function EmbeddingsPage() {
  const scope = place.useSearch({ select: ({ project: name }) => name })
  const modelName = place.useSearch({ select: ({ model: name }) => name })
  const change = useChangeSearch<SearchOf<typeof place>>()
  const say = words.embeddings
  const found = useQuery(modelQueries.all(scope))
  const models = useMemo(() => found.data?.data.filter(({ kind }) => kind === 'embedding'), [found.data])
  const model =
    models?.find(({ id, aliases }) => id === modelName || aliases.includes(modelName ?? '')) ??
    models?.find(({ retired }) => retired === null)
  const { names, project, setProject, error: projectsError } = usePayingProject(scope)
  const inputs = useInputs()
  const { value, typed, files } = inputs
  const taken = useMemo(() => model && takenBy(model), [model])
  const [isFormOpen, setFormOpen] = useState(false)
  const isPhone = usePhone()
  const [inputType, setInputType] = useState<InputType>()
  const { run, isRunning, error, start } = useRun()
  const isRunnable = typed.texts.length > 0 && typed.texts.length <= MAX_TEXTS
  const embed = (): void => {
    if (!isRunnable || isRunning || model === undefined || project === undefined) return
    if (refusedOf({ typed, files, taken }) !== undefined) return
    setFormOpen(false)
    rememberProject(project)
    const takesType = model.can['input_type'] !== undefined
    start({ project, model: model.id, inputType: takesType ? inputType : undefined }, typed, files)
  }
  useKeys({ 'mod+enter': embed })
  // On a phone the result comes first, and the form in a sheet.
  const isBelowResult = isPhone && run !== undefined
  const form = (of: Schema<'ModelRow'>, projects: readonly string[], typedValue: string) => (
    <RunForm
      models={models ?? []}
      model={of}
      onModel={(id) => change({ model: id, width: undefined })}
      projects={projects}
      project={project}
      onProject={setProject}
      inputType={inputType}
      onInputType={setInputType}
      value={typedValue}
      typed={typed}
      files={files}
      taken={taken}
      onChange={inputs.change}
      onForget={inputs.forget}
      onFiles={inputs.attach}
      onUrl={inputs.attachUrl}
      isInSheet={isBelowResult}
      isRunning={isRunning}
      onRun={embed}
    />
  )
  const problem = found.error ?? projectsError
  const body =
    problem !== null && (models === undefined || names === undefined) ? (
      <Problem error={problem} retry={() => void found.refetch()} />
    ) : models === undefined || value === undefined || names === undefined ? (
      <LoadingRows rows={8} />
    ) : model === undefined ? (
      <Empty title={say.noModel} actions={<ButtonLink to={paths.models()}>{say.toModels}</ButtonLink>}>
        {say.noModelNext}
      </Empty>
    ) : (
      <div className="flex min-h-0 flex-1 phone:flex-col">
        {isBelowResult
          ? isFormOpen && (
              <Sheet open title={say.inputsTitle} onClose={() => setFormOpen(false)}>
                {form(model, names, value)}
              </Sheet>
            )
          : form(model, names, value)}
        <div
          data-scroll
          className="@container flex min-w-0 flex-1 flex-col overflow-y-auto phone:overflow-visible"
        >
          {error !== undefined && <Problem error={error} retry={embed} className="px-5 py-4" />}
          {run ? (
            <Results run={run} models={models} isStale={run.typed !== typed} />
          ) : (
            <Empty title={say.nothing}>{say.nothingNext}</Empty>
          )}
        </div>
      </div>
    )
  return (
    <Page
      title={words.places.embeddings}
      beside={<span className="text-12 text-ink-3">{say.place}</span>}
      actions={<Actions {...(isBelowResult && { onInputs: () => setFormOpen(true) })} />}
      fill
    >
      {body}
    </Page>
  )
}

function Actions({ onInputs }: { readonly onInputs?: () => void }) {
  const change = useChangeSearch<SearchOf<typeof place>>()
  const say = words.embeddings
  return (
    <>
      {onInputs && (
        <Button icon={<List size={14} aria-hidden />} onClick={onInputs}>
          {say.inputsTitle}
        </Button>
      )}
      <Button
        className="phone:hidden"
        icon={<Share2 size={14} aria-hidden />}
        onClick={() => void copyText(location.href).then((done) => done && toast(say.shared))}
      >
        {say.share}
      </Button>
      <Button icon={<Code size={14} aria-hidden />} onClick={() => change({ view: 'code' })}>
        {say.viewCode}
      </Button>
    </>
  )
}

/** The embeddings playground: texts become points, cells and ranks. Vectors stay in a worker, texts in this browser. */
import { useQuery } from '@tanstack/react-query'
import { Code, Share2 } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import { modelQueries } from '../../api/queries/models.ts'
import type { InputType } from '../../api/queries/playground-embeddings.ts'
import { paths } from '../../app/paths.ts'
import { rememberProject, usePayingProject } from '../../app/paying-project.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import type { SearchOf } from '../../app/place.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { copyText } from '../../ui/copy.tsx'
import { Empty } from '../../ui/empty.tsx'
import { useKeys } from '../../ui/keyboard.ts'
import { LoadingRows } from '../../ui/loading.tsx'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { forgetTexts, keepTexts, keptTexts } from './kept-texts.ts'
import { Results } from './results.tsx'
import { useRun } from './run.ts'
import { RunForm } from './run-form.tsx'
import { SAMPLE_TEXTS } from './samples.ts'
import { MAX_TEXTS, typedTexts } from './texts.ts'
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
  const [value, setValue, forget] = useTexts()
  const typed = useMemo(() => typedTexts(value ?? ''), [value])
  const [inputType, setInputType] = useState<InputType>()
  const { run, isRunning, error, start } = useRun()
  const isRunnable = typed.texts.length > 0 && typed.texts.length <= MAX_TEXTS
  const embed = (): void => {
    if (!isRunnable || isRunning || model === undefined || project === undefined) return
    rememberProject(project)
    const takesType = model.can['input_type'] !== undefined
    start({ project, model: model.id, inputType: takesType ? inputType : undefined }, typed)
  }
  useKeys({ 'mod+enter': embed })
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
        <RunForm
          models={models}
          model={model}
          onModel={(id) => change({ model: id, width: undefined })}
          projects={names}
          project={project}
          onProject={setProject}
          inputType={inputType}
          onInputType={setInputType}
          value={value}
          typed={typed}
          onChange={setValue}
          onForget={forget}
          isRunning={isRunning}
          onRun={embed}
        />
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
      actions={<Actions />}
      fill
    >
      {body}
    </Page>
  )
}

function Actions() {
  const change = useChangeSearch<SearchOf<typeof place>>()
  const say = words.embeddings
  return (
    <>
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

const KEPT_AFTER_MS = 400

/** What this browser kept, else a sample. Undefined until the browser has answered. */
function useTexts() {
  const [value, setValue] = useState<string>()
  const [isTouched, setTouched] = useState(false)
  useEffect(() => {
    void keptTexts().then((kept) => setValue((now) => now ?? kept ?? SAMPLE_TEXTS.tickets))
  }, [])
  useEffect(() => {
    if (!isTouched || value === undefined) return
    const timer = setTimeout(() => void keepTexts(value), KEPT_AFTER_MS)
    return () => clearTimeout(timer)
  }, [value, isTouched])
  const change = (next: string): void => {
    setTouched(true)
    setValue(next)
  }
  const forget = (): void => {
    setTouched(false)
    setValue('')
    void forgetTexts().then(() => toast(words.embeddings.forgot))
  }
  return [value, change, forget] as const
}

/** The playground once there is a model to play with: what is asked for at the left, what comes back at the right. */
import { Code, Download, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { ImageJob } from '../../api/queries/image-jobs.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { useKeys } from '../../ui/keyboard.ts'
import { LoadingRows } from '../../ui/loading.tsx'
import { Page } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { useImageWorkbench, type ImageWorkbench } from './image-workbench.ts'
import { CodeDialog } from './code-dialog.tsx'
import { ComparePane } from './compare-pane.tsx'
import { EditPane } from './edit-pane.tsx'
import { InputImageList } from './input-image-list.tsx'
import { History } from './history.tsx'
import { RequestForm } from './request-form.tsx'
import { Result } from './result.tsx'
import type { ImageModel, ImagesSearch } from './settings.ts'
import { sizeOf } from './sizes.ts'
import { Tiles } from './tiles.tsx'

interface WorkbenchProps {
  readonly search: ImagesSearch
  readonly models: readonly ImageModel[]
  readonly projects: readonly string[]
  readonly project: string | undefined
  readonly onProject: (project: string) => void
}

const SQUARE = { width: 1, height: 1 }

export function Workbench({ search, models, projects, project, onProject }: WorkbenchProps) {
  const text = words.images
  const model = models.find(({ id }) => id === search.model) ?? models[0]
  if (model === undefined) throw new Error('a workbench needs a model')
  const changeSearch = useChangeSearch<ImagesSearch>()
  const workbench = useImageWorkbench(search, models, model, project)
  const { mode, inputImages, hasMask, requests } = workbench
  const [isCodeOpen, setCodeOpen] = useState(false)
  const [picked, setPicked] = useState<readonly ImageJob[]>()
  const run = (): void => {
    setPicked(undefined)
    workbench.run()
  }
  useKeys({
    'mod+enter': () => (workbench.disabledReason === undefined && !workbench.isRunning ? run() : false),
  })
  return (
    <Page
      title={words.places.images}
      fill
      beside={<span className="text-12 text-ink-3">{text.place}</span>}
      actions={
        <>
          {mode === 'edit' && hasMask && (
            <Button icon={<Download size={14} aria-hidden />} onClick={workbench.saveMask}>
              {text.saveMask}
            </Button>
          )}
          <Button icon={<Code size={14} aria-hidden />} onClick={() => setCodeOpen(true)}>
            {text.viewCode}
          </Button>
        </>
      }
    >
      <div className="flex min-h-0 flex-1 phone:flex-col">
        <RequestForm
          mode={mode}
          onMode={(next) => {
            workbench.closeOpened()
            changeSearch({ mode: next === 'generate' ? undefined : next, view: undefined })
          }}
          models={models}
          model={model}
          onModel={(id) => changeSearch({ model: id }, { replace: true })}
          projects={projects}
          project={project}
          onProject={onProject}
          settings={workbench.settings}
          onSettings={workbench.change}
          inputImages={
            mode === 'edit' &&
            model.image.max_given > 0 && (
              <InputImageList
                images={inputImages.images}
                model={model}
                onAdd={(added) => void inputImages.add(added)}
                onRemove={inputImages.remove}
              />
            )
          }
          cost={workbench.cost}
          disabledReason={workbench.disabledReason}
          busy={workbench.isRunning}
          onRun={run}
        />
        {/* On a phone the image comes first, then the form, then the history. */}
        <div className="flex min-w-0 flex-1 flex-col phone:contents">
          <div className="flex min-h-0 flex-1 flex-col phone:order-1 phone:flex-none">
            {workbench.startError !== undefined && (
              <Problem error={workbench.startError} retry={run} className="px-5 py-4" />
            )}
            {picked === undefined ? (
              <Answer workbench={workbench} model={model} models={models} view={search.view ?? 'mask'} />
            ) : (
              <ComparePane jobs={picked} onClose={() => setPicked(undefined)} />
            )}
          </div>
          <History
            jobs={workbench.jobs}
            chosen={picked?.map(({ id }) => id) ?? [workbench.opened ?? '']}
            isComparing={picked !== undefined}
            onComparing={(isComparing) => setPicked(isComparing ? [] : undefined)}
            onChoose={(job) =>
              picked === undefined ? workbench.open(job) : setPicked(pickedWith(picked, job))
            }
          />
        </div>
      </div>
      {isCodeOpen && requests[0] !== undefined && (
        <CodeDialog
          request={{
            fields: requests[0],
            images: mode === 'edit' ? inputImages.images.map(({ file }) => file.name) : undefined,
            hasMask: mode === 'edit' && hasMask,
          }}
          onClose={() => setCodeOpen(false)}
        />
      )}
    </Page>
  )
}

/** A second click removes an image; a third image replaces the older one. */
function pickedWith(picked: readonly ImageJob[], job: ImageJob): readonly ImageJob[] {
  const others = picked.filter(({ id }) => id !== job.id)
  return others.length < picked.length ? others : [...others, job].slice(-2)
}

interface AnswerProps {
  readonly workbench: ImageWorkbench
  readonly model: ImageModel
  readonly models: readonly ImageModel[]
  readonly view: 'mask' | 'pair' | 'changed'
}

/** Tiles during a run and for a job of the history; else the painter with its result. */
function Answer({ workbench, model, models, view }: AnswerProps) {
  const text = words.images
  const { shown, inputImages, mode, opened, isRunning } = workbench
  const changeSearch = useChangeSearch<ImagesSearch>()
  const byId = useMemo(() => new Map((workbench.jobs ?? []).map((job) => [job.id, job])), [workbench.jobs])
  const isDone = shown?.tiles.some(({ state }) => state === 'done') ?? false
  const edited = mode === 'edit' && shown?.mode === 'edit' && shown.files && isDone ? shown : undefined
  const isFailedEdit = shown?.mode === 'edit' && !isDone
  const close = (
    <Button look="quiet" icon={<X size={14} aria-hidden />} onClick={workbench.closeOpened}>
      {text.close}
    </Button>
  )
  const onView = (next: AnswerProps['view']): void =>
    changeSearch({ view: next === 'mask' ? undefined : next }, { replace: true })
  if (opened !== undefined && shown === undefined) return <LoadingRows rows={4} />
  if (shown?.files !== undefined && opened !== undefined && isDone) {
    const shownView = view === 'changed' ? 'changed' : 'pair'
    return (
      <Result
        run={shown}
        view={shownView}
        jobs={byId}
        onEdit={workbench.edit}
        onAgain={() => workbench.runAgain(shown)}
        bar={
          <span className="flex items-center gap-2">
            <Segmented
              label={text.views.label}
              value={shownView}
              onChange={onView}
              segments={(['pair', 'changed'] as const).map((value) => ({ value, label: text.views[value] }))}
            />
            {close}
          </span>
        }
      />
    )
  }
  if (shown !== undefined && (mode === 'generate' || isRunning || opened !== undefined || isFailedEdit))
    return (
      <Tiles
        run={shown}
        isRunning={isRunning}
        size={
          sizeOf(shown.settings.size) ??
          inputImages.images[0]?.size ??
          sizeOf(model.image.sizes.default) ??
          SQUARE
        }
        most={workbench.cost.most}
        jobs={byId}
        onStopWaiting={workbench.stopWaiting}
        onEdit={workbench.edit}
        onAgain={() => workbench.runAgain(shown)}
        bar={(mode === 'edit' || opened !== undefined) && !isRunning && close}
      />
    )
  if (mode === 'edit')
    return (
      <EditPane
        model={model}
        models={models}
        inputImages={inputImages}
        run={edited}
        view={view}
        onView={onView}
        jobs={byId}
        onEdit={workbench.edit}
        onAgain={() => edited && workbench.runAgain(edited)}
      />
    )
  return (
    <div className="flex-1">
      <Empty title={text.emptyTitle}>{text.emptyNext}</Empty>
    </div>
  )
}

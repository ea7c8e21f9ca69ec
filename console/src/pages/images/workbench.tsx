/** The playground once there is a model to play with: what is asked for at the left, what comes back at the right. */
import { Code, Download, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { ImageJob } from '../../api/queries/image-jobs.ts'
import { useChangeSearch } from '../../app/change-search.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/empty.tsx'
import { useKeys } from '../../ui/keyboard.ts'
import { Page } from '../../ui/page.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { useBench, type Bench } from './bench.ts'
import { CodeDialog } from './code-dialog.tsx'
import { ComparePane } from './compare-pane.tsx'
import { EditPane } from './edit-pane.tsx'
import { saveBlob } from './files.ts'
import { GivenPictures } from './given-pictures.tsx'
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
  readonly project: string
  readonly onProject: (project: string) => void
}

const SQUARE = { width: 1, height: 1 }

export function Workbench({ search, models, projects, project, onProject }: WorkbenchProps) {
  const text = words.images
  const model = models.find(({ id }) => id === search.model) ?? models[0]
  if (model === undefined) throw new Error('a workbench needs a model')
  const changeSearch = useChangeSearch<ImagesSearch>()
  const bench = useBench(search, models, model, project)
  const { mode, given, hasMask, requests } = bench
  const [isCodeOpen, setCodeOpen] = useState(false)
  const [picked, setPicked] = useState<readonly ImageJob[]>()
  const run = (): void => {
    setPicked(undefined)
    void bench.run()
  }
  useKeys({ 'mod+enter': () => (bench.why === undefined && !bench.isRunning ? run() : false) })
  return (
    <Page
      title={text.title}
      fill
      beside={<span className="text-12 text-ink-3">{text.place}</span>}
      actions={
        <>
          {mode === 'edit' && hasMask && (
            <Button
              icon={<Download size={14} aria-hidden />}
              onClick={() => void bench.maskNow().then((blob) => saveBlob(blob, 'mask.png'))}
            >
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
            bench.closeOpened()
            changeSearch({ mode: next === 'generate' ? undefined : next, view: undefined })
          }}
          models={models}
          model={model}
          onModel={(id) => changeSearch({ model: id }, { replace: true })}
          projects={projects}
          project={project}
          onProject={onProject}
          settings={bench.settings}
          onSettings={bench.change}
          given={
            mode === 'edit' &&
            model.image.max_given > 0 && (
              <GivenPictures
                pictures={given.pictures}
                model={model}
                onAdd={(added) => void given.add(added)}
                onRemove={given.remove}
              />
            )
          }
          cost={bench.cost}
          why={bench.why}
          busy={bench.isRunning}
          onRun={run}
        />
        {/* On a phone the picture comes first, then the form, then the history. */}
        <div className="flex min-w-0 flex-1 flex-col phone:contents">
          <div className="flex min-h-0 flex-1 flex-col phone:order-1 phone:flex-none">
            {picked === undefined ? (
              <Answer bench={bench} model={model} models={models} view={search.view ?? 'mask'} />
            ) : (
              <ComparePane jobs={picked} onClose={() => setPicked(undefined)} />
            )}
          </div>
          <History
            jobs={bench.jobs}
            chosen={picked?.map(({ id }) => id) ?? [bench.opened ?? '']}
            isComparing={picked !== undefined}
            onComparing={(isComparing) => setPicked(isComparing ? [] : undefined)}
            onChoose={(job) => (picked === undefined ? bench.open(job) : setPicked(pickedWith(picked, job)))}
          />
        </div>
      </div>
      {isCodeOpen && requests[0] !== undefined && (
        <CodeDialog
          wanted={{
            fields: requests[0],
            pictures: mode === 'edit' ? given.pictures.map(({ file }) => file.name) : undefined,
            hasMask: mode === 'edit' && hasMask,
          }}
          onClose={() => setCodeOpen(false)}
        />
      )}
    </Page>
  )
}

/** A second click takes a picture away again; a third picture takes the place of the older one. */
function pickedWith(picked: readonly ImageJob[], job: ImageJob): readonly ImageJob[] {
  const others = picked.filter(({ id }) => id !== job.id)
  return others.length < picked.length ? others : [...others, job].slice(-2)
}

interface AnswerProps {
  readonly bench: Bench
  readonly model: ImageModel
  readonly models: readonly ImageModel[]
  readonly view: 'mask' | 'pair' | 'changed'
}

/** Tiles while something is on its way or a picture of the history is looked at; else the painter with its result. */
function Answer({ bench, model, models, view }: AnswerProps) {
  const text = words.images
  const { shown, given, mode, opened, isRunning } = bench
  const changeSearch = useChangeSearch<ImagesSearch>()
  const byId = useMemo(() => new Map((bench.jobs ?? []).map((job) => [job.id, job])), [bench.jobs])
  const isDone = shown?.tiles.some(({ state }) => state === 'done') ?? false
  const edited = mode === 'edit' && shown?.mode === 'edit' && shown.files && isDone ? shown : undefined
  const isFailedEdit = shown?.mode === 'edit' && !isDone
  const close = (
    <Button look="quiet" icon={<X size={14} aria-hidden />} onClick={bench.closeOpened}>
      {text.close}
    </Button>
  )
  const onView = (next: AnswerProps['view']): void =>
    changeSearch({ view: next === 'mask' ? undefined : next }, { replace: true })
  if (shown?.files !== undefined && opened !== undefined && isDone) {
    const shownView = view === 'changed' ? 'changed' : 'pair'
    return (
      <Result
        run={shown}
        view={shownView}
        jobs={byId}
        onEdit={bench.edit}
        onAgain={() => bench.runAgain(shown)}
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
          given.pictures[0]?.size ??
          sizeOf(model.image.sizes.default) ??
          SQUARE
        }
        most={bench.cost.most}
        jobs={byId}
        onLeave={bench.leave}
        onEdit={bench.edit}
        onAgain={() => bench.runAgain(shown)}
        bar={(mode === 'edit' || opened !== undefined) && !isRunning && close}
      />
    )
  if (mode === 'edit')
    return (
      <EditPane
        model={model}
        models={models}
        given={given}
        run={edited}
        view={view}
        onView={onView}
        jobs={byId}
        onEdit={bench.edit}
        onAgain={() => edited && bench.runAgain(edited)}
      />
    )
  return (
    <div className="flex-1">
      <Empty title={text.emptyTitle}>{text.emptyNext}</Empty>
    </div>
  )
}

/** The right side of an edit: the painter, its result, or why there is none. */
import { ImagePlus } from 'lucide-react'
import { useState, type DragEvent } from 'react'
import type { ImageJob } from '../../api/queries/image-jobs.ts'
import { Banner } from '../../ui/banner.tsx'
import { buttonClasses } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { Empty } from '../../ui/empty.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { FileButton } from '../../ui/file-input.tsx'
import { ACCEPTED, FileImage } from './input-image-list.tsx'
import type { InputImages } from './input-images.ts'
import type { Brush } from './painter/painting.ts'
import { Painter } from './painter/painter.tsx'
import { Result } from './result.tsx'
import type { Run } from './runs.ts'
import type { ImageModel } from './settings.ts'

type EditView = 'mask' | 'pair' | 'changed'

interface EditPaneProps {
  readonly model: ImageModel
  readonly models: readonly ImageModel[]
  readonly inputImages: InputImages
  /** The last edit, if it made an image. */
  readonly run: Run | undefined
  readonly view: EditView
  readonly onView: (view: EditView) => void
  readonly jobs: ReadonlyMap<string, ImageJob>
  readonly onEdit: (image: Blob) => void
  readonly onAgain: () => void
}

export function EditPane(props: EditPaneProps) {
  const { model, models, inputImages, run, view, onView } = props
  const text = words.images
  const [brush, setBrush] = useState<Brush>({ tool: 'brush', diameter: 96 })
  const [isOver, setOver] = useState(false)
  const takesMask = model.can['mask'] !== undefined
  // Without a result there is nothing else to look at.
  const views = run !== undefined && (
    <Segmented
      label={text.views.label}
      value={view}
      onChange={onView}
      segments={(['mask', 'pair', 'changed'] as const).map((value) => ({ value, label: text.views[value] }))}
    />
  )
  const drop = {
    onDragOver: (event: DragEvent) => {
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      setOver(false)
      void inputImages.add([...event.dataTransfer.files])
    },
  }
  return (
    <div
      className={classes(
        'flex min-h-0 flex-1 flex-col',
        isOver && 'outline-2 outline-offset-[-4px] outline-accent',
      )}
      {...drop}
    >
      {model.image.max_given === 0 ? (
        <Banner tone="warn" className="m-5">
          {text.takesNoEdit(model.id, othersWith('edits', model, models))}
        </Banner>
      ) : run !== undefined && view !== 'mask' ? (
        <Result {...props} run={run} view={view} bar={views} />
      ) : inputImages.painting === undefined ? (
        <div className="flex-1">
          {!takesMask && (
            <Banner tone="warn" className="m-5 mb-0">
              {text.takesNoMask(model.id, othersWith('mask', model, models))}
            </Banner>
          )}
          <Choose inputImages={inputImages} />
        </div>
      ) : takesMask && inputImages.bitmap !== undefined ? (
        <Painter
          painting={inputImages.painting}
          image={inputImages.bitmap}
          brush={brush}
          onBrush={(change) => setBrush((before) => ({ ...before, ...change }))}
          views={views}
        />
      ) : (
        !takesMask && (
          <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-auto p-5">
            <div className="flex items-center gap-3">
              <Banner tone="warn" className="flex-1">
                {text.takesNoMask(model.id, othersWith('mask', model, models))}
              </Banner>
              {views}
            </div>
            {inputImages.images[0] !== undefined && (
              <FileImage
                file={inputImages.images[0].file}
                className="max-h-full max-w-full self-start rounded-control"
              />
            )}
          </div>
        )
      )}
    </div>
  )
}

function Choose({ inputImages }: { readonly inputImages: InputImages }) {
  const text = words.images
  return (
    <Empty
      title={text.editEmpty}
      actions={
        <FileButton
          label={text.choose}
          accept={ACCEPTED}
          several
          onFiles={(files) => void inputImages.add(files)}
          className={buttonClasses('plain', 'large')}
        >
          <ImagePlus size={15} aria-hidden />
          {text.choose}
        </FileButton>
      }
    >
      {text.editEmptyNext}
    </Empty>
  )
}

/** `a, b`: which models would do. */
function othersWith(ability: 'edits' | 'mask', model: ImageModel, models: readonly ImageModel[]): string {
  return models
    .filter((one) => one !== model && one.can[ability] !== undefined)
    .map(({ id }) => id)
    .toSorted()
    .join(', ')
}

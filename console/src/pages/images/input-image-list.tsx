/** The images that are edited: chosen, dropped, pasted, or taken from the history. The first carries the mask. */
import { Plus, X } from 'lucide-react'
import { bytes } from '../../app/format.ts'
import { classes } from '../../ui/classes.ts'
import { FileButton, usePaste } from '../../ui/file-input.tsx'
import { useObjectUrl } from '../../ui/object-url.ts'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import type { ImageModel } from './settings.ts'
import type { Size } from './sizes.ts'

export interface InputImage {
  readonly key: string
  /** Sent as it is. */
  readonly file: File
  /** Upright, as the file says it is to be shown. */
  readonly size: Size
}

let lastKey = 0

/** Undefined: it can't be read, and the page has said so. */
export async function readImage(file: File): Promise<InputImage | undefined> {
  try {
    const bitmap = await uprightBitmap(file)
    const { width, height } = bitmap
    bitmap.close()
    lastKey += 1
    return { key: `${lastKey}`, file, size: { width, height } }
  } catch {
    toast(words.images.unreadable(file.name), { mark: 'bad' })
    return undefined
  }
}

/** Turned as its EXIF says, for the eye and for the mask. The file itself is sent untouched. */
export function uprightBitmap(file: Blob): Promise<ImageBitmap> {
  return createImageBitmap(file, { imageOrientation: 'from-image' })
}

/** Files that the model takes; the page says what it does not take. */
export function takenFiles(files: readonly File[], present: number, { image }: ImageModel): readonly File[] {
  const text = words.images
  const small = files.filter((file) => {
    const isTaken = image.max_given_bytes === 0 || file.size <= image.max_given_bytes
    if (!isTaken)
      toast(text.tooLarge(file.name, bytes(file.size), bytes(image.max_given_bytes)), { mark: 'bad' })
    return isTaken
  })
  const room = Math.max(0, image.max_given - present)
  if (small.length > room) toast(text.tooMany(image.max_given), { mark: 'warn' })
  return small.slice(0, room)
}

export const ACCEPTED = 'image/png,image/jpeg,image/webp'

interface InputImageListProps {
  readonly images: readonly InputImage[]
  readonly model: ImageModel
  readonly onAdd: (files: readonly File[]) => void
  readonly onRemove: (image: InputImage) => void
}

export function InputImageList({ images, model, onAdd, onRemove }: InputImageListProps) {
  const text = words.images
  const most = model.image.max_given
  usePaste(onAdd, /^image\//)
  return (
    <div className="flex flex-col gap-1">
      <p className="text-12 font-strong">
        {text.given}{' '}
        <span className="font-normal text-ink-3">
          {(model.can['mask'] === undefined ? text.givenShort : text.givenOf)(images.length, most)}
        </span>
      </p>
      <ul className="flex flex-wrap items-center gap-2">
        {images.map((image, index) => (
          <li key={image.key} className="relative">
            <FileImage
              file={image.file}
              className={classes(
                'h-12 w-18 rounded-control object-cover',
                index === 0 && 'outline-2 outline-offset-1 outline-accent',
              )}
            />
            <button
              type="button"
              aria-label={text.remove(image.file.name)}
              className="absolute -top-1.5 -right-1.5 flex size-5 items-center justify-center rounded-full border border-line bg-raised text-ink-2 hover:text-ink"
              onClick={() => onRemove(image)}
            >
              <X size={12} aria-hidden />
            </button>
          </li>
        ))}
        {images.length < most && (
          <li className="flex items-center gap-2">
            <FileButton
              label={text.add}
              accept={ACCEPTED}
              several
              onFiles={onAdd}
              className="flex h-12 w-18 items-center justify-center rounded-control border border-dashed border-line-strong text-ink-3 hover:text-ink"
            >
              <Plus size={15} aria-hidden />
            </FileButton>
            <span className="text-11 leading-[14px] text-ink-3">
              {text.addHint[0]}
              <br />
              {text.addHint[1]}
            </span>
          </li>
        )}
      </ul>
    </div>
  )
}

export function FileImage({ file, className }: { readonly file: File; readonly className: string }) {
  return <img src={useObjectUrl(file)} alt={file.name} className={className} />
}

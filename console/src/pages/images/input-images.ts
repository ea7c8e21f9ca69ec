/** The images of an edit, and the painting of the first: it stays until another image is the first. */
import { useEffect, useMemo, useRef, useState } from 'react'
import { useAbort } from '../../ui/abort.ts'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { readImage, takenFiles, uprightBitmap, type InputImage } from './input-image-list.tsx'
import { Painting } from './painter/painting.ts'
import type { ImageModel } from './settings.ts'

export interface InputImages {
  readonly images: readonly InputImage[]
  readonly add: (files: readonly File[]) => Promise<void>
  readonly remove: (image: InputImage) => void
  /** Only this one stays. One chosen later wins. */
  readonly replace: (file: File) => Promise<void>
  readonly painting: Painting | undefined
  /** The first, decoded. Undefined until then. */
  readonly bitmap: ImageBitmap | undefined
}

export function useInputImages(model: ImageModel): InputImages {
  const [images, setImages] = useState<readonly InputImage[]>([])
  const [first] = images
  const painting = useMemo(() => first && new Painting(first.size), [first])
  const present = useRef(images)
  useEffect(() => {
    present.current = images
  }, [images])
  const replacing = useAbort()
  return {
    images,
    painting,
    bitmap: useBitmap(first),
    async add(files) {
      const taken = takenFiles(files, present.current.length, model)
      const added = (await Promise.all(taken.map(readImage))).filter((image) => image !== undefined)
      setImages((before) => [...before, ...added])
    },
    remove: (image) => setImages((before) => before.filter((one) => one !== image)),
    async replace(file) {
      const signal = replacing.next()
      const image = await readImage(file)
      if (!signal.aborted && image !== undefined) setImages([image])
    },
  }
}

function useBitmap(image: InputImage | undefined): ImageBitmap | undefined {
  const [decoded, setDecoded] = useState<{ readonly of: InputImage; readonly bitmap: ImageBitmap }>()
  useEffect(() => {
    if (image === undefined) return
    let isOver = false
    let made: ImageBitmap | undefined
    uprightBitmap(image.file).then(
      (bitmap) => {
        made = bitmap
        if (isOver) bitmap.close()
        else setDecoded({ of: image, bitmap })
      },
      () => toast(words.images.unreadable(image.file.name), { mark: 'bad' }),
    )
    return () => {
      isOver = true
      made?.close()
    }
  }, [image])
  return decoded?.of === image ? decoded?.bitmap : undefined
}

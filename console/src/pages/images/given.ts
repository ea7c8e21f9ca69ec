/** The pictures of an edit, and the painting of the first: it stays until another picture is the first. */
import { useEffect, useMemo, useRef, useState } from 'react'
import { readPicture, takenFiles, uprightBitmap, type GivenPicture } from './given-pictures.tsx'
import { Painting } from './painter/painting.ts'
import type { ImageModel } from './settings.ts'

export interface Given {
  readonly pictures: readonly GivenPicture[]
  readonly add: (files: readonly File[]) => Promise<void>
  readonly remove: (picture: GivenPicture) => void
  /** Only this one. */
  readonly only: (file: File) => Promise<void>
  readonly painting: Painting | undefined
  /** The first, decoded. Undefined while that takes. */
  readonly bitmap: ImageBitmap | undefined
}

export function useGiven(model: ImageModel): Given {
  const [pictures, setPictures] = useState<readonly GivenPicture[]>([])
  const [first] = pictures
  const painting = useMemo(() => first && new Painting(first.size), [first])
  const present = useRef(pictures)
  useEffect(() => {
    present.current = pictures
  }, [pictures])
  useEffect(() => () => present.current.forEach(({ url }) => URL.revokeObjectURL(url)), [])
  const read = async (files: readonly File[]): Promise<GivenPicture[]> =>
    (await Promise.all(files.map(readPicture))).filter((picture) => picture !== undefined)
  return {
    pictures,
    painting,
    bitmap: useBitmap(first),
    async add(files) {
      const added = await read(takenFiles(files, present.current.length, model))
      setPictures((before) => [...before, ...added])
    },
    remove(picture) {
      URL.revokeObjectURL(picture.url)
      setPictures((before) => before.filter((one) => one !== picture))
    },
    async only(file) {
      const chosen = await read([file])
      for (const { url } of present.current) URL.revokeObjectURL(url)
      setPictures(chosen)
    },
  }
}

function useBitmap(picture: GivenPicture | undefined): ImageBitmap | undefined {
  const [decoded, setDecoded] = useState<{ readonly of: GivenPicture; readonly bitmap: ImageBitmap }>()
  useEffect(() => {
    if (picture === undefined) return
    let isWanted = true
    let made: ImageBitmap | undefined
    void uprightBitmap(picture.file).then((bitmap) => {
      made = bitmap
      if (isWanted) setDecoded({ of: picture, bitmap })
      else bitmap.close()
    })
    return () => {
      isWanted = false
      made?.close()
    }
  }, [picture])
  return decoded?.of === picture ? decoded?.bitmap : undefined
}

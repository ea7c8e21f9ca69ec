/** What was entered: lines of texts, the media that they name, and both kept in this browser. */
import { useEffect, useMemo, useState } from 'react'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { inputOfLine, joinedAt, linesOf, withMedia } from './content-lines.ts'
import { forgetTexts, keepTexts, keptTexts } from './kept-texts.ts'
import { mediaOfUrl, readMedia, useMediaStore, type MediaFile } from './media-store.ts'
import { SAMPLE_TEXTS } from './samples.ts'
import { typedTexts, type TypedTexts } from './texts.ts'

const KEPT_AFTER_MS = 400

export interface Inputs {
  /** Undefined until the browser has answered what it kept. */
  readonly value: string | undefined
  readonly typed: TypedTexts
  readonly files: ReadonlyMap<string, MediaFile>
  readonly change: (value: string) => void
  /** `line`: of the input that they become parts of; otherwise each is an input of its own. */
  readonly attach: (files: readonly File[], line?: number) => void
  readonly attachUrl: (url: string) => void
  readonly forget: () => void
}

export function useInputs(): Inputs {
  const [value, setValue] = useState<string>()
  const [kept, setKept] = useState<ReadonlySet<string>>()
  const [isTouched, setTouched] = useState(false)
  const store = useMediaStore(kept)
  const typed = useMemo(() => typedTexts(value ?? ''), [value])
  useEffect(() => {
    void keptTexts().then((found) => {
      setKept(new Set(linesOf(found ?? '').flatMap((line) => inputOfLine(line).media.map(({ id }) => id))))
      setValue((now) => now ?? found ?? SAMPLE_TEXTS.tickets)
    })
  }, [])
  useEffect(() => {
    if (!isTouched || value === undefined) return
    const timer = setTimeout(() => void keepTexts(value), KEPT_AFTER_MS)
    return () => clearTimeout(timer)
  }, [value, isTouched])
  const add = (media: readonly MediaFile[], line?: number): void => {
    store.keep(media)
    setTouched(true)
    setValue((now = '') => (line === undefined ? withMedia(now, media) : joinedAt(now, line, media)))
  }
  const attach = async (files: readonly File[], line?: number): Promise<void> => {
    try {
      add(await Promise.all(files.map(readMedia)), line)
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), { mark: 'bad' })
    }
  }
  return {
    value,
    typed,
    files: store.files,
    change(next) {
      setTouched(true)
      setValue(next)
    },
    attach: (files, line) => void attach(files, line),
    attachUrl: (url) => add([mediaOfUrl(url)]),
    forget() {
      setTouched(false)
      setValue('')
      store.forget()
      void forgetTexts().then(() => toast(words.embeddings.forgot))
    },
  }
}

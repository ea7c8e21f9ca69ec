/**
 * Words in the language of the console. A page loads with its English words; a translation is loaded before the rest of the
 * console, so that every module, also a table of columns, may read `words` when it is first run.
 */
import { withFallback, type Partly } from './fallback.ts'

type Translation = Readonly<Record<string, object>>

let translation: Translation | undefined

export function setTranslation(next: Translation): void {
  translation = next
}

/** `name` is that of the export: translations name theirs alike. */
export function inLanguage<English extends object>(name: string, english: English): English {
  const own = translation?.[name]
  return own === undefined ? english : withFallback(own as Partly<English>, english)
}

/**
 * The sentences of the console. English is part of the first load, Chinese is loaded before the rest of the console is, so
 * that every module, also a table of columns, may read `words` when it is first run.
 */
import type { Language } from '../app/language.ts'
import { en, type Words } from './en.ts'
import { withFallback } from './fallback.ts'

export let words: Words = en

export async function loadWords(language: Language): Promise<void> {
  if (language === 'zh') words = withFallback((await import('./zh.ts')).zh, en)
}

/**
 * Words in the language of the console. A page loads with its English words; Chinese is loaded before the rest of the console,
 * so that every module, also a table of columns, may read `words` when it is first run.
 */
import type { Language } from '../app/language.ts'
import { withFallback, type Partly } from './fallback.ts'

type Chinese = typeof import('./zh.ts')

let chinese: Chinese | undefined

export async function loadWords(language: Language): Promise<void> {
  if (language === 'zh') chinese = await import('./zh.ts')
}

export function inLanguage<English extends object>(name: keyof Chinese, english: English): English {
  return chinese === undefined ? english : withFallback(chinese[name] as Partly<English>, english)
}

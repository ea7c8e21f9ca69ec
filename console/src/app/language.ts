/** The language of this browser's console. Changing it loads the page anew, so that nothing has to listen for it. */
import { remember, remembered } from './stored.ts'

export const LANGUAGES = { en: 'English', zh: '中文' } as const
export type Language = keyof typeof LANGUAGES

export const language: Language = chosen()

/** As `Intl` wants it. Numbers of English are grouped by commas. */
export const locale = language === 'zh' ? 'zh-CN' : 'en-US'

/**
 * WebKit on Linux gives the system's `C` as its language. `Intl` throws on it, and libraries ask `Intl` for it.
 * Where the browser's language is no language tag, the console's stands in for it.
 */
export function repairBrowserLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language)
  } catch {
    Object.defineProperty(navigator, 'language', { value: locale, configurable: true })
  }
}

export function chooseLanguage(next: Language): void {
  if (next === language) return
  remember('language', next)
  location.reload()
}

function chosen(): Language {
  const kept = remembered('language')
  if (kept === 'en' || kept === 'zh') return kept
  return globalThis.navigator?.language?.toLowerCase().startsWith('zh') && globalThis.document !== undefined
    ? 'zh'
    : 'en'
}

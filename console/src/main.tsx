/** Loads the language first, because every other module may read its words when it is first run. */
import './app/styles.css'
import { createRoot } from 'react-dom/client'
import { language, repairBrowserLanguage } from './app/language.ts'
import { watchSystemTheme } from './app/theme.ts'
import { setTranslation } from './words/in-language.ts'

document.documentElement.lang = language
watchSystemTheme()
repairBrowserLanguage()
if (language === 'zh') setTranslation(await import('./words/zh.ts'))
const { App } = await import('./app/app.tsx')
const { router } = await import('./app/routes.tsx')
// React clears the first frame when it draws: it does so when the page is there, not while it loads.
await router.load()
const place = document.querySelector('#app')
if (place === null) throw new Error('index.html has no place for the console')
createRoot(place).render(<App />)

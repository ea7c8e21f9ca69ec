// Before the first paint: the theme and the language that this browser chose. Kept apart from the page, because the
// content security policy allows no inline script.
;(() => {
  let theme = null
  let language = null
  try {
    theme = localStorage.getItem('torana.theme')
    language = localStorage.getItem('torana.language')
  } catch {
    // Storage is closed to us: the system's theme it is.
  }
  const isDark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
  document.documentElement.lang =
    language ?? (navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en')
})()
